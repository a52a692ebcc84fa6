internal import Dispatch
internal import Instrument

/// The state of a ``PlaybackDriver``: a session, and the engine's values to feed it.
protocol DrivenPlayback: Sendable {
    var session: PlaybackSession { get set }
    /// The next deadline of the playback, apart from the transitions of the session's model; nil for none.
    ///
    /// - Parameter now: the reading of the clocks with which the playback was changed. With a later reading, what
    ///   became due in between would be neither done nor planned.
    func deadline(at now: Timestamp) -> MonotonicInstant?
    /// How much later than its deadline an alarm does no harm.
    ///
    /// - Parameter now: the present instant.
    func tolerance(at now: MonotonicInstant) -> Duration
    /// Whether everything that the playback has ordered is done: only then does it count as finished.
    var isSettled: Bool { get }
}

extension DrivenPlayback {
    func tolerance(at now: MonotonicInstant) -> Duration { .zero }
    var isSettled: Bool { true }
}

/// Holds a playback under one lock, delivers its signals in order, and wakes the engine at the next deadline.
final class PlaybackDriver<Playback: DrivenPlayback>: Sendable {
    private struct State {
        var playback: Playback
        var observer: (@Sendable (PlaybackNews) -> Void)?
        var isDelivering = false
        var timer: ScheduledAction?
        var timerInstant: MonotonicInstant?
    }

    let clock: any SchedulingClock
    private let state: Lock<State>
    private let finished = Gate()
    /// Signalled for threads that wait for the last delivery.
    private let delivered = DispatchSemaphore(value: 0)
    private struct Observers {
        var alarm: (@Sendable () -> Void)?
    }

    private let observers = Lock(Observers())

    init(_ playback: Playback, clock: any SchedulingClock) {
        state = Lock(State(playback: playback))
        self.clock = clock
    }

    func report(newsTo observer: (@Sendable (PlaybackNews) -> Void)?) { state.withLock { $0.observer = observer } }

    /// Returns true once the last signal was delivered; false if the current task is cancelled before.
    func waitUntilFinished() async -> Bool {
        await finished.wait()
        return isFinished
    }

    /// Blocks, once the playback has its outcome, until the last signal was delivered: another thread may deliver it.
    func waitUntilDelivered() {
        // A second thread that waits may take the first one's signal.
        while !isFinished { _ = delivered.wait(timeout: .now() + .milliseconds(100)) }
    }

    /// Sets the engine's reaction to a deadline, which runs outside the lock. The engine sets it before playback
    /// begins.
    func onAlarm(_ action: @escaping @Sendable () -> Void) { observers.withLock { $0.alarm = action } }

    /// Reads the playback.
    func look<Result: Sendable>(_ body: (Playback, MonotonicInstant) -> Result) -> Result {
        state.withLock { body($0.playback, clock.now) }
    }

    /// Changes the playback, delivers the signals that follow, and schedules the next deadline.
    @discardableResult
    func change<Result: Sendable>(_ body: (inout Playback, Timestamp) -> Result) -> Result {
        let (result, hasNews) = state.withLock { state in
            let now = clock.timestamp
            let result = body(&state.playback, now)
            schedule(&state, now)
            return (result, !state.playback.session.news.isEmpty || state.playback.session.outcome != nil)
        }
        if hasNews { deliver() }
        return result
    }

    /// Notes that something is done that the playback had ordered.
    func settle(_ body: (inout Playback) -> Void) {
        state.withLock { body(&$0.playback) }
        finishIfDone()
    }

    private var isFinished: Bool {
        state.withLock { state in
            state.playback.session.outcome != nil && state.playback.session.news.isEmpty && !state.isDelivering
                && state.playback.isSettled
        }
    }

    /// Whether news waits for its delivery, or is being delivered.
    var isDelivering: Bool { state.withLock { $0.isDelivering || !$0.playback.session.news.isEmpty } }

    /// Sets the timer if the next deadline is earlier than the timer's. A timer that fires too early does no harm.
    private func schedule(_ state: inout State, _ now: Timestamp) {
        var next: MonotonicInstant?
        if state.playback.session.outcome == nil {
            let deadlines = [
                state.playback.session.model?.nextDeadline(after: now.instant),
                state.playback.deadline(at: now),
            ]
            next = deadlines.compactMap(\.self).min()
        }
        guard let next else {
            state.timer?.cancel()
            (state.timer, state.timerInstant) = (nil, nil)
            return
        }
        if let set = state.timerInstant, set <= next, state.timer != nil { return }
        state.timer?.cancel()
        state.timerInstant = next
        let tolerance = state.playback.tolerance(at: now.instant)
        state.timer = clock.schedule(at: next, tolerance: tolerance) { [weak self] in self?.timerFired() }
    }

    private func timerFired() {
        state.withLock { ($0.timer, $0.timerInstant) = (nil, nil) }
        observers.withLock { $0.alarm }?()
    }

    /// Delivers signals in order, outside the lock. One thread at a time delivers, also the signals of other threads.
    private func deliver() {
        while true {
            let next = state.withLock { state -> ([PlaybackNews], (@Sendable (PlaybackNews) -> Void)?)? in
                if state.isDelivering || state.playback.session.news.isEmpty { return nil }
                state.isDelivering = true
                defer { state.playback.session.news = [] }
                return (state.playback.session.news, state.observer)
            }
            guard let (news, observer) = next else { break }
            if let observer { news.forEach(observer) }
            state.withLock { $0.isDelivering = false }
        }
        finishIfDone()
    }

    private func finishIfDone() {
        guard isFinished else { return }
        finished.open()
        delivered.signal()
    }
}
