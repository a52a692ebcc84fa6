public import Instrument
public import InstrumentHTTP

extension Presentation {
    /// Reads a manifest of either format: an HLS playlist (multivariant or media) or an MPD.
    /// - Parameters:
    ///   - bytes: the whole manifest.
    ///   - url: the address after redirects, which is the base of its references.
    ///   - requestedURL: the requested address, which shows whether a redirect left https.
    ///   - now: the calendar time of arrival; a live MPD counts its segments from it.
    ///   - clockOffset: the nanoseconds by which the server's clock is ahead of `now`, as one of the ``clockSources``
    ///     of an earlier load told. An MPD that tells the time itself needs none.
    ///   - limits: the limits of its size.
    /// - Throws: ``ManifestError``, which says what to do and contains no secrets.
    public init(
        parsing bytes: [UInt8],
        at url: HTTPURL,
        requestedAs requestedURL: HTTPURL? = nil,
        now: WallTime,
        clockOffset: Int64 = 0,
        limits: ManifestLimits = ManifestLimits()
    ) throws(ManifestError) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        if start.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") {
            self = try DASHManifest(parsing: bytes, at: url, limits: limits).presentation(
                now: now,
                clockOffset: clockOffset
            )
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
