package import Instrument

/// A source that is polled at intervals of an injected clock; it has no thread.
package struct PolledSource<Reading: Sendable>: SensorSource {
    private let clock: any SchedulingClock
    private let interval: Duration
    private let read: @Sendable () -> SensorUpdate<Reading>

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - interval: the time between two readings, at least a millisecond; the first reading is immediate.
    ///   - clock: the clock that times and schedules the readings.
    ///   - read: takes a reading; called on the clock's thread, so it should be quick.
    package init(
        every interval: Duration = .milliseconds(500),
        on clock: any SchedulingClock,
        _ read: @escaping @Sendable () -> SensorUpdate<Reading>
    ) {
        self.clock = clock
        self.interval = max(interval, .milliseconds(1))
        self.read = read
    }

    /// Reads now.
    package func current() -> SensorUpdate<Reading> { read() }

    /// Reads immediately and then at each interval, on the clock's thread.
    package func start(_ receive: @escaping @Sendable (SensorUpdate<Reading>) -> Void) -> SensorRun {
        let timer = RepeatingTimer(on: clock, every: interval) { receive(read()) }
        timer.start(at: clock.now)
        return SensorRun { timer.stop() }
    }
}

/// Calls at intervals until it is stopped.
final class RepeatingTimer: Sendable {
    private enum State {
        case idle
        case running(ScheduledAction)
        case stopped
    }

    private let clock: any SchedulingClock
    private let interval: Duration
    private let action: @Sendable () -> Void
    private let state = Lock(State.idle)

    init(on clock: any SchedulingClock, every interval: Duration, _ action: @escaping @Sendable () -> Void) {
        (self.clock, self.interval, self.action) = (clock, interval, action)
    }

    /// The first call is due at `instant`.
    func start(at instant: MonotonicInstant) { schedule(at: instant) }

    func stop() {
        let scheduled = state.withLock { state in
            defer { state = .stopped }
            if case .running(let scheduled) = state { return Optional(scheduled) }
            return nil
        }
        scheduled?.cancel()
    }

    private func schedule(at instant: MonotonicInstant) {
        state.withLock { state in
            if case .stopped = state { return }
            // Under the lock, so that a concurrent stop finds an action to cancel.
            state = .running(clock.schedule(at: instant) { [self] in fire(due: instant) })
        }
    }

    private func fire(due instant: MonotonicInstant) {
        let isStopped = state.withLock { if case .stopped = $0 { true } else { false } }
        if isStopped { return }
        action()
        // Calls that were missed during a pause of the process are skipped.
        schedule(at: max(instant.advanced(by: interval), clock.now))
    }
}
