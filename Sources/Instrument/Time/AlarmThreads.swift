internal import Dispatch

/// The threads that run the actions of alarms: few for actions that end soon, more only while actions block.
///
/// An action waits for no other action for longer than ``patience``: if no thread has taken an action for that time,
/// the number of threads doubles, up to one for each action. A thread without work ends after ``idleTime``.
final class AlarmThreads: Sendable {
    private struct State {
        /// The actions that wait for a thread, in order, from `first` on.
        var actions: [@Sendable () -> Void] = []
        var first = 0
        var threads = 0
        /// The threads that wait for work and were not woken.
        var idle = 0
        /// Counts the actions that threads have taken.
        var taken = 0
        /// Whether a look is under way whether the threads make progress.
        var isWatched = false

        var waiting: Int { actions.count - first }

        mutating func take() -> (@Sendable () -> Void)? {
            guard first < actions.count else { return nil }
            let action = actions[first]
            (first, taken) = (first + 1, taken + 1)
            if first == actions.count { (actions, first) = ([], 0) }
            return action
        }
    }

    /// The threads of all clocks of the machine.
    static let shared = AlarmThreads()

    /// The longest wait for threads that block, before others are started.
    static let patience = DispatchTimeInterval.milliseconds(5)
    /// How long a thread waits for work.
    private static let idleTime = DispatchTimeInterval.seconds(5)

    private let state = Lock(State())
    private let work = DispatchSemaphore(value: 0)
    /// The looks; no action runs here.
    private let watch = DispatchQueue(label: "instrument.alarm.watch")

    /// The number of threads now.
    var count: Int { state.withLock { $0.threads } }

    /// Runs an action on one of the threads. Never blocks.
    func run(_ action: @escaping @Sendable () -> Void) {
        let (wakes, starts, watches) = state.withLock { state -> (Bool, Bool, Bool) in
            state.actions.append(action)
            if state.idle > 0 {
                state.idle -= 1
                return (true, false, false)
            }
            if state.threads == 0 {
                state.threads = 1
                return (false, true, false)
            }
            defer { state.isWatched = true }
            return (false, false, !state.isWatched)
        }
        if wakes { work.signal() }
        if starts { start() }
        if watches { look(after: state.withLock { $0.taken }) }
    }

    /// Looks later whether a thread has taken an action since then.
    private func look(after taken: Int) {
        watch.asyncAfter(deadline: .now() + Self.patience) { [self] in
            let (starts, now) = state.withLock { state -> (Int, Int?) in
                guard state.waiting > 0 else {
                    state.isWatched = false
                    return (0, nil)
                }
                let starts = state.taken == taken ? min(state.waiting, max(1, state.threads)) : 0
                state.threads += starts
                return (starts, state.taken)
            }
            for _ in 0..<starts { start() }
            if let now { look(after: now) }
        }
    }

    private func start() {
        if SystemThread.start(name: "alarm", takesSignals: false, { [self] in serve() }) { return }
        // The process has reached its thread limit: Dispatch may have a thread left.
        DispatchQueue.global(qos: .userInitiated).async { [self] in serve() }
    }

    private func serve() {
        while true {
            if let action = state.withLock({ $0.take() }) {
                action()
                continue
            }
            let isIdle = state.withLock { state in
                if state.waiting > 0 { return false }
                state.idle += 1
                return true
            }
            guard isIdle, work.wait(timeout: .now() + Self.idleTime) == .timedOut else { continue }
            let hasEnded = state.withLock { state in
                // Woken at the last moment: the signal is for this thread.
                if state.idle == 0 { return false }
                (state.idle, state.threads) = (state.idle - 1, state.threads - 1)
                return true
            }
            if hasEnded { return }
            work.wait()
        }
    }
}
