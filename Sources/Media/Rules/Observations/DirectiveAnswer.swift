package import InstrumentHTTP
package import InstrumentManifests

/// The answer of a server to a delivery directive of a low-latency playlist (RFC 8216bis section 6.2.5).
package struct DirectiveAnswer: Sendable {
    /// What was asked for.
    package enum Directive: Hashable, Sendable {
        /// `_HLS_msn`: the playlist once it has the segment with this number.
        case block(sequence: Int64)
        /// `_HLS_skip`: the playlist without its older segments.
        case skip
    }

    /// What was asked for.
    package var directive: Directive
    /// The rendition as the presentation names it.
    package var rendition: String
    /// The address of the playlist, without the directive.
    package var url: HTTPURL
    /// The playlist that came.
    package var playlist: HLSMediaPlaylist

    /// Reads the answer of a server; nil for a body that is no media playlist.
    package init?(
        _ directive: Directive,
        rendition: String,
        url: HTTPURL,
        body: [UInt8],
        definitions: VariableDefinitions = [:]
    ) {
        let playlist = try? HLSPlaylist(parsing: body, at: url, definitions: definitions)
        guard case .media(let playlist) = playlist else { return nil }
        (self.directive, self.rendition, self.url, self.playlist) = (directive, rendition, url, playlist)
    }
}
