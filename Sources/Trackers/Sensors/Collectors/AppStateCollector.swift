public import Instrument

/// Reports the state of the app and its surroundings, as `Action.appState`.
///
/// - When the app becomes active and when the shown screens change, at most 30 times in 60 s;
/// - every 120 s while the app is not in the background and there was no other collection;
/// - on ``collect()``, without a limit.
///
/// In the foreground, the collector starts the sensors and emits the event after 4 s, or 5.1 s with motion. In the
/// background it emits the event immediately, without starting sensors. The event's time is the start of the
/// collection. When the app leaves the foreground or ends, or the collector is paused, waiting collections are
/// emitted immediately with the readings so far.
///
/// ```swift
/// let collector = AppStateCollector(sensors: .linux())
/// instrument.add(collector)
/// collector.enter(.active)
/// collector.show(screens: ["Library"])
/// ```
///
/// A lifecycle tracker (InstrumentTrackers) notifies the collector of the phases, and flushes the events that it
/// emits then:
///
/// ```swift
/// instrument.add(LifecycleTracker(signals, flushing: instrument.queue, telling: [collector]))
/// ```
///
/// The person's choices (``SensorChoices``) determine which of its fields are on in the instrument's privacy
/// catalogue.
///
/// Safe from any thread. Times are the injected clock's.
public final class AppStateCollector: Tracker, LifecycleObserver {
    /// The shortest time between a collection and the next automatic collection.
    package static let interval = Duration.seconds(120)
    /// The time for which sensors run before the event is emitted.
    package static let wait = Duration.seconds(4)
    /// The same time with motion.
    package static let waitWithMotion = Duration.milliseconds(5100)

    struct State {
        var context: TrackerContext?
        var phase: LifecyclePhase
        var screens: [String] = []
        var isPaused = false
        var bucket = TokenBucket(30, every: .seconds(60))
        var lastCollection: MonotonicInstant
        var timer: ScheduledAction?
        var pending: [PendingCollection] = []
        var nextNumber = 0
        /// Follows the person's choices.
        var observation: SensorRun?
    }

    /// The state at the start of a collection.
    struct Beginning {
        var instant: MonotonicInstant
        var phase: LifecyclePhase
        var screens: [String]
    }

    /// A collection whose sensors are running.
    struct PendingCollection {
        var number: Int
        var beginning: Beginning
        var alarm: ScheduledAction
        var runs: [SensorRun]
    }

    /// `app`.
    public let target: String? = "app"
    let sensors: Sensors
    let clock: any SchedulingClock
    let sdkVersion: String?
    let state: Lock<State>

    /// Creates a collector, which starts when it is added to an instrument.
    ///
    /// - Parameters:
    ///   - sensors: the sensors to read. Motion is read if the person's choices allow it.
    ///   - phase: the app's present phase.
    ///   - sdkVersion: the value of `sdkVersion`.
    ///   - clock: the clock of all times.
    public init(
        sensors: Sensors,
        phase: LifecyclePhase = .foreground,
        sdkVersion: String? = nil,
        clock: any SchedulingClock = SystemClock()
    ) {
        (self.sensors, self.clock, self.sdkVersion) = (sensors, clock, sdkVersion)
        state = Lock(State(phase: phase, lastCollection: clock.now))
    }

    /// The fields of `AppState`; those that the person allows now are on.
    public var declaredFields: PrivacyCatalogue { Self.fields(allowedBy: sensors.choices) }

    /// Keeps the context; the interval starts.
    public func begin(in context: TrackerContext) {
        let (now, choices) = (clock.now, sensors.choices)
        let observation = choices.observe { context.redeclare(Self.fields(allowedBy: choices)) }
        let old = state.withLock { state in
            defer { state.observation = observation }
            state.context = context
            state.lastCollection = now
            return state.observation
        }
        old?.stop()
        setTimer()
    }

    /// Ends collecting. Waiting collections are lost, because the instrument ignores events of a removed tracker:
    /// enter `terminating` before a shutdown.
    public func end() {
        let observation = state.withLock { state in
            defer { state.observation = nil }
            state.context = nil
            return state.observation
        }
        observation?.stop()
        finishPending()
        setTimer()
    }

    /// Records the app's phase; memory pressure and sleep of the machine have no effect.
    public func enter(_ phase: LifecyclePhase) {
        if phase == .memoryPressure || phase == .resumed { return }
        let isPaused = state.withLock { state in
            state.phase = phase
            return state.isPaused
        }
        if phase.isBackground {
            finishPending()
            sensors.suspend()
        } else {
            if !isPaused { sensors.resume() }
            if phase == .active { collectIfAllowed() }
        }
        setTimer()
    }

    /// Records the shown screens; `screens` are their titles, the outermost first.
    public func show(screens: [String]) {
        let isNew = state.withLock { state in
            defer { state.screens = screens }
            return state.screens != screens
        }
        if isNew { collectIfAllowed() }
    }

    /// Collects now, also while paused; then without starting sensors.
    public func collect() {
        begin()
        setTimer()
    }

    /// Stops timers, sensors and automatic collections until ``resume()``; keeps its state. Can be repeated.
    public func pause() {
        let isNew = state.withLock { state in
            defer { state.isPaused = true }
            return !state.isPaused
        }
        guard isNew else { return }
        finishPending()
        sensors.suspend()
        setTimer()
    }

    /// Resumes automatic collections. Can be repeated.
    public func resume() {
        let (isNew, phase) = state.withLock { state in
            defer { state.isPaused = false }
            return (state.isPaused, state.phase)
        }
        guard isNew else { return }
        if !phase.isBackground { sensors.resume() }
        setTimer()
    }

    private func collectIfAllowed() {
        let now = clock.now
        let isAllowed = state.withLock { !$0.isPaused && $0.context != nil && $0.bucket.take(at: now) }
        if isAllowed { collect() }
    }
}

extension LifecyclePhase {
    /// Whether the app is invisible.
    var isBackground: Bool { self == .background || self == .terminating }
    var applicationState: ApplicationState {
        switch self {
        case .active: .active
        case .inactive, .foreground, .memoryPressure, .resumed: .inactive
        case .background, .terminating: .background
        }
    }
}
