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
        var waiters: [Waiter] = []

        var deadlines: [MonotonicInstant] { entries.map(\.deadline).sorted() }

        /// Takes out the waiters whose condition holds.
        mutating func takeSatisfied() -> [Gate] {
            if waiters.isEmpty { return [] }
            let deadlines = deadlines
            let satisfied = waiters.filter { $0.isSatisfied(deadlines) }
            waiters.removeAll { waiter in satisfied.contains { $0.gate === waiter.gate } }
            return satisfied.map(\.gate)
        }
    }

    /// A task that waits for something to be scheduled.
    private struct Waiter {
        var isSatisfied: @Sendable ([MonotonicInstant]) -> Bool
        var gate: Gate
    }

    private let state: Lock<State>
    private let latestWallTime: (@Sendable () -> WallTime)?

    /// Creates a clock that advances only on request.
    ///
    /// - Parameters:
    ///   - origin: its first instant.
    ///   - wallTime: the calendar time at that instant; by default 2026-01-01T00:00:00Z.
    ///   - latestWallTime: a calendar that this one never overtakes. With the system's, a session that is played faster
    ///     than time has no event in the future, however long it turns out to be. By default nothing limits the
    ///     calendar.
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

    /// The number of actions and sleepers that wait for a later instant.
    public var pendingCount: Int { state.withLock { $0.entries.count } }

    /// Waits until at least `count` actions and sleepers wait for a later instant; returns early if the current task is
    /// cancelled.
    ///
    /// For tests that advance the clock once the subject has set its alarm.
    public func waitUntilPending(_ count: Int = 1) async { await wait { $0.count >= count } }

    /// Waits until an action or a sleeper waits for exactly `deadline`; returns early if the current task is cancelled.
    public func waitUntilPending(at deadline: MonotonicInstant) async { await wait { $0.contains(deadline) } }

    private func wait(until isSatisfied: @escaping @Sendable ([MonotonicInstant]) -> Bool) async {
        let gate = state.withLock { state -> Gate? in
            if isSatisfied(state.deadlines) { return nil }
            let gate = Gate()
            state.waiters.append(Waiter(isSatisfied: isSatisfied, gate: gate))
            return gate
        }
        await gate?.wait()
        if let gate { state.withLock { $0.waiters.removeAll { $0.gate === gate } } }
    }

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

    /// Schedules `action`; it runs inside the ``advance(to:)`` that reaches `deadline`, for a deadline that has passed
    /// inside the next one.
    public func schedule(
        at deadline: MonotonicInstant,
        _ action: @escaping @Sendable () -> Void
    ) -> ScheduledAction {
        let (number, gates) = state.withLock { state in
            state.nextNumber += 1
            state.entries.append(Entry(deadline: deadline, number: state.nextNumber, action: action))
            return (state.nextNumber, state.takeSatisfied())
        }
        for gate in gates { gate.open() }
        return ScheduledAction { [weak self] in
            self?.state.withLock { state in state.entries.removeAll { $0.number == number } }
        }
    }

    /// Suspends the current task until the clock is advanced to `deadline`; throws if the task is cancelled meanwhile.
    public func sleep(until deadline: MonotonicInstant, tolerance: Duration? = nil) async throws {
        try await sleepUntilAlarm(at: deadline)
    }

    private func takeNext(until target: MonotonicInstant) -> Entry? {
        state.withLock { state in
            let due = state.entries.indices.filter { state.entries[$0].deadline <= target }
            let next = due.min { left, right in
                let (a, b) = (state.entries[left], state.entries[right])
                return (a.deadline, a.number) < (b.deadline, b.number)
            }
            guard let next else {
                // Under the same lock, so that nothing that is scheduled meanwhile for before the target is left
                // behind.
                state.now = max(state.now, target)
                return nil
            }
            let entry = state.entries.remove(at: next)
            state.now = max(state.now, entry.deadline)
            return entry
        }
    }
}
