public import Instrument

/// Reports what the app and its surroundings are like, as `Action.appState`.
///
/// - When the app becomes active and when another screen is shown, at most 30 times in 60 s;
/// - every 120 s while the app is not in the background and nothing else was collected;
/// - on ``collect()``, without a limit.
///
/// In the foreground the sensors are started first, and the event is emitted after 4 s, or 5.1 s with motion; in the background it
/// is emitted at once, without starting any. The event's time is when the collection began. When the app leaves the foreground,
/// ends, or the collector is paused, collections that wait are emitted at once with what there is.
///
/// ```swift
/// let collector = AppStateCollector(sensors: .linux())
/// instrument.add(collector)
/// collector.enter(.active)
/// collector.show(screens: ["Library"])
/// ```
///
/// A lifecycle tracker (InstrumentTrackers) tells it the phases, and flushes what it emits then:
///
/// ```swift
/// instrument.add(LifecycleTracker(signals, flushing: instrument.queue, telling: [collector]))
/// ```
///
/// What the person allows (``SensorChoices``) is whether its fields are on in the instrument's privacy catalogue.
///
/// Safe from any thread. Times are the injected clock's.
public final class AppStateCollector: Tracker, LifecycleObserver {
    /// Nothing is collected by itself sooner than this after the last time.
    public static let interval = Duration.seconds(120)
    /// How long sensors run before an event is emitted.
    public static let wait = Duration.seconds(4)
    /// The same when motion is collected.
    public static let waitWithMotion = Duration.milliseconds(5100)

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

    /// What was so when a collection began.
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

    /// Creates a collector; it begins once it is added to an instrument.
    ///
    /// - Parameters:
    ///   - sensors: what is read. Motion is read if the person's choices allow it.
    ///   - phase: what the app does now.
    ///   - sdkVersion: what `sdkVersion` says.
    ///   - clock: times everything.
    public init(
        sensors: Sensors,
        phase: LifecyclePhase = .foreground,
        sdkVersion: String? = nil,
        clock: any SchedulingClock = SystemClock()
    ) {
        (self.sensors, self.clock, self.sdkVersion) = (sensors, clock, sdkVersion)
        state = Lock(State(phase: phase, lastCollection: clock.now))
    }

    /// Those of `AppState`; on is what the person allows now.
    public var declaredFields: PrivacyCatalogue { Self.fields(allowedBy: sensors.choices) }

    /// Keeps the way to the instrument; the interval begins.
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

    /// Collects nothing any more. What waits is lost, because a removed tracker's events go nowhere: before a shutdown,
    /// enter `terminating`.
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

    /// The app changes what it does; that memory is short or the machine slept changes nothing.
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

    /// Other screens are shown; `screens` are their titles, the outermost first.
    public func show(screens: [String]) {
        let isNew = state.withLock { state in
            defer { state.screens = screens }
            return state.screens != screens
        }
        if isNew { collectIfAllowed() }
    }

    /// Collects now, also while paused: then without starting sensors.
    public func collect() {
        begin()
        setTimer()
    }

    /// Stops timers, sensors, and collecting by itself, until ``resume()``; keeps what it knows. Can be repeated.
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

    /// Collects by itself again. Can be repeated.
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
    /// Whether nobody sees the app.
    var isBackground: Bool { self == .background || self == .terminating }
    var applicationState: ApplicationState {
        switch self {
        case .active: .active
        case .inactive, .foreground, .memoryPressure, .resumed: .inactive
        case .background, .terminating: .background
        }
    }
}
