public import Instrument

/// Reports what the device is, as `Action.deviceProperties`, when the app becomes active, comes to the foreground, goes to the
/// background, and on ``collect()``.
///
/// A separate tracker: add it to an instrument, and pass the app's phases to it (``AppStateCollector`` shows
/// how). Backends decide what of it they need again; Sift's takes what it has said within an hour for said. Safe from
/// any thread.
public final class DevicePropertiesCollector: Tracker, LifecycleObserver {
    private struct State {
        var context: TrackerContext?
        var isPaused = false
    }

    /// `device`.
    public let target: String? = "device"
    /// Those of `DeviceProperties`.
    public var declaredFields: PrivacyCatalogue { DeviceProperties.declaredFields }
    private let source: any DevicePropertiesSource
    private let clock: any SchedulingClock
    private let state = Lock(State())

    /// Creates a collector of `source`'s properties.
    public init(_ source: some DevicePropertiesSource, clock: any SchedulingClock = SystemClock()) {
        (self.source, self.clock) = (source, clock)
    }

    /// Keeps the way to the instrument.
    public func begin(in context: TrackerContext) { state.withLock { $0.context = context } }
    /// Reports nothing any more.
    public func end() { state.withLock { $0.context = nil } }

    /// The app changes what it does.
    public func enter(_ phase: LifecyclePhase) {
        switch phase {
        case .active, .foreground, .background: if !state.withLock({ $0.isPaused }) { collect() }
        case .inactive, .terminating, .memoryPressure, .resumed: break
        }
    }

    /// Reports now, also while paused. Reads files on the caller's thread.
    public func collect() {
        guard let context = state.withLock({ $0.context }) else { return }
        let began = clock.now
        context.emit(.deviceProperties, at: began, attributes: source.properties().attributes)
    }

    /// Reports nothing by itself until ``resume()``. Can be repeated.
    public func pause() { state.withLock { $0.isPaused = true } }
    /// Reports by itself again. Can be repeated.
    public func resume() { state.withLock { $0.isPaused = false } }
}
