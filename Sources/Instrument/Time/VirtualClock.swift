/// A clock that moves only when told to: for tests, and for playing as fast as possible.
///
/// Scheduled actions run on the thread that advances the clock, one after another in the order of their instants (and,
/// at the same instant, in the order in which they were scheduled), each seeing its own instant as `now`. So a session
/// driven by a virtual clock gives the same result every time. Safe to use from any thread; advance it from one.
public final class VirtualClock: SchedulingClock {
    private struct Entry {
        var deadline: MonotonicInstant
        var number: UInt64
        var action: @Sendable () -> Void
    }

    private struct State {
        var now: MonotonicInstant
        var wallOffset: Int64
        var entries: [Entry] = []
        var nextNumber: UInt64 = 0
    }

    private let state: Lock<State>
    private let latestWallTime: (@Sendable () -> WallTime)?

    /// Creates a clock that stands still.
    ///
    /// - Parameters:
    ///   - origin: its first instant.
    ///   - wallTime: the calendar time at that instant; by default 2026-01-01T00:00:00Z.
    ///   - latestWallTime: a calendar that this one never overtakes. With the system's, a session that is played faster than
    ///     time has no event in the future, however long it turns out to be. By default nothing limits the calendar.
    public init(
        startingAt origin: MonotonicInstant = MonotonicInstant(nanoseconds: 0),
        wallTime: WallTime = WallTime(milliseconds: 1_767_225_600_000),
        notAfter latestWallTime: (@Sendable () -> WallTime)? = nil
    ) {
        self.latestWallTime = latestWallTime
        state = Lock(State(now: origin, wallOffset: wallTime.milliseconds - origin.milliseconds))
    }

    /// The instant at which the clock stands.
    public var now: MonotonicInstant { state.withLock { $0.now } }

    /// The calendar time at which the clock stands; moves with `now`.
    public var wallTime: WallTime { timestamp.wallTime }

    /// Both readings of the instant at which the clock stands.
    public var timestamp: Timestamp { timestamp(of: now) }

    /// Both readings of `instant`.
    public func timestamp(of instant: MonotonicInstant) -> Timestamp {
        let time = WallTime(milliseconds: instant.milliseconds + state.withLock { $0.wallOffset })
        return Timestamp(instant: instant, wallTime: latestWallTime.map { min(time, $0()) } ?? time)
    }

    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// How many actions and sleepers wait for a later instant.
    public var pendingCount: Int { state.withLock { $0.entries.count } }

    /// The earliest instant at which something waits to happen.
    public var nextDeadline: MonotonicInstant? { state.withLock { $0.entries.map(\.deadline).min() } }

    /// Lets the calendar jump, as when a person or a time server sets the clock; instants do not notice.
    public func stepWallTime(by duration: Duration) {
        state.withLock { $0.wallOffset &+= Int64(duration.milliseconds) }
    }

    /// Moves the clock by `duration` and runs what falls due on the way.
    public func advance(by duration: Duration) { advance(to: now.advanced(by: duration)) }

    /// Moves the clock to `target` and runs what falls due on the way; never moves it back.
    public func advance(to target: MonotonicInstant) {
        while let entry = takeNext(until: target) { entry.action() }
    }

    /// Schedules `action`; it runs inside the ``advance(to:)`` that reaches `deadline`, for a deadline that has passed inside
    /// the next one.
    public func schedule(
        at deadline: MonotonicInstant,
        _ action: @escaping @Sendable () -> Void
    ) -> ScheduledAction {
        let number = state.withLock { state in
            state.nextNumber += 1
            state.entries.append(Entry(deadline: deadline, number: state.nextNumber, action: action))
            return state.nextNumber
        }
        return ScheduledAction { [weak self] in
            self?.state.withLock { state in state.entries.removeAll { $0.number == number } }
        }
    }

    /// Suspends the current task until the clock is advanced to `deadline`; throws if the task is cancelled meanwhile.
    public func sleep(until deadline: MonotonicInstant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        if deadline <= now { return }
        let sleeper = Sleeper()
        let scheduled = schedule(at: deadline) { sleeper.wake(.success(())) }
        if deadline <= now { sleeper.wake(.success(())) }
        try await withTaskCancellationHandler {
            try await sleeper.wait()
        } onCancel: {
            scheduled.cancel()
            sleeper.wake(.failure(CancellationError()))
        }
    }

    private func takeNext(until target: MonotonicInstant) -> Entry? {
        state.withLock { state in
            let due = state.entries.indices.filter { state.entries[$0].deadline <= target }
            let next = due.min { left, right in
                let (a, b) = (state.entries[left], state.entries[right])
                return (a.deadline, a.number) < (b.deadline, b.number)
            }
            guard let next else {
                // Under the same lock, so that nothing that is scheduled meanwhile for before the target is left behind.
                state.now = max(state.now, target)
                return nil
            }
            let entry = state.entries.remove(at: next)
            state.now = max(state.now, entry.deadline)
            return entry
        }
    }
}

/// A task that sleeps until it is woken, exactly once.
private final class Sleeper: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Void, any Error>)
        case woken(Result<Void, any Error>)
    }

    private let state = Lock(State.idle)

    func wait() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let result: Result<Void, any Error>? = state.withLock { state in
                if case .woken(let result) = state { return result }
                state = .waiting(continuation)
                return nil
            }
            if let result { continuation.resume(with: result) }
        }
    }

    func wake(_ result: Result<Void, any Error>) {
        let continuation: CheckedContinuation<Void, any Error>? = state.withLock { state in
            switch state {
            case .idle:
                state = .woken(result)
                return nil
            case .waiting(let continuation):
                state = .woken(result)
                return continuation
            case .woken:
                return nil
            }
        }
        continuation?.resume(with: result)
    }
}
