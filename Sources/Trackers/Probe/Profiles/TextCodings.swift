internal import InstrumentTransport

/// The content codings in which a player asks for playlists, MPDs, steering manifests and subtitles. It decodes what it
/// gets, asked for or not.
package struct TextCodings: Hashable, Sendable {
    private let codings: [ContentCoding]
    /// Whether the player asks for `br` over TLS only.
    private let needsTLSForBrotli: Bool

    private init(_ codings: [ContentCoding], needsTLSForBrotli: Bool = false) {
        (self.codings, self.needsTLSForBrotli) = (codings, needsTLSForBrotli)
    }

    /// `gzip`, `deflate` and `br`, as far as the transport has them (RFC 8216bis, appendix B.1, wants gzip at least).
    package static let all = TextCodings(ContentCoding.allCases)
    /// The request of a browser: over a plain connection, which proxies may damage, without `br`.
    package static let browser = TextCodings(ContentCoding.allCases, needsTLSForBrotli: true)
    /// `gzip` alone: ExoPlayer (`DataSpec.FLAG_ALLOW_GZIP` of `ParsingLoadable`); of AVPlayer, nothing is published.
    package static let gzip = TextCodings([.gzip])
    /// No coding: FFmpeg decodes gzip and deflate, and asks for neither (libavformat/http.c).
    package static let none = TextCodings([])

    func decoding(of url: HTTPURL) -> ContentDecoding {
        let isPlain = needsTLSForBrotli && !url.isSecure
        return .decoded(asking: codings.filter { !isPlain || $0 != .brotli })
    }
}
