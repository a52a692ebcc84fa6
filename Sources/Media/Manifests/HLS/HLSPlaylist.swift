package import InstrumentHTTP

/// A playlist of HTTP Live Streaming (RFC 8216; draft-pantos-hls-rfc8216bis).
package enum HLSPlaylist: Hashable, Sendable {
    /// A playlist that lists variants and renditions.
    case multivariant(HLSMultivariantPlaylist)
    /// A playlist that lists segments.
    case media(HLSMediaPlaylist)

    /// Reads a playlist of either kind.
    /// - Parameters:
    ///   - bytes: the whole playlist.
    ///   - url: the address after redirects.
    ///   - definitions: the variables of the multivariant playlist that a media playlist may import.
    ///   - limits: the limits of its size.
    /// - Throws: ``ManifestError`` with the line.
    package init(
        parsing bytes: [UInt8],
        at url: HTTPURL,
        definitions: VariableDefinitions = [:],
        limits: ManifestLimits = ManifestLimits()
    ) throws(ManifestError) {
        do {
            try Self.check(bytes, limits)
            if try Self.isMultivariant(bytes, limits) {
                var parser = MultivariantParser(url, definitions.values, limits)
                self = .multivariant(try parser.parse(bytes))
            } else {
                var parser = MediaPlaylistParser(url, definitions.values, limits)
                self = .media(try parser.parse(bytes))
            }
        } catch {
            throw error.at(url)
        }
    }

    private static func check(_ bytes: [UInt8], _ limits: ManifestLimits) throws(ManifestError) {
        guard bytes.count <= limits.bytes else {
            throw ManifestError(.limitExceeded, "the playlist must have at most \(limits.bytes) bytes")
        }
        let content = ManifestContent(bytes)
        if case .addressList = content {
            let message =
                "the address must have an HLS playlist (found \(content)); give the address of one of its streams"
            throw ManifestError(.notAManifest, message)
        }
        var lines = PlaylistLines(bytes, limits: limits)
        guard let first = lines.next(), first.number == 1, first.text == "#EXTM3U" || first.text.hasPrefix("#EXTM3U ")
        else {
            throw ManifestError(
                .notAManifest,
                "the first line of an HLS playlist must be #EXTM3U (found \(content)); check the server's answer",
                line: 1
            )
        }
    }

    /// Determines the kind by the tags that only one kind may have; a playlist with both is invalid (RFC 8216 section
    /// 4.1).
    private static func isMultivariant(_ bytes: [UInt8], _ limits: ManifestLimits) throws(ManifestError) -> Bool {
        var lines = PlaylistLines(bytes, limits: limits)
        var (multivariant, media): (Int?, Int?)
        while let line = lines.nextBytes() {
            guard line.first == UInt8(ascii: "#") else { continue }
            let tag = line.prefix { $0 != UInt8(ascii: ":") }
            if media == nil, mediaTags.contains(where: { $0[...] == tag }) {
                media = lines.number
            } else if multivariant == nil, multivariantTags.contains(where: { $0[...] == tag }) {
                multivariant = lines.number
            }
        }
        if let line = lines.overlong {
            throw ManifestError(.limitExceeded, "a line must have at most \(limits.lineBytes) bytes", line: line)
        }
        if let multivariant, let media {
            let message = "tags of a multivariant and of a media playlist are mixed; it has to be one of them"
            throw ManifestError(.malformed, message, line: max(multivariant, media))
        }
        if multivariant == nil, media == nil {
            let tags = MiswrittenTags(bytes)
            guard let tag = tags.first ?? tags.misspelled?.place else {
                throw ManifestError(.malformed, "the playlist must list variants or segments (found none)")
            }
            let message = "the playlist must list variants or segments (found the tag `\(tag.name)`, which is ignored)"
            throw ManifestError(.malformed, message, line: tag.line)
        }
        return multivariant != nil
    }

    private static let multivariantTags = [
        "#EXT-X-STREAM-INF", "#EXT-X-MEDIA", "#EXT-X-I-FRAME-STREAM-INF", "#EXT-X-SESSION-DATA", "#EXT-X-SESSION-KEY",
        "#EXT-X-CONTENT-STEERING",
    ].map { Array($0.utf8) }
    private static let mediaTags = [
        "#EXTINF", "#EXT-X-TARGETDURATION", "#EXT-X-MEDIA-SEQUENCE", "#EXT-X-ENDLIST", "#EXT-X-PLAYLIST-TYPE",
        "#EXT-X-DISCONTINUITY-SEQUENCE", "#EXT-X-I-FRAMES-ONLY",
    ].map { Array($0.utf8) }
}
