public import Instrument
public import InstrumentHTTP

extension Presentation {
    /// Reads a manifest of either format: an HLS playlist (multivariant or media) or an MPD.
    /// - Parameters:
    ///   - bytes: all of it.
    ///   - url: where it finally came from, after redirects; the base of its references.
    ///   - requestedURL: what was asked for, to notice when a redirect gave up https.
    ///   - now: the calendar time at which it came; a live MPD counts its segments from it.
    ///   - limits: how large it may be.
    /// - Throws: ``ManifestError``, which says what to do and holds no secrets.
    public init(
        parsing bytes: [UInt8],
        at url: HTTPURL,
        requestedAs requestedURL: HTTPURL? = nil,
        now: WallTime,
        limits: ManifestLimits = ManifestLimits()
    ) throws(ManifestError) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        if start.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") {
            self = try DASHManifest(parsing: bytes, at: url, limits: limits).presentation(now: now)
        } else {
            switch try HLSPlaylist(parsing: bytes, at: url, limits: limits) {
            case .multivariant(let playlist): self.init(playlist)
            case .media(let playlist): self.init(playlist)
            }
        }
        if let requestedURL, requestedURL.isSecure, !url.isSecure {
            notices.append(ManifestNotice(.downgraded, "the manifest was requested over https and redirected to http"))
        }
    }
}
