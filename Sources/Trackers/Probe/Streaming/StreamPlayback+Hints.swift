internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

// Parts and initialization sections that a low-latency playlist hints at.
extension StreamPlayback {
    /// Requests what the playlist hints at, if it is what a waiting track needs next; drops hints that are outdated.
    mutating func preload(_ role: StreamRole, in timeline: RenditionTimeline, _ now: Timestamp) {
        let part = timeline.hintedPart.flatMap { tracks[role]?.awaits($0, in: timeline) == true ? $0 : nil }
        let section = part.flatMap { _ in timeline.initializationHint }
        // The section first, because the part needs it.
        preload(section, .hint(.initialization, role), now)
        preload(part.map { PreloadHint(url: $0.url, byteRange: $0.byteRange) }, .hint(.part, role), now)
    }

    /// Requests the second segment of a rendition with the first one, if it is there.
    mutating func requestSecond(
        after segment: MediaSegment,
        _ role: StreamRole,
        in timeline: RenditionTimeline,
        at time: WallTime,
        _ now: Timestamp
    ) {
        guard let track = tracks[role], let plan = track.plan, track.rendition != plan.rendition,
            let second = timeline.segment(after: segment.sequence, at: time), !second.isGap
        else { return }
        preload(PreloadHint(url: second.url, byteRange: second.byteRange), .hint(.part, role), now)
    }

    private mutating func preload(_ hint: PreloadHint?, _ purpose: FetchPurpose, _ now: Timestamp) {
        if hints.isOutdated(purpose, by: hint) { withdraw(purpose, now) }
        guard let hint, hints.wants(hint, purpose) else { return }
        hints.begin(hint, purpose)
        apply(.fetch(purpose, hint.url, hint.byteRange), now)
    }

    /// Requests a resource of a track, or uses the request that a hint has caused.
    ///
    /// - Returns: whether the resource is there already, so that the track can take another step.
    mutating func request(_ purpose: FetchPurpose, _ url: HTTPURL, _ range: ByteRange?, _ now: Timestamp) -> Bool {
        guard let hinted = purpose.hint else {
            apply(.fetch(purpose, url, range), now)
            return false
        }
        switch hints.take(url, range, hinted) {
        case .requested:
            guard let fetching = fetches.promote(hinted, to: purpose, now: now.instant) else { break }
            watch(fetching, since: now.instant)
            return false
        case .arrived(let response, let fetching):
            arrived(response, fetching.promoted(to: purpose, at: now.instant), now)
            return purpose.role.map { !fetches.isBusy($0) } ?? true
        // The playlist lists another resource than it hinted at.
        case nil: withdraw(hinted, now)
        }
        apply(.fetch(purpose, url, range), now)
        return false
    }

    private mutating func withdraw(_ purpose: FetchPurpose, _ now: Timestamp) {
        guard hints.isPending(purpose) else { return }
        hints.drop(purpose)
        guard let fetching = fetches.fetching(purpose) else { return }
        fetches.cancel(fetching.number)
        session.count(fetching.ended(at: now.instant, hasFailed: false), at: now.instant)
    }

    /// The resource is requested in the usual way once a playlist lists it.
    mutating func hintFailed(_ failure: ResourceFailure, _ fetching: Fetching, _ now: Timestamp) {
        hints.drop(fetching.purpose)
        let message = "a resource that the playlist hints at cannot be fetched: \(failure.message)"
        apply(.warned(StreamWarning(.preloadHint, message, fetching.request.url)), now)
    }
}
