internal import Instrument
internal import InstrumentManifests

// Segments that come too slowly to wait for.
extension StreamLoader {
    /// Not before there is something to go by (dash.js, `AbandonRequestsRule`: 500 ms of grace), then now and then.
    private static let grace: Duration = .milliseconds(500)
    private static let pause: Duration = .milliseconds(250)

    /// A segment of the picture has set out.
    mutating func watch(_ fetching: Fetching) {
        guard fetching.purpose == .segment(.main), (ladder?.count ?? 0) > 1 else { return }
        reconsiderAt = fetching.begun.advanced(by: Self.grace)
    }

    /// Asks the rule whether to give up the segment that is on its way for one that is smaller.
    mutating func reconsider(_ session: inout PlaybackSession, now: MonotonicInstant) {
        guard let due = reconsiderAt, due <= now else { return }
        reconsiderAt = nil
        guard let fetching = fetching(.segment(.main)), let ladder, let track = tracks[.main], let plan = track.plan,
            let segment = plan.segment
        else { return }
        reconsiderAt = now.advanced(by: Self.pause)
        let download = download(of: segment, plan.rung, fetching, now: now)
        var context = context(ladder, track, session, now: now)
        context.currentRung = plan.rung
        guard let wish = rule.abandonment(of: download, in: context).map(ladder.clamped), wish < plan.rung,
            let variant = variant(at: wish)
        else { return }
        cancel(.main, &session)
        reconsiderAt = nil
        rule.observe(.abandoned(download, for: wish), in: context)
        tracks[.main]?.plan = StreamTrack.Plan(rung: wish, rendition: variant.main)
    }

    private func download(
        of segment: MediaSegment,
        _ rung: Int,
        _ fetching: Fetching,
        now: MonotonicInstant
    ) -> SegmentDownload {
        let arrivals = fetching.buffer.arrivals
        return SegmentDownload(
            rung: rung,
            duration: .nanoseconds(segment.duration),
            receivedBytes: Int64(arrivals.count),
            totalBytes: segment.byteRange?.length,
            elapsed: fetching.begun.duration(to: now),
            timeToFirstByte: arrivals.first.map { fetching.begun.duration(to: $0) }
        )
    }
}
