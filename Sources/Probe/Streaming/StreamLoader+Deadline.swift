internal import Instrument
internal import InstrumentManifests

extension StreamLoader {
    /// When there will be something to do if nothing else happens.
    func deadline(_ session: PlaybackSession, now: MonotonicInstant, wallTime: WallTime) -> MonotonicInstant? {
        if isOver { return nil }
        var next = fetches.values.map(\.tooLate)
        next += retries.values.map(\.notBefore).filter { $0 > now }
        if presentation != nil, let update = manifestDue { next.append(update) }
        next += renditionsInUse.filter(\.isLive).compactMap(playlistDue)
        if let check = reconsiderAt { next.append(check) }
        next += StreamRole.allCases.compactMap { deadline(of: $0, session, now: now, wallTime: wallTime) }
        guard let first = next.filter({ $0.nanoseconds < .max }).min() else { return nil }
        // What is due and was not done waits for something else: looking again at once would go on for ever.
        return first > now ? first : now.advanced(by: .milliseconds(10))
    }

    /// When a track has room again, or its segment is there to be fetched.
    private func deadline(
        of role: StreamRole,
        _ session: PlaybackSession,
        now: MonotonicInstant,
        wallTime: WallTime
    ) -> MonotonicInstant? {
        guard let track = tracks[role], !track.isAtEnd, !isBusy(role) else { return nil }
        if track.takesBreak { return now }
        if let plan = track.plan {
            guard let availability = plan.segment?.availability, availability > wallTime else { return nil }
            return now.advanced(by: .milliseconds(availability.milliseconds.saturatingSubtract(wallTime.milliseconds)))
        }
        guard let model = session.model else { return nil }
        // One nanosecond below, so that there is room indeed.
        return model.instant(ofPlaying: track.loadedEnd.saturatingSubtract(wanted(track)).saturatingAdd(1))
    }
}
