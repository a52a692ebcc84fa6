package import Instrument
package import InstrumentHTTP

extension Presentation {
    /// Whether the presentation is of an MPD that patches can bring up to date (``LiveRules/patch``).
    package var acceptsPatches: Bool { document != nil }

    /// Returns the presentation of the MPD that a patch makes of this one's (ISO/IEC 23009-1, 5th edition, 5.15).
    ///
    /// The operations are those of RFC 5261 with paths of elements, positions and attributes as selectors. Each has to
    /// select one node; otherwise nothing is changed. Does not block; the time is limited by
    /// `ManifestLimits.patchSteps`.
    ///
    /// - Parameters:
    ///   - bytes: the patch; empty (status 204) if the MPD is up to date.
    ///   - url: the patch's address after redirects, for errors. The base of references remains the MPD's address.
    ///   - now: the calendar time of arrival.
    ///   - clockOffset: as for ``init(parsing:at:requestedAs:now:clockOffset:limits:)``.
    /// - Throws: ``ManifestError``: the patch belongs to another MPD, is malformed, or exceeds a limit. Load the whole
    ///   MPD instead.
    package func patched(
        by bytes: [UInt8],
        at url: HTTPURL,
        now: WallTime,
        clockOffset: Int64 = 0
    ) throws(ManifestError) -> Presentation {
        guard let document else {
            throw ManifestError(.unsupported, "the manifest names no patches; load the whole manifest", url: url)
        }
        do {
            let patched = bytes.isEmpty ? document : try document.applying(patch(bytes, url, document.limits))
            return try patched.presentation(now: now, clockOffset: clockOffset)
        } catch {
            throw error.at(url)
        }
    }

    private func patch(_ bytes: [UInt8], _ url: HTTPURL, _ limits: ManifestLimits) throws(ManifestError) -> MPDPatch {
        try MPDPatch(parsing: bytes, at: url, limits: limits)
    }

    /// Forgets the MPD, which patches would change: it has the size of the manifest.
    package mutating func forgetDocument() {
        document = nil
        live?.patch = nil
    }
}
