internal import Instrument
internal import InstrumentManifests

/// Decides where playback starts, and keeps a live playback near its target latency: by playback rate, and by jumps.
struct LivePositioning: Sendable {
    private var policy: LivePolicy
    private let declaredStart: DeclaredStart
    /// Whether the start position is decided.
    private(set) var isPlaced = false
    /// The latency and its target, for adaptation rules; nil before both are known.
    private(set) var context: AdaptationContext.Live?
    /// The sum of the increases of all stalls, before the policy's maximum.
    private var addedLatency: Int64 = 0
    private var knownStallCount = 0
    /// The target and the rate of a player whose target moves.
    private var control: LiveSpeedControl?

    init(_ policy: LivePolicy, declaredStart: DeclaredStart = .used()) {
        (self.policy, self.declaredStart) = (policy, declaredStart)
        control = policy.movingTarget.map(LiveSpeedControl.init)
    }

    /// Continues with another policy.
    mutating func adopt(_ policy: LivePolicy) {
        if policy.movingTarget != self.policy.movingTarget { control = policy.movingTarget.map(LiveSpeedControl.init) }
        self.policy = policy
    }

    /// Decides where playback starts: at the viewer's choice, else at the start that the stream declares, else near the
    /// live edge.
    mutating func place(in state: RenditionState, offset: StartOffset?, _ view: PlaybackView) -> Int64 {
        isPlaced = true
        guard let timeline = state.timeline, let first = timeline.index.firstTimes?.start else { return 0 }
        // Without available media, playback waits for the first segment.
        let edge = max(first, timeline.liveEdge(at: view.now.wallTime) ?? first)
        if let choice = view.pendingSeek {
            // Of a recording, the segments of later periods may be unknown yet.
            return !state.isLive && !timeline.index.isComplete ? max(choice, first) : min(max(choice, first), edge)
        }
        if let offset, !state.isLive || policy.followsStream, case .used(let distance) = declaredStart,
            let position = timeline.startPosition(at: view.now.wallTime, offset: offset)
        {
            if state.isLive { return position }
            // Also at the end, a player loads the last segment: without it, there is nothing to show.
            return max(first, min(position, edge.saturatingSubtract(max(distance.nanoseconds, 1))))
        }
        return state.isLive ? livePosition(in: state, view.now.wallTime) : first
    }

    /// The target of the viewer's seek, limited to the playable media once that is known.
    func destination(of target: Int64, in state: RenditionState, _ view: PlaybackView) -> Int64 {
        guard isPlaced, let first = state.index?.first?.start else { return target }
        guard state.isLive else { return max(target, first) }
        return min(max(target, first), livePosition(in: state, view.now.wallTime))
    }

    /// Where playback continues when the segments before `first` have left the live window; nil if it ends.
    func destination(behind first: MediaSegment, in state: RenditionState, _ view: PlaybackView) -> Int64? {
        let target = max(first.start, livePosition(in: state, view.now.wallTime))
        switch policy.behindWindow {
        case .jumpsToTarget: return target
        case .jumpsToStart(let offset): return min(target, first.start.saturatingAdd(max(0, offset.nanoseconds)))
        case .ends: return nil
        }
    }

    /// Measures the latency, changes the playback rate, and jumps to the target when the latency exceeds the maximum.
    mutating func follow(_ state: RenditionState, _ view: PlaybackView) -> [StreamEffect] {
        guard isPlaced, state.isLive, let model = view.model else { return [] }
        let mayCatchUp = !policy.catchUpNeedsDeclaration || state.timeline?.asksForCatchUp == true
        let newStalls = learnStalls(mayCatchUp ? view.stallCount : 0)
        if control == nil { addLatency(for: newStalls, targetDuration: state.targetDuration) }
        // A rendition that was not played for a while knows an old edge until its playlist comes.
        guard !state.isOutdated(at: view.instant), let edge = edge(of: state, view) else { return [] }
        let latency = max(0, edge.saturatingSubtract(view.position))
        if mayCatchUp { moveTarget(after: newStalls, edge: edge, latency: latency, in: state, model, view) }
        let moved = mayCatchUp ? control.map { Duration(clampingSeconds: $0.target).nanoseconds } : nil
        let target = moved ?? targetLatency(in: state)
        context = AdaptationContext.Live(
            latency: .nanoseconds(latency),
            target: .nanoseconds(target),
            isLowLatency: state.isLowLatency
        )
        let clock = Self.clockPosition(in: state, view.now.wallTime) ?? edge
        let measured = StreamEffect.latencyMeasured(.nanoseconds(max(0, clock.saturatingSubtract(view.position))))
        if let maximum = policy.maximumLatency?.duration(targetDuration: state.targetDuration),
            .nanoseconds(latency) > maximum, model.hasStarted, !model.isPaused, !model.isSeeking
        {
            // A stream may ask for more latency than the profile or its window allows. Only a position ahead of the
            // playhead justifies a jump.
            let position = position(min(target, maximum.nanoseconds), behind: edge, in: state, view.now.wallTime)
            if position > view.position { return [measured, .jump(to: position)] }
        }
        guard mayCatchUp else { return [measured, .catchUp(rate: 1)] }
        if let control, let moving = policy.movingTarget {
            let enough = Duration(clampingSeconds: control.target * moving.sufficientShare)
            return [measured, .sufficientMedia(enough), .catchUp(rate: view.isAtNormalRate ? control.rate : 1)]
        }
        return [measured, .catchUp(rate: rate(latency: latency, target: target, in: state, model, view))]
    }

    /// The rate that the latency asks for.
    private func rate(
        latency: Int64,
        target: Int64,
        in state: RenditionState,
        _ model: PlaybackModel,
        _ view: PlaybackView
    ) -> Double {
        let service = state.timeline?.service
        var (latency, target) = (latency, target)
        if policy.serviceTarget == .startPosition {
            guard let wanted = service?.targetLatency else { return 1 }
            latency = livePosition(in: state, view.now.wallTime).saturatingSubtract(view.position)
            target = wanted
        }
        return policy.following(service).playbackRate(
            latency: .nanoseconds(latency),
            target: .nanoseconds(target),
            bufferLevel: .nanoseconds(model.level(at: view.instant))
        )
    }

    /// The target distance between playhead and live edge.
    func targetLatency(in state: RenditionState) -> Int64 {
        let declared = declaredLatency(in: state)
        let maximum = policy.maximumTargetIncrease?.duration(targetDuration: state.targetDuration).nanoseconds
        let increase = min(addedLatency, maximum ?? addedLatency)
        let target = (declared > 0 ? declared : preferredLatency(in: state)).saturatingAdd(increase)
        guard policy.followsStream, policy.serviceTarget == .timeOfDay else { return target }
        return state.timeline?.service.limited(target) ?? target
    }

    /// The latency that the stream declares and the player follows; 0 for none.
    private func declaredLatency(in state: RenditionState) -> Int64 {
        guard policy.followsStream, let timeline = state.timeline else { return 0 }
        let suggests = state.playlistURL == nil && policy.serviceTarget == .startPosition
        return (suggests ? timeline.suggestedDelay : timeline.declaredLatency) ?? 0
    }

    /// The policy's latency for streams that declare none.
    private func preferredLatency(in state: RenditionState) -> Int64 {
        let isDASH = state.playlistURL == nil
        let distance = isDASH ? policy.targetLatencyOfDASH ?? policy.targetLatency : policy.targetLatency
        let minimumBuffer = Duration.nanoseconds(state.timeline?.minimumBuffer ?? 0)
        return distance.duration(targetDuration: state.targetDuration, minimumBuffer: minimumBuffer).nanoseconds
    }

    /// The number of stalls since the last call, of `count` in all.
    private mutating func learnStalls(_ count: Int) -> Int {
        defer { knownStallCount = count }
        return max(0, count - knownStallCount)
    }

    private mutating func addLatency(for stalls: Int, targetDuration: Duration) {
        let increase = policy.targetIncreaseOnStall.duration(targetDuration: targetDuration).nanoseconds
        addedLatency = addedLatency.saturatingAdd(increase.saturatingMultiply(Int64(stalls)))
    }

    /// Lets the control of a player whose target moves see the playback; without effect for other players.
    private mutating func moveTarget(
        after newStalls: Int,
        edge: Int64,
        latency: Int64,
        in state: RenditionState,
        _ model: PlaybackModel,
        _ view: PlaybackView
    ) {
        guard var control else { return }
        defer { self.control = control }
        let service = policy.followsStream ? state.timeline?.service : nil
        let maximum = service?.maximumLatency.map { Duration.nanoseconds($0).seconds }
        let increase = policy.targetIncreaseOnStall.duration(targetDuration: state.targetDuration).seconds
        control.adopt(target: Duration.nanoseconds(targetLatency(in: state)).seconds)
        control.stalled(newStalls, increase: increase, maximum: maximum)
        // The player looks while it plays at the normal rate.
        guard view.playhead == .playing, view.isAtNormalRate,
            let limits = policy.following(service).limits(maximumTarget: maximum)
        else { return control.rest() }
        let emptyAt = Duration.nanoseconds(edge.saturatingSubtract(model.bufferedEnd)).seconds
        control.look(emptyAt: emptyAt, at: view.instant)
        control.update(latency: Duration.nanoseconds(latency).seconds, limits, at: view.instant)
    }

    /// The position at the target latency, where playback starts.
    private func livePosition(in state: RenditionState, _ now: WallTime) -> Int64 {
        guard let timeline = state.timeline, let first = timeline.index.firstTimes?.start else { return 0 }
        guard let available = timeline.liveEdge(at: now) else { return first }
        let target = targetLatency(in: state)
        guard let clock = Self.clockPosition(in: state, now) else {
            return max(first, available.saturatingSubtract(target))
        }
        if policy.edgeOfDASH == .newestSegment {
            let isListed = !state.expectsMedia(after: now)
            let behind = timeline.index.targetDuration.saturatingSubtract(timeline.earlyAvailability)
            let edge = isListed ? available : clock.saturatingSubtract(behind)
            return max(first, edge.saturatingSubtract(target))
        }
        let isByClock = state.expectsMedia(after: now) || declaredLatency(in: state) > 0
        return position(target, behind: isByClock ? clock : available, in: state, now)
    }

    /// The position `distance` behind the live edge, where media can be fetched.
    private func position(_ distance: Int64, behind edge: Int64, in state: RenditionState, _ now: WallTime) -> Int64 {
        guard let timeline = state.timeline, let first = timeline.index.firstTimes?.start else { return 0 }
        var position = edge.saturatingSubtract(distance)
        if Self.clockPosition(in: state, now) != nil, let available = timeline.liveEdge(at: now) {
            // An encoder may be late. As much as a segment is available at once.
            position = min(position, available.saturatingSubtract(min(distance, timeline.index.targetDuration)))
        }
        return max(first, position)
    }

    /// The live edge now, from which the target latency counts.
    ///
    /// HLS: the end of the available media, advanced by the time since the playlist changed. DASH: the time of day,
    /// from which `@suggestedPresentationDelay` and `Latency@target` count (ISO/IEC 23009-1 section 5.3.1.2, annex K);
    /// if the MPD lists its segments, no later than the media that is or becomes available allows.
    private func edge(of state: RenditionState, _ view: PlaybackView) -> Int64? {
        guard let timeline = state.timeline, let edge = timeline.liveEdge(at: view.now.wallTime) else { return nil }
        let clock = Self.clockPosition(in: state, view.now.wallTime)
        if let clock, state.expectsMedia(after: view.now.wallTime) { return clock }
        guard clock != nil || state.reloadAt != nil else { return edge }
        let age = timeline.lastChange.duration(to: view.instant).nanoseconds
        let step = timeline.openSegment == nil ? timeline.index.targetDuration : timeline.control.partTarget ?? 0
        let advanced = edge.saturatingAdd(min(max(0, age), step))
        guard let clock else { return advanced }
        guard declaredLatency(in: state) > 0 else { return min(clock, advanced) }
        return min(clock, advanced.saturatingAdd(max(0, targetLatency(in: state).saturatingSubtract(step))))
    }

    /// The position of the media that happens now; nil if the manifest declares no time of day for positions (HLS).
    private static func clockPosition(in state: RenditionState, _ now: WallTime) -> Int64? {
        state.playlistURL == nil ? state.timeline?.origin.map { now.nanoseconds(since: $0) } : nil
    }
}

extension LivePolicy {
    /// The limits of a rate that is proportional to the distance from the target; nil for another rate.
    fileprivate func limits(maximumTarget: Double?) -> LiveSpeedControl.Limits? {
        guard case .proportional(let factor, let minimum, let maximum, let tolerance) = catchUp else { return nil }
        return LiveSpeedControl.Limits(
            factor: factor,
            minimumRate: minimum,
            maximumRate: maximum,
            tolerance: tolerance.seconds,
            maximumTarget: maximumTarget
        )
    }

    /// Returns the policy with the rates that a stream declares in place of the profile's, as dash.js and ExoPlayer use
    /// them. A player that keeps the normal rate, or does not follow the stream, stays as it is.
    fileprivate func following(_ service: ServiceLimits?) -> LivePolicy {
        guard let service, followsStream else { return self }
        var policy = self
        switch catchUp {
        case .none: break
        case .proportional(let factor, let minimum, let maximum, let tolerance):
            policy.catchUp = .proportional(
                factor: factor,
                minimum: service.minimumRate ?? minimum,
                maximum: service.maximumRate ?? maximum,
                tolerance: tolerance
            )
        case .fixed(let minimum, let maximum, let tolerance):
            policy.catchUp = .fixed(
                minimum: service.minimumRate ?? minimum,
                maximum: service.maximumRate ?? maximum,
                tolerance: tolerance
            )
        case .sigmoid(let minimum, let maximum, let minimumBuffer):
            policy.catchUp = .sigmoid(
                minimum: service.minimumRate ?? minimum,
                maximum: service.maximumRate ?? maximum,
                minimumBuffer: minimumBuffer
            )
        }
        return policy
    }
}
