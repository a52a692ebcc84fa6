internal import Instrument
internal import InstrumentManifests

/// Decides where playback starts, and keeps a live playback near its target latency: by playback rate, and by jumps.
struct LivePositioning: Sendable {
    private let policy: LivePolicy
    /// Whether the start position is decided.
    private(set) var isPlaced = false
    /// The latency and its target, for adaptation rules; nil before both are known.
    private(set) var context: AdaptationContext.Live?
    /// The sum of the increases of all stalls, before the policy's maximum.
    private var addedLatency: Int64 = 0
    private var knownStallCount = 0

    init(_ policy: LivePolicy) { self.policy = policy }

    /// Decides where playback starts: at the viewer's choice, else at the start that the stream declares, else near the
    /// live edge.
    mutating func place(in state: RenditionState, offset: StartOffset?, _ view: PlaybackView) -> Int64 {
        isPlaced = true
        guard let timeline = state.timeline, let first = timeline.index.firstTimes?.start else { return 0 }
        let edge = max(first, timeline.liveEdge(at: view.now.wallTime) ?? timeline.index.end)
        if let choice = view.pendingSeek { return min(max(choice, first), edge) }
        if let offset, !state.isLive || policy.followsStream,
            let position = timeline.startPosition(at: view.now.wallTime, offset: offset)
        {
            return position
        }
        guard state.isLive, timeline.kind == .live else { return first }
        return max(first, edge.saturatingSubtract(targetLatency(in: state)))
    }

    /// The target of the viewer's seek, limited to the playable media once that is known.
    func destination(of target: Int64, in state: RenditionState, _ view: PlaybackView) -> Int64 {
        guard isPlaced, let first = state.index?.first?.start else { return target }
        guard state.isLive else { return max(target, first) }
        let edge = max(first, state.timeline?.liveEdge(at: view.now.wallTime) ?? first)
        return min(max(target, first), max(first, edge.saturatingSubtract(targetLatency(in: state))))
    }

    /// Where playback continues when the segments before `first` have left the live window.
    func destination(behind first: MediaSegment, in state: RenditionState?) -> Int64 {
        guard let state, let index = state.index else { return max(first.start, 0) }
        return max(first.start, index.end.saturatingSubtract(targetLatency(in: state)))
    }

    /// Measures the latency, changes the playback rate, and jumps to the target when the latency exceeds the maximum.
    mutating func follow(_ state: RenditionState, _ view: PlaybackView) -> [StreamEffect] {
        guard isPlaced, state.isLive, let index = state.index, let model = view.model, let edge = edge(of: state, view)
        else { return [] }
        learnStalls(view.stallCount, targetDuration: state.targetDuration)
        let latency = max(0, edge.saturatingSubtract(view.position))
        let target = targetLatency(in: state)
        context = AdaptationContext.Live(latency: .nanoseconds(latency), target: .nanoseconds(target))
        let measured = StreamEffect.latencyMeasured(.nanoseconds(latency))
        if let maximum = policy.maximumLatency?.duration(targetDuration: state.targetDuration),
            .nanoseconds(latency) > maximum, model.hasStarted, !model.isPaused, !model.isSeeking
        {
            // A stream may ask for more latency than the profile or its window allows. Only a position ahead of the
            // playhead justifies a jump.
            let nearest = edge.saturatingSubtract(min(target, maximum.nanoseconds))
            let position = max(index.firstTimes?.start ?? 0, nearest)
            if position > view.position { return [measured, .jump(to: position)] }
        }
        let rate = policy.playbackRate(
            latency: .nanoseconds(latency),
            target: .nanoseconds(target),
            bufferLevel: .nanoseconds(model.level(at: view.instant)),
            current: view.catchUpRate
        )
        return [measured, .catchUp(rate: rate)]
    }

    /// The target distance between playhead and live edge.
    func targetLatency(in state: RenditionState) -> Int64 {
        let declared = policy.followsStream ? state.timeline?.declaredLatency ?? 0 : 0
        let maximum = policy.maximumTargetIncrease?.duration(targetDuration: state.targetDuration).nanoseconds
        let increase = min(addedLatency, maximum ?? addedLatency)
        return (declared > 0 ? declared : preferredLatency(in: state)).saturatingAdd(increase)
    }

    /// The policy's latency for streams that declare none.
    private func preferredLatency(in state: RenditionState) -> Int64 {
        let isDASH = state.playlistURL == nil
        let distance = isDASH ? policy.targetLatencyOfDASH ?? policy.targetLatency : policy.targetLatency
        let minimumBuffer = Duration.nanoseconds(state.timeline?.minimumBuffer ?? 0)
        return distance.duration(targetDuration: state.targetDuration, minimumBuffer: minimumBuffer).nanoseconds
    }

    private mutating func learnStalls(_ count: Int, targetDuration: Duration) {
        let increase = policy.targetIncreaseOnStall.duration(targetDuration: targetDuration).nanoseconds
        let newStalls = Int64(max(0, count - knownStallCount))
        addedLatency = addedLatency.saturatingAdd(increase.saturatingMultiply(newStalls))
        knownStallCount = count
    }

    /// The live edge now: the end of the listed segments that can be fetched, advanced by the time since the playlist
    /// changed.
    private func edge(of state: RenditionState, _ view: PlaybackView) -> Int64? {
        guard let timeline = state.timeline, let edge = timeline.liveEdge(at: view.now.wallTime) else { return nil }
        guard state.reloadAt != nil else { return edge }
        let age = timeline.lastChange.duration(to: view.instant).nanoseconds
        let step = timeline.openSegment == nil ? timeline.index.targetDuration : timeline.control.partTarget ?? 0
        return edge.saturatingAdd(min(max(0, age), step))
    }
}
