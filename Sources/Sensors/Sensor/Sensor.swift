public import Instrument

/// A sensor that may be listened to: its source runs while somebody listens, the person allows it, and it is not suspended.
///
/// It keeps the last few readings, thins out what comes too fast, and is safe from any thread.
///
/// ```swift
/// let listening = sensors.accelerometer.listen { update in print(update) }
/// …
/// listening.stop()
/// let last = sensors.accelerometer.takeReadings()
/// ```
public final class Sensor<Reading: Sendable>: Sendable {
    /// The usual time between two readings.
    public static var defaultInterval: Duration { .milliseconds(500) }
    /// How many readings are kept.
    public static var defaultCapacity: Int { 10 }

    private struct State {
        var readings: RingBuffer<Reading>
        var latest: SensorUpdate<Reading>?
        var lastInstant: MonotonicInstant?
        var listeners: [Int: @Sendable (SensorUpdate<Reading>) -> Void] = [:]
        var nextNumber = 0
        var isSuspended = false
        /// Which start a reading is of: one that comes after the stop is not ours any more.
        var runNumber = 0
        var thinnedCount = 0
    }

    /// What it measures.
    public let kind: SensorKind
    private let source: any SensorSource<Reading>
    private let clock: any SchedulingClock
    private let interval: Duration
    private let choices: SensorChoices
    private let state: Lock<State>
    /// The source that runs; starting and stopping happen under this lock, one after another.
    private let run = Lock<SensorRun?>(nil)
    private let observation = Lock<SensorRun?>(nil)

    /// Creates a sensor.
    ///
    /// - Parameters:
    ///   - kind: what it measures.
    ///   - source: where readings come from.
    ///   - clock: times the rate limit.
    ///   - choices: what the person allows.
    ///   - interval: readings that come faster are thinned out; one may be a tenth early, as timers are.
    ///   - capacity: how many readings are kept.
    public init(
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
    public var isRunning: Bool { run.withLock { $0 != nil } }

    /// How many readings were left out because they came too fast.
    public var thinnedCount: Int { state.withLock { $0.thinnedCount } }

    /// Listens until the result is stopped. `receive` is called on the source's thread; it may stop the listening.
    public func listen(_ receive: @escaping @Sendable (SensorUpdate<Reading>) -> Void = { _ in }) -> SensorRun {
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

    /// What there is now, without listening; absent if the person disallows it.
    public func current() -> SensorUpdate<Reading> {
        choices.allows(kind) ? source.current() : .absent(.disallowed)
    }

    /// What was said last while somebody listened, else what there is now.
    public var latest: SensorUpdate<Reading> {
        guard choices.allows(kind) else { return .absent(.disallowed) }
        if let latest = state.withLock({ $0.latest }) { return latest }
        return source.current()
    }

    /// The last readings since they were last taken, the oldest first; they are forgotten.
    public func takeReadings() -> [Reading] { state.withLock { $0.readings.takeAll() } }

    /// Spares energy: while suspended the source does not run, whoever listens. Can be repeated.
    public func suspend() { setSuspended(true) }

    /// Resumes updates to observers. Can be repeated.
    public func resume() { setSuspended(false) }

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
