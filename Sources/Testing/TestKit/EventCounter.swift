internal import Instrument

/// Counts events, and lets tests wait for a number of them without polling.
///
/// ```swift
/// let deliveries = EventCounter()
/// // The subject, on any thread:
/// deliveries.increment()
/// // The test:
/// await deliveries.wait(for: 2)
/// ```
public final class EventCounter: Sendable {
    private struct State {
        var count = 0
        var waiters: [(goal: Int, gate: Gate)] = []
    }

    private let state = Lock(State())

    /// Creates a counter at zero.
    public init() {}

    /// The number of events.
    public var count: Int { state.withLock { $0.count } }

    /// Counts an event and resumes the tasks that waited for it. Safe from any thread.
    public func increment() {
        let gates = state.withLock { state in
            state.count += 1
            let count = state.count
            let reached = state.waiters.filter { $0.goal <= count }.map(\.gate)
            state.waiters.removeAll { $0.goal <= count }
            return reached
        }
        for gate in gates { gate.open() }
    }

    /// Returns once at least `count` events have happened; returns early if the current task is cancelled, by
    /// the test's time limit for example.
    public func wait(for count: Int) async {
        let gate = state.withLock { state -> Gate? in
            if state.count >= count { return nil }
            let gate = Gate()
            state.waiters.append((count, gate))
            return gate
        }
        await gate?.wait()
    }
}
