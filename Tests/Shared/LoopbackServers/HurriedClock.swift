package import Instrument

/// A clock on which waiting takes a fraction of the time, so that minutes of back-off fit into a test.
package struct HurriedClock: SchedulingClock {
    private let factor: Int64
    private let clock = SystemClock()

    /// Creates a clock that runs faster by this factor.
    package init(factor: Int64 = 1000) { self.factor = factor }

    package var now: MonotonicInstant { MonotonicInstant(nanoseconds: clock.now.nanoseconds * factor) }
    package var wallTime: WallTime { clock.wallTime }
    package var minimumResolution: Duration { .nanoseconds(1000) }

    package func sleep(until deadline: MonotonicInstant, tolerance: Duration?) async throws {
        try await clock.sleep(until: real(deadline), tolerance: nil)
    }

    package func schedule(
        at deadline: MonotonicInstant,
        _ action: @escaping @Sendable () -> Void
    ) -> ScheduledAction {
        clock.schedule(at: real(deadline), action)
    }

    private func real(_ instant: MonotonicInstant) -> MonotonicInstant {
        // Rounded up: an alarm that rings before its time would be set again and again.
        MonotonicInstant(nanoseconds: instant.nanoseconds / factor + 1)
    }
}
