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
    /// The renditions in use that go on, each since when, and whether it has been said that it is late.
    var watched: [Rendition.ID: Watch] = [:]

    /// Since when a playlist has been expected to change.
    struct Watch: Hashable, Sendable {
        var since: MonotonicInstant
        var isLate = false
    }
}

extension StreamLoader {
    /// How often playlists of streams that go on are asked for again, and whether they still go on.
    mutating func refresh(_ session: inout PlaybackSession, now: Timestamp) {
        guard presentation != nil else { return }
        if let update = manifestDue, update <= now.instant, let url = presentation?.live?.reloadURL ?? presentation?.url
        {
            live.updateAt = nil
            fetch(.manifest, url, now: now.instant)
        }
        let inUse = renditionsInUse
        live.watched = live.watched.filter { watched in inUse.contains { $0.rendition.id == watched.key } }
        for state in inUse where state.isLive {
            if let due = playlistDue(state), due <= now.instant { fetchPlaylist(of: state, now: now.instant) }
            checkFreshness(of: state, &session, now: now)
            if isOver { return }
        }
        followEdge(&session, now: now)
    }

    /// When the MPD is to be fetched again, or tried again.
    var manifestDue: MonotonicInstant? {
        fetching(.manifest) == nil ? retries[.manifest]?.notBefore ?? live.updateAt : nil
    }

    /// When a playlist is to be fetched again, or tried again.
    func playlistDue(_ state: RenditionState) -> MonotonicInstant? {
        let purpose = FetchPurpose.playlist(state.rendition.id)
        guard let reload = state.reloadAt, fetching(purpose) == nil else { return nil }
        return max(reload, retries[purpose]?.notBefore ?? reload)
    }

    var renditionsInUse: [RenditionState] {
        StreamRole.allCases.compactMap { role in
            (tracks[role]?.plan?.rendition ?? tracks[role]?.rendition).flatMap { renditions[$0] }
        }
    }

    private mutating func checkFreshness(
        of state: RenditionState,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) {
        let limit = state.targetDuration
        // What an MPD describes by a template needs no reload.
        guard limit > .zero, let changed = state.timeline?.lastChange, state.reloadAt != nil else { return }
        // Of one that was not in use before, nobody asked whether it had changed.
        var watch = live.watched[state.rendition.id] ?? LiveState.Watch(since: now.instant)
        let age = max(changed, watch.since).duration(to: now.instant)
        if let stale = profile.live.staleAfter?.duration(targetDuration: limit), stale > .zero, age > stale {
            let message = "the live playlist has not changed for \(age.milliseconds) ms; is it still on air?"
            return give(up: ProbeError(.stalePlaylist, .playlist, source, message), &session, now: now.instant)
        }
        // RFC 8216 section 6.2.2: a new one has to come within 1.5 target durations.
        let isLate = age > limit * 3 / 2
        if isLate, !watch.isLate {
            let message =
                "the live playlist has not changed for \(age.milliseconds) ms, the target duration is \(limit.milliseconds)"
            warn(.latePlaylist, message, state.playlistURL, &session, now: now.instant)
        }
        watch.isLate = isLate
        live.watched[state.rendition.id] = watch
    }

    /// Where playback begins: where the person wants to, else where the stream says, live near the edge.
    func startPosition(_ state: RenditionState, _ session: PlaybackSession, now: Timestamp) -> Int64 {
        guard let timeline = state.timeline, let first = timeline.index.first?.start else { return 0 }
        let edge = max(first, timeline.liveEdge(at: now.wallTime) ?? timeline.index.end)
        if let wish = session.pendingSeek { return min(max(wish, first), edge) }
        if let offset = presentation?.startOffset, !state.isLive || profile.live.followsStream,
            let position = timeline.startPosition(at: now.wallTime, offset: offset)
        {
            return position
        }
        guard state.isLive, timeline.kind == .live else { return first }
        return max(first, edge.saturatingSubtract(targetLatency(state)))
    }

    /// How far behind the edge playback should be.
    func targetLatency(_ state: RenditionState) -> Int64 {
        let wish = profile.live.targetLatency.duration(targetDuration: state.targetDuration).nanoseconds
        let said = profile.live.followsStream ? state.timeline?.targetLatency ?? 0 : 0
        return (said > 0 ? said : wish).saturatingAdd(live.addedLatency)
    }

    /// Where the live edge is: what can be fetched, and how time has gone on since it was listed.
    private func edge(of state: RenditionState, now: Timestamp) -> Int64? {
        guard let timeline = state.timeline, let edge = timeline.liveEdge(at: now.wallTime) else { return nil }
        guard state.reloadAt != nil else { return edge }
        let age = timeline.lastChange.duration(to: now.instant).nanoseconds
        return edge.saturatingAdd(min(max(0, age), timeline.index.targetDuration))
    }

    /// Measures the latency, catches up, and jumps ahead when too much is missing.
    private mutating func followEdge(_ session: inout PlaybackSession, now: Timestamp) {
        guard let role = tracks[.main], let id = role.plan?.rendition ?? role.rendition, let state = renditions[id],
            state.isLive, let index = state.index, let model = session.model, live.isPlaced,
            let edge = edge(of: state, now: now)
        else { return }
        let latency = max(0, edge.saturatingSubtract(model.position(at: now.instant)))
        let target = targetLatency(state)
        live.context = AdaptationContext.Live(latency: .nanoseconds(latency), target: .nanoseconds(target))
        session.learn(latency: .nanoseconds(latency))
        if let most = profile.live.maximumLatency?.duration(targetDuration: state.targetDuration),
            .nanoseconds(latency) > most,
            model.hasStarted, !model.isPaused, !model.isSeeking
        {
            // A stream may ask for more than the profile allows, or than its window has: only what brings it nearer is a jump.
            let wish = max(index.first?.start ?? 0, edge.saturatingSubtract(min(target, most.nanoseconds)))
            if wish > model.position(at: now.instant) { return jump(to: wish, &session, now: now) }
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
            // Playback has not begun: it begins at what is left.
            session.seek(to: first.start, now: now.instant)
            seek(to: first.start, &session, now: now)
            return false
        }
        // Until the buffer is empty there is nothing to jump for.
        guard model.level(at: now.instant) <= 0 || model.isWaiting else { return false }
        warn(
            .expiredSegments,
            "segments went out of the live window before they were fetched",
            nil as String?,
            &session,
            now: now.instant
        )
        let state = (tracks[role]?.plan?.rendition).flatMap { renditions[$0] }
        let edge = state.map { index.end.saturatingSubtract(targetLatency($0)) } ?? 0
        let target = max(first.start, edge)
        jump(to: target, &session, now: now)
        return false
    }

    private mutating func jump(to position: Int64, _ session: inout PlaybackSession, now: Timestamp) {
        session.seek(to: position, now: now.instant)
        if let target = session.takePendingSeek() { seek(to: target, &session, now: now) }
    }
}
