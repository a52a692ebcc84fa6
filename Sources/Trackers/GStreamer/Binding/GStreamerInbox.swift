internal import Dispatch
internal import Instrument

/// Takes what a pipeline reports, on the pipeline's threads, and hands it to a queue: no observer blocks the pipeline.
///
/// Buffers end here: only what they say of the motion is handed on. Bounded: repeated events replace one another while
/// they wait, and events beyond ``capacity`` are dropped and counted.
final class GStreamerInbox: Sendable {
    enum Item: Sendable {
        /// An observation with its instant, and the motion beside it.
        case observed(GStreamerObservation, MonotonicInstant, GStreamerMotion)
        case impossible(String)
        case noMessages
    }

    static let capacity = 1_024
    private static let maxImpossibleCount = 16

    private struct State {
        var motion = GStreamerMotion()
        var items: [Item] = []
        var isScheduled = false
        var isClosed = false
        var droppedCount = 0
        var impossibleCount = 0
        var hasMessages = false
        var isLackReported = false
    }

    private let queue: DispatchQueue
    private let clock: any SchedulingClock
    private let handle: @Sendable ([Item], _ droppedCount: Int) -> Void
    private let state = Lock(State())

    /// Creates an inbox whose items `handle` receives on `queue`.
    init(
        on queue: DispatchQueue,
        clock: any SchedulingClock,
        handle: @escaping @Sendable ([Item], _ droppedCount: Int) -> Void
    ) {
        (self.queue, self.clock, self.handle) = (queue, clock, handle)
    }

    /// The motion of the playhead at the moment of the call.
    var motion: GStreamerMotion { state.withLock { $0.motion } }

    /// Takes an event, on any thread.
    func take(_ kind: GStreamerEvent.Kind) {
        let now = clock.now
        let needsSchedule = state.withLock { state in
            if state.isClosed { return false }
            // Buffers are frequent.
            if case .buffer(let buffer) = kind, buffer.isPossible { return Self.take(buffer, at: now, &state) }
            if let value = kind.impossibleValue {
                state.impossibleCount += 1
                guard state.impossibleCount <= Self.maxImpossibleCount else { return false }
                return Self.append(.impossible(value), to: &state)
            }
            Self.move(&state, by: kind, at: now)
            return Self.append(.observed(.event(kind), now, state.motion), to: &state)
        }
        if needsSchedule { queue.async { [weak self] in self?.drain() } }
    }

    /// Takes an observation that is not the pipeline's own.
    func take(_ observation: GStreamerObservation) {
        let now = clock.now
        let needsSchedule = state.withLock { state in
            if case .joined(isPaused: false) = observation { state.motion.run(at: now) }
            return Self.append(.observed(observation, now, state.motion), to: &state)
        }
        if needsSchedule { queue.async { [weak self] in self?.drain() } }
    }

    /// Finds out what time alone tells.
    func look() {
        let now = clock.now
        if let change = state.withLock({ $0.motion.silence(at: now) }) { take(.motion(change)) }
        take(.look)
    }

    /// Takes nothing from now on.
    func close() { state.withLock { ($0.isClosed, $0.items) = (true, []) } }

    private static func take(_ buffer: GStreamerBuffer, at now: MonotonicInstant, _ state: inout State) -> Bool {
        guard let change = state.motion.take(buffer, at: now) else {
            let isSilent = !state.hasMessages && !state.motion.isRunning && !buffer.isPreroll && !state.isLackReported
            guard isSilent else { return false }
            state.isLackReported = true
            return append(.noMessages, to: &state)
        }
        return append(.observed(.motion(change), now, state.motion), to: &state)
    }

    private static func move(_ state: inout State, by kind: GStreamerEvent.Kind, at now: MonotonicInstant) {
        switch kind {
        case .state(let old, let new, _):
            state.hasMessages = true
            if new <= .ready {
                state.motion.halt(at: now)
                state.motion.reset()
            } else if new == .playing {
                state.motion.run(at: now)
            } else if old == .playing {
                state.motion.halt(at: now)
            }
        case .thread, .asyncDone, .streamStart, .buffering: state.hasMessages = true
        case .flushed(let sink): if state.motion.isMain(sink) { state.motion.flush(at: now) }
        case .caps(let sink, let media, _): state.motion.takeSink(sink, media)
        case .sinkGone(let sink): state.motion.removeSink(sink)
        default: break
        }
    }

    /// Whether the queue needs a call.
    private static func append(_ item: Item, to state: inout State) -> Bool {
        if case .observed(.event(let kind), _, _) = item, case .observed(.event(let last), _, _)? = state.items.last,
            kind.replaces(last)
        {
            state.items[state.items.count - 1] = item
            return false
        }
        guard !state.isClosed, state.items.count < capacity else {
            state.droppedCount += 1
            return false
        }
        state.items.append(item)
        defer { state.isScheduled = true }
        return !state.isScheduled
    }

    private func drain() {
        let (items, droppedCount) = state.withLock { state in
            defer { (state.items, state.isScheduled, state.droppedCount) = ([], false, 0) }
            return (state.items, state.droppedCount)
        }
        handle(items, droppedCount)
    }
}

extension GStreamerEvent.Kind {
    /// Whether an event makes the event before it superfluous. The begin and the end of buffering stay.
    fileprivate func replaces(_ earlier: Self) -> Bool {
        switch (self, earlier) {
        case (.thread, .thread): true
        case (.tags, .tags): self == earlier
        case (.buffering(let percent, let isLive), .buffering(let before, let wasLive)):
            (percent >= 100) == (before >= 100) && isLive == wasLive
        case (.dropped(_, let element), .dropped(_, let other)): element == other
        case (.sound, .sound): true
        default: false
        }
    }
}
