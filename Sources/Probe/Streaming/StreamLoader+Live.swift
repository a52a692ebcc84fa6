internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// What matters of a stream that goes on.
struct LiveState: Sendable {
    /// Between two attempts to reload what could not be reloaded.
    static let patience: Duration = .seconds(1)

    /// Whether it was decided where playback begins.
    var isPlaced = false
    /// When the MPD is to be fetched again.
    var updateAt: MonotonicInstant?
    /// What the latency is and should be.
    var context: AdaptationContext.Live?
    /// What stalls have added to the target.
    var addedLatency: Int64 = 0
    /// Whether it has been said that the playlist is late, since it last changed.
    var isLate = false
}

extension StreamLoader {
    /// How often playlists of streams that go on are asked for again, and whether they still go on.
    mutating func refresh(_ session: inout PlaybackSession, now: Timestamp) {
        guard presentation != nil else { return }
        if let update = live.updateAt, update <= now.instant, fetching(.manifest) == nil, let url = presentation?.url {
            live.updateAt = nil
            fetch(.manifest, url, now: now.instant)
        }
        for state in renditionsInUse where state.isLive {
            if let reload = state.reloadAt, reload <= now.instant { refetchPlaylist(of: state, now: now.instant) }
            checkFreshness(of: state, &session, now: now)
            if isOver { return }
        }
        followEdge(&session, now: now)
    }

    var renditionsInUse: [RenditionState] {
        StreamRole.allCases.compactMap { role in
            (tracks[role]?.plan?.rendition ?? tracks[role]?.rendition).flatMap { renditions[$0] }
        }
    }

    /// A new MPD: what is known stays, what was added is added.
    mutating func renew(_ renewed: Presentation, now: Timestamp) {
        for rendition in renewed.renditions {
            if renditions[rendition.id] == nil {
                renditions[rendition.id] = RenditionState(rendition, renewed, now: now)
            } else {
                renditions[rendition.id]?.renew(rendition, renewed, now: now)
            }
        }
        presentation?.kind = renewed.kind
        presentation?.duration = renewed.duration
        presentation?.live = renewed.live
        live.updateAt = renewed.live?.updatePeriod.map { now.instant.advanced(by: .nanoseconds(max($0, 500_000_000))) }
    }

    private mutating func checkFreshness(
        of state: RenditionState,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) {
        let target = state.index?.targetDuration ?? 0
        guard target > 0 else { return }
        let age = state.changedAt.duration(to: now.instant)
        let limit = Duration.nanoseconds(target)
        if let stale = profile.live.staleAfter?.duration(targetDuration: limit), stale > .zero, age > stale {
            let message = "the live playlist has not changed for \(age.milliseconds) ms; is it still on air?"
            return give(up: ProbeError(.stalePlaylist, .playlist, source, message), &session, now: now.instant)
        }
        // RFC 8216 section 6.2.2: a new one has to come within 1.5 target durations.
        let isLate = age > limit * 3 / 2
        if isLate, !live.isLate {
            let message = "the live playlist has not changed for \(age.milliseconds) ms, the target duration is \(limit.milliseconds)"
            warn(.latePlaylist, message, state.address, &session, now: now.instant)
        }
        live.isLate = isLate
    }

    /// Where playback begins: where the person wants to, else where the stream says, live near the edge.
    func startPosition(
        _ index: SegmentIndex,
        _ state: RenditionState,
        _ session: PlaybackSession,
        now: Timestamp
    ) -> Int64 {
        let (first, end) = (index.first?.start ?? 0, index.end)
        if let wish = session.pendingSeek { return min(max(wish, first), max(first, end)) }
        if let offset = presentation?.startOffset, !state.isLive || profile.live.followsStream {
            let wish = offset.offset >= 0 ? first.saturatingAdd(offset.offset) : end.saturatingAdd(offset.offset)
            return min(max(wish, first), max(first, end))
        }
        guard state.isLive else { return first }
        return max(first, end.saturatingSubtract(targetLatency(state)))
    }

    /// How far behind the edge playback should be.
    func targetLatency(_ state: RenditionState) -> Int64 {
        let target = Duration.nanoseconds(state.index?.targetDuration ?? 0)
        let wish = profile.live.targetLatency.duration(targetDuration: target).nanoseconds
        let said = profile.live.followsStream ? state.targetLatency ?? presentation?.live?.targetLatency : nil
        return (said ?? wish).saturatingAdd(live.addedLatency)
    }

    /// Measures the latency, catches up, and jumps ahead when too much is missing.
    private mutating func followEdge(_ session: inout PlaybackSession, now: Timestamp) {
        guard let role = tracks[.main], let id = role.plan?.rendition ?? role.rendition, let state = renditions[id],
            state.isLive, let index = state.index, let model = session.model, live.isPlaced
        else { return }
        let edge = index.end.saturatingAdd(state.changedAt.duration(to: now.instant).nanoseconds)
        let latency = max(0, edge.saturatingSubtract(model.position(at: now.instant)))
        let target = targetLatency(state)
        live.context = AdaptationContext.Live(latency: .nanoseconds(latency), target: .nanoseconds(target))
        session.learn(latency: .nanoseconds(latency))
        let unit = Duration.nanoseconds(index.targetDuration)
        if let most = profile.live.maximumLatency?.duration(targetDuration: unit), .nanoseconds(latency) > most,
            model.hasStarted, !model.isPaused
        {
            return jump(to: max(index.first?.start ?? 0, index.end.saturatingSubtract(target)), &session, now: now)
        }
        let rate = profile.live.playbackRate(
            latency: .nanoseconds(latency),
            target: .nanoseconds(target),
            bufferLevel: .nanoseconds(model.level(at: now.instant)),
            current: session.catchUpRate
        )
        session.catchUp(at: rate, now: now.instant)
    }

    /// What the track would have gone on with is gone: playback goes on at what is left, once all has been played.
    mutating func jump(
        over first: MediaSegment,
        _ role: StreamRole,
        _ index: SegmentIndex,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) -> Bool {
        guard let model = session.model else {
            tracks[role]?.cursor = .time(first.start)
            return true
        }
        // Until the buffer is empty there is nothing to jump for.
        guard model.level(at: now.instant) <= 0 || model.isWaiting else { return false }
        warn(.expiredSegments, "segments went out of the live window before they were fetched", nil as String?, &session, now: now.instant)
        let target = renditions[tracks[role]?.plan?.rendition ?? tracks[role]?.rendition ?? first.fallbackID]
            .map { max(first.start, index.end.saturatingSubtract(targetLatency($0))) } ?? first.start
        jump(to: target, &session, now: now)
        return false
    }

    private mutating func jump(to position: Int64, _ session: inout PlaybackSession, now: Timestamp) {
        session.seek(to: position, now: now.instant)
        if let target = session.takePendingSeek() { seek(to: target, &session, now: now) }
    }
}
