internal import Instrument

/// Holds a session and what an engine keeps beside it under one lock, delivers the session's signals in order, and wakes it
/// when something is to happen by itself.
final class PlaybackDriver<Loading: Sendable>: Sendable {
    private struct State {
        var session: PlaybackSession
        var loading: Loading
        var observer: (@Sendable (PlayerSignal) -> Void)?
        var isDelivering = false
        var timer: ScheduledAction?
        var timerInstant: MonotonicInstant?
        var isFinished = false
    }

    let clock: any SchedulingClock
    private let state: Lock<State>
    private let finished = Gate()
    private let alarm = Lock<(@Sendable () -> Void)?>(nil)
    private let deadline: @Sendable (Loading, PlaybackSession, MonotonicInstant) -> MonotonicInstant?

    /// - Parameters:
    ///   - deadline: when the engine itself has something to do next, beside what the session's model has.
    init(
        _ session: PlaybackSession,
        loading: Loading,
        clock: any SchedulingClock,
        deadline: @escaping @Sendable (Loading, PlaybackSession, MonotonicInstant) -> MonotonicInstant? = { _, _, _ in
            nil
        }
    ) {
        state = Lock(State(session: session, loading: loading))
        self.clock = clock
        self.deadline = deadline
    }

    var status: PlayerStatus { look { session, _, now in session.status(at: now) } }
    var progress: ProbeProgress { look { session, _, now in session.progress(at: now) } }
    var outcome: ProbeOutcome? { look { session, _, _ in session.outcome } }

    func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { state.withLock { $0.observer = observer } }
    func waitUntilFinished() async { await finished.wait() }

    /// Has `action` called when the deadline has come, outside the lock; set before anything begins.
    func onAlarm(_ action: @escaping @Sendable () -> Void) { alarm.withLock { $0 = action } }

    /// Looks at the session.
    func look<Result: Sendable>(_ body: (PlaybackSession, Loading, MonotonicInstant) -> Result) -> Result {
        state.withLock { body($0.session, $0.loading, clock.now) }
    }

    /// Changes the session, delivers what follows, and sees to what will happen next.
    @discardableResult
    func change<Result: Sendable>(
        _ body: (inout PlaybackSession, inout Loading, MonotonicInstant) -> Result
    ) -> Result {
        let (result, hasNews) = state.withLock { state in
            let now = clock.now
            let result = body(&state.session, &state.loading, now)
            schedule(&state, now)
            return (result, !state.session.outbox.isEmpty || state.session.outcome != nil)
        }
        if hasNews { deliver() }
        return result
    }

    /// Sets the timer if something will happen sooner than what it is set for. One that comes too early does no harm.
    private func schedule(_ state: inout State, _ now: MonotonicInstant) {
        let next =
            state.session.outcome == nil
            ? [state.session.model?.nextDeadline(after: now), deadline(state.loading, state.session, now)]
                .compactMap { $0 }.min() : nil
        guard let next else {
            state.timer?.cancel()
            (state.timer, state.timerInstant) = (nil, nil)
            return
        }
        if let set = state.timerInstant, set <= next, state.timer != nil { return }
        state.timer?.cancel()
        state.timerInstant = next
        state.timer = clock.schedule(at: next) { [weak self] in self?.timerFired() }
    }

    private func timerFired() {
        state.withLock { ($0.timer, $0.timerInstant) = (nil, nil) }
        if let alarm = alarm.withLock({ $0 }) { return alarm() }
        change { session, _, now in session.advance(to: now) }
    }

    /// Hands signals over in order, outside the lock; whoever finds nobody at it does it for all.
    private func deliver() {
        while true {
            let next = state.withLock { state -> (PlayerSignal, (@Sendable (PlayerSignal) -> Void)?)? in
                if state.isDelivering || state.session.outbox.isEmpty { return nil }
                state.isDelivering = true
                return (state.session.outbox.removeFirst(), state.observer)
            }
            guard let (signal, observer) = next else { break }
            observer?(signal)
            state.withLock { $0.isDelivering = false }
        }
        let isOver = state.withLock { $0.session.outcome != nil && $0.session.outbox.isEmpty && !$0.isDelivering }
        if isOver { finished.open() }
    }
}
