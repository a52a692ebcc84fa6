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
/// Safe from any thread. Times are the injected clock's.
public final class AppStateCollector: Tracker {
    /// Nothing is collected by itself sooner than this after the last time.
    public static let interval = Duration.seconds(120)
    /// How long sensors run before an event is emitted.
    public static let wait = Duration.seconds(4)
    /// The same when motion is collected.
    public static let waitWithMotion = Duration.milliseconds(5100)

    struct State {
        var context: TrackerContext?
        var phase: CollectorPhase
        var screens: [String] = []
        var isPaused = false
        var bucket = TokenBucket(30, every: .seconds(60))
        var lastCollection: MonotonicInstant
        var timer: ScheduledAction?
        var pending: [PendingCollection] = []
        var nextNumber = 0
    }

    /// What was so when a collection began.
    struct Beginning {
        var instant: MonotonicInstant
        var phase: CollectorPhase
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
        phase: CollectorPhase = .foreground,
        sdkVersion: String? = nil,
        clock: any SchedulingClock = SystemClock()
    ) {
        (self.sensors, self.clock, self.sdkVersion) = (sensors, clock, sdkVersion)
        state = Lock(State(phase: phase, lastCollection: clock.now))
    }

    /// Keeps the way to the instrument; the interval begins.
    public func begin(in context: TrackerContext) {
        let now = clock.now
        state.withLock { state in
            state.context = context
            state.lastCollection = now
        }
        setTimer()
    }

    /// Collects nothing any more. What waits is lost, because a removed tracker's events go nowhere: before a shutdown,
    /// enter ``CollectorPhase/terminating``.
    public func end() {
        state.withLock { $0.context = nil }
        finishPending()
        setTimer()
    }

    /// The app changes what it does.
    public func enter(_ phase: CollectorPhase) {
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

extension CollectorPhase {
    /// Whether nobody sees the app.
    var isBackground: Bool { self == .background || self == .terminating }
    var applicationState: ApplicationState {
        switch self {
        case .active: .active
        case .inactive, .foreground: .inactive
        case .background, .terminating: .background
        }
    }
}
