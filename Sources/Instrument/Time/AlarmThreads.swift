internal import Dispatch

/// The threads that run actions at their time: few for actions that end soon, more only while actions block.
///
/// One thread, the keeper, waits for the earliest alarm and runs its action itself, so that an alarm wakes one thread.
/// Meanwhile another one, the watcher, looks every ``patience`` whether somebody keeps the time again, and does so
/// itself if not. An action that is due does not wait for actions that block: if no thread has taken one while all of
/// them could have computed for ``patience`` each, on two processors, their number doubles, up to one for each action
/// that is due. Where they only compute or wait for a processor, more threads would make the processors change between
/// them. A thread without work ends after some seconds.
final class AlarmThreads: Sendable {
    private struct State {
        var alarms = AlarmHeap()
        var lastNumber: UInt64 = 0
        var threads = 0
        /// Counts the actions that threads have taken.
        var taken = 0
        /// The thread that waits for the earliest alarm.
        var keeper: Bell?
        /// Whether a thread is the watcher, or will be it at once.
        var isWatched = false
        /// The threads that wait for work.
        var idle: [Bell] = []
    }

    /// What a thread does next.
    private enum Step {
        case run(@Sendable () -> Void, waking: Bell?, starts: Bool)
        case keep(until: MonotonicInstant, mayEnd: Bool)
        case idle(until: MonotonicInstant)
    }

    /// What the watcher has found.
    private enum Sight {
        /// Threads have taken actions.
        case progress(taken: Int)
        /// Actions are due, and the threads may still compute.
        case standstill
        /// This thread has to work, and starts others.
        case work(starts: Int)
    }

    /// The threads of all clocks of the machine.
    static let shared = AlarmThreads()

    /// The time for which an action may compute before it is taken for one that blocks.
    static let patience = Duration.milliseconds(5)

    private let state = Lock(State())
    /// How long a thread waits for work.
    private let idleTime: Duration

    init(idleTime: Duration = .seconds(5)) { self.idleTime = idleTime }

    /// The number of threads now.
    var count: Int { state.withLock { $0.threads } }

    /// Runs an action at its time or, within the tolerance, together with a later one; at once if its time has passed.
    /// Never blocks.
    func schedule(
        at deadline: MonotonicInstant,
        tolerance: Duration = .zero,
        _ action: @escaping @Sendable () -> Void
    ) -> Alarm {
        let (alarm, bell, starts) = state.withLock { state -> (Alarm, Bell?, Bool) in
            state.lastNumber += 1
            let alarm = Alarm(at: deadline, tolerance: tolerance, number: state.lastNumber, action)
            state.alarms.insert(alarm)
            guard state.alarms.first === alarm else { return (alarm, nil, false) }
            if state.threads > 0 { return (alarm, state.keeper, false) }
            state.threads = 1
            return (alarm, nil, true)
        }
        bell?.ring()
        if starts { start(asWatcher: false) }
        return alarm
    }

    /// Calls an alarm off.
    ///
    /// - Returns: false if its action has begun, or it was called off before.
    @discardableResult
    func cancel(_ alarm: Alarm) -> Bool {
        // Released outside the lock: what the action holds may end with it.
        let action = state.withLock { $0.alarms.remove(alarm) }
        return action != nil
    }

    private func start(asWatcher: Bool) {
        let body: @Sendable () -> Void = { [self] in serve(asWatcher: asWatcher) }
        if SystemThread.start(name: "alarm", takesSignals: false, body) { return }
        // The process has reached its thread limit: Dispatch may have a thread left.
        DispatchQueue.global(qos: .userInitiated).async(execute: body)
    }
}

// MARK: A thread's work
extension AlarmThreads {
    private func serve(asWatcher: Bool) {
        let bell = Bell()
        var isWatcher = asWatcher
        while true {
            if isWatcher { watch() }
            isWatcher = false
            switch state.withLock({ step(&$0, bell, at: SystemClock().now) }) {
            case .run(let action, let other, let starts):
                other?.ring()
                if starts { start(asWatcher: true) }
                action()
            case .keep(let deadline, let mayEnd):
                bell.wait(until: deadline)
                let hasEnded = state.withLock { Self.stopKeeping(&$0, bell, mayEnd: mayEnd, at: SystemClock().now) }
                if hasEnded { return }
            case .idle(let deadline):
                bell.wait(until: deadline)
                let isCalled = state.withLock { Self.isCalled(&$0, bell) }
                guard isCalled else { return }
                isWatcher = true
            }
        }
    }

    private func step(_ state: inout State, _ bell: Bell, at now: MonotonicInstant) -> Step {
        if let action = state.alarms.takeDue(at: now) {
            state.taken &+= 1
            // Somebody has to keep the time if this action blocks.
            if state.isWatched || state.keeper != nil { return .run(action, waking: nil, starts: false) }
            state.isWatched = true
            if let other = state.idle.popLast() { return .run(action, waking: other, starts: false) }
            state.threads += 1
            return .run(action, waking: nil, starts: true)
        }
        if state.keeper == nil {
            state.keeper = bell
            let first = state.alarms.first?.latest
            return .keep(until: first ?? now.advanced(by: idleTime), mayEnd: first == nil)
        }
        state.idle.append(bell)
        return .idle(until: now.advanced(by: idleTime))
    }

    /// - Returns: whether the thread ends, because nothing is scheduled.
    private static func stopKeeping(
        _ state: inout State,
        _ bell: Bell,
        mayEnd: Bool,
        at now: MonotonicInstant
    ) -> Bool {
        state.keeper = nil
        // A thread that is idle waits for a keeper's call, and ends first.
        guard mayEnd, state.alarms.first == nil, state.idle.isEmpty else { return false }
        state.threads -= 1
        return true
    }

    /// Whether an idle thread was called to watch; else it ends.
    private static func isCalled(_ state: inout State, _ bell: Bell) -> Bool {
        guard let index = state.idle.firstIndex(where: { $0 === bell }) else { return true }
        state.idle.remove(at: index)
        state.threads -= 1
        return false
    }

    /// Looks until the time is kept, or until this thread has to keep it.
    private func watch() {
        var (taken, rounds) = (state.withLock { $0.taken }, 0)
        let pause = Bell()
        while true {
            pause.wait(until: SystemClock().now.advanced(by: Self.patience))
            rounds += 1
            switch state.withLock({ Self.look(&$0, after: taken, rounds: rounds, at: SystemClock().now) }) {
            case .progress(let now): (taken, rounds) = (now, 0)
            case .standstill: continue
            case .work(let starts):
                for _ in 0..<starts { start(asWatcher: false) }
                return
            }
        }
    }

    /// - Parameter rounds: for how many times ``patience`` no thread has taken an action.
    private static func look(
        _ state: inout State,
        after taken: Int,
        rounds: Int,
        at now: MonotonicInstant
    ) -> Sight {
        guard state.keeper == nil, let first = state.alarms.first, first.latest <= now else {
            state.isWatched = false
            return .work(starts: 0)
        }
        if state.taken != taken { return .progress(taken: state.taken) }
        guard 2 * rounds >= state.threads else { return .standstill }
        state.isWatched = false
        // This thread takes the first action.
        let starts = max(0, state.alarms.dueCount(at: now, upTo: state.threads) - 1)
        state.threads += starts
        return .work(starts: starts)
    }
}
