package import Instrument

/// A sensor with listeners: its source runs while there is a listener, the person allows it, and it is not suspended.
///
/// Keeps the latest readings, and drops readings that come too fast. Safe from any thread.
package final class Sensor<Reading: Sendable>: Sendable {
    /// The usual time between two readings.
    package static var defaultInterval: Duration { .milliseconds(500) }
    /// The number of readings that are kept.
    package static var defaultCapacity: Int { 10 }

    private struct State {
        var readings: RingBuffer<Reading>
        var latest: SensorUpdate<Reading>?
        var lastInstant: MonotonicInstant?
        var listeners: [Int: @Sendable (SensorUpdate<Reading>) -> Void] = [:]
        var nextNumber = 0
        var isSuspended = false
        /// The number of the present start, so that a reading that arrives after a stop is ignored.
        var runNumber = 0
        var thinnedCount = 0
    }

    /// The kind of measurement.
    package let kind: SensorKind
    private let source: any SensorSource<Reading>
    private let clock: any SchedulingClock
    private let interval: Duration
    private let choices: SensorChoices
    private let state: Lock<State>
    /// The running source; starts and stops happen under this lock, one after another.
    private let run = Lock<SensorRun?>(nil)
    private let observation = Lock<SensorRun?>(nil)

    /// Creates a sensor.
    ///
    /// - Parameters:
    ///   - kind: the kind of measurement.
    ///   - source: the source of readings.
    ///   - clock: the clock of the rate limit.
    ///   - choices: the person's choices.
    ///   - interval: the shortest time between two readings, which may be a tenth shorter, because timers are not
    ///     exact.
    ///   - capacity: the number of readings that are kept.
    package init(
        _ kind: SensorKind,
        _ source: some SensorSource<Reading>,
        clock: any SchedulingClock = SystemClock(),
        choices: SensorChoices = SensorChoices(),
        interval: Duration = Sensor.defaultInterval,
        capacity: Int = Sensor.defaultCapacity
    ) {
        self.kind = kind
        self.source = source
        self.clock = clock
        self.choices = choices
        self.interval = interval - interval / 10
        state = Lock(State(readings: RingBuffer(capacity: capacity)))
        let observation = choices.observe { [weak self] in self?.choicesChanged() }
        self.observation.withLock { $0 = observation }
    }

    deinit {
        observation.withLock { $0 }?.stop()
        run.withLock { $0 }?.stop()
    }

    /// Whether the source runs.
    package var isRunning: Bool { run.withLock { $0 != nil } }

    /// The number of readings that were dropped because they came too fast.
    package var thinnedCount: Int { state.withLock { $0.thinnedCount } }

    /// Adds a listener until the result is stopped. Calls `receive` on the source's thread; `receive` may stop the
    /// listener.
    package func listen(_ receive: @escaping @Sendable (SensorUpdate<Reading>) -> Void = { _ in }) -> SensorRun {
        let number = state.withLock { state in
            state.nextNumber += 1
            state.listeners[state.nextNumber] = receive
            return state.nextNumber
        }
        startOrStop()
        // Keeps the sensor, so that a listener needs no other reference.
        return SensorRun { [self] in
            let wasThere = state.withLock { $0.listeners.removeValue(forKey: number) != nil }
            if wasThere { startOrStop() }
        }
    }

    /// Returns the current update without a listener; absent if the person disallows it.
    package func current() -> SensorUpdate<Reading> {
        choices.allows(kind) ? source.current() : .absent(.disallowed)
    }

    /// Returns the latest update of the running source, else the current update.
    package var latest: SensorUpdate<Reading> {
        guard choices.allows(kind) else { return .absent(.disallowed) }
        if let latest = state.withLock({ $0.latest }) { return latest }
        return source.current()
    }

    /// Removes and returns the readings since the last call, the oldest first.
    package func takeReadings() -> [Reading] { state.withLock { $0.readings.takeAll() } }

    /// Suspends the source, with or without listeners, to save energy. Can be repeated.
    package func suspend() { setSuspended(true) }

    /// Resumes updates to observers. Can be repeated.
    package func resume() { setSuspended(false) }

    private func setSuspended(_ isSuspended: Bool) {
        state.withLock { $0.isSuspended = isSuspended }
        startOrStop()
    }

    private func choicesChanged() {
        startOrStop()
        if choices.allows(kind) { return }
        state.withLock { state in
            _ = state.readings.takeAll()
            state.latest = nil
        }
    }

    private func startOrStop() {
        run.withLock { run in
            let isWanted = state.withLock { !$0.isSuspended && !$0.listeners.isEmpty } && choices.allows(kind)
            if isWanted == (run != nil) { return }
            let number = state.withLock { state in
                state.runNumber += 1
                state.latest = nil
                state.lastInstant = nil
                return state.runNumber
            }
            run?.stop()
            run = isWanted ? source.start { [weak self] in self?.take($0, of: number) } : nil
        }
    }

    private func take(_ update: SensorUpdate<Reading>, of number: Int) {
        let now = clock.now
        let listeners = state.withLock { state -> [@Sendable (SensorUpdate<Reading>) -> Void] in
            guard state.runNumber == number else { return [] }
            if let reading = update.reading {
                if let last = state.lastInstant, last.duration(to: now) < interval {
                    state.thinnedCount += 1
                    return []
                }
                state.lastInstant = now
                state.readings.append(reading)
            }
            state.latest = update
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(update) }
    }
}
