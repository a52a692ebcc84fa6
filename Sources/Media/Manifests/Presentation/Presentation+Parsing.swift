package import Instrument
package import InstrumentHTTP
internal import InstrumentXML

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
    package init(
        parsing bytes: [UInt8],
        at url: HTTPURL,
        requestedAs requestedURL: HTTPURL? = nil,
        now: WallTime,
        clockOffset: Int64 = 0,
        limits: ManifestLimits = ManifestLimits()
    ) throws(ManifestError) {
        try self.init(
            parsing: bytes,
            at: url,
            requestedAs: requestedURL,
            remote: RemoteElements(),
            now: now,
            clockOffset: clockOffset,
            limits: limits
        )
    }

    /// Reads a manifest whose remote elements were loaded; see ``missingElements``.
    package init(
        parsing bytes: [UInt8],
        at url: HTTPURL,
        requestedAs requestedURL: HTTPURL? = nil,
        remote: RemoteElements,
        now: WallTime,
        clockOffset: Int64 = 0,
        limits: ManifestLimits = ManifestLimits()
    ) throws(ManifestError) {
        switch ManifestContent(bytes) {
        case .page:
            let message = "the address must have a playlist or a manifest (found \(ManifestContent.page)); "
            throw ManifestError(.notAManifest, message + "check the address, and whether it requires a login", url: url)
        case .mpd, .markup:
            self = try DASHManifest(parsing: bytes, at: url, remote: remote, limits: limits).presentation(
                now: now,
                clockOffset: clockOffset
            )
        default:
            switch try HLSPlaylist(parsing: bytes, at: url, limits: limits) {
            case .multivariant(let playlist): self.init(playlist)
            case .media(let playlist): self.init(playlist)
            }
        }
        if let requestedURL, requestedURL.isSecure, !url.isSecure {
            notices.append(ManifestNotice(.redirectedToHTTP))
        }
    }
}
