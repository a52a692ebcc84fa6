import Instrument

/// A clock on which every wait ends at once and moves the time to its end: a check of half a minute takes no time.
///
/// For one task that sleeps at a time.
final class SteppingClock: SchedulingClock {
    private let state: Lock<MonotonicInstant>
    private let wallStart: WallTime

    init(wallTime: WallTime = WallTime(milliseconds: 1_767_225_600_000)) {
        state = Lock(MonotonicInstant(nanoseconds: 0))
        wallStart = wallTime
    }

    var now: MonotonicInstant { state.withLock { $0 } }
    var wallTime: WallTime { WallTime(milliseconds: wallStart.milliseconds + now.milliseconds) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: MonotonicInstant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        state.withLock { $0 = max($0, deadline) }
    }

    func advance(by duration: Duration) { state.withLock { $0 = $0.advanced(by: duration) } }

    func schedule(at deadline: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        state.withLock { $0 = max($0, deadline) }
        action()
        return ScheduledAction {}
    }
}
