public import Instrument

/// Reports the properties of the device, as `Action.deviceProperties`, when the app becomes active, comes to the
/// foreground, goes to the background, and on ``collect()``.
///
/// A separate tracker: add it to an instrument, and pass the app's phases to it (``AppStateCollector`` has an
/// example). Backends decide which repetitions they send; Sift's sends no property again within an hour. Safe from
/// any thread.
public final class DevicePropertiesCollector: Tracker, LifecycleObserver {
    private struct State {
        var context: TrackerContext?
        var isPaused = false
    }

    /// `device`.
    public let target: String? = "device"
    /// The fields of `DeviceProperties`.
    public var declaredFields: PrivacyCatalogue { DeviceProperties.declaredFields }
    private let source: any DevicePropertiesSource
    private let clock: any SchedulingClock
    private let state = Lock(State())

    /// Creates a collector of `source`'s properties.
    public init(_ source: some DevicePropertiesSource, clock: any SchedulingClock = SystemClock()) {
        (self.source, self.clock) = (source, clock)
    }

    /// Keeps the context.
    public func begin(in context: TrackerContext) { state.withLock { $0.context = context } }
    /// Ends reporting.
    public func end() { state.withLock { $0.context = nil } }

    /// Records the app's phase.
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

    /// Stops automatic reports until ``resume()``. Can be repeated.
    public func pause() { state.withLock { $0.isPaused = true } }
    /// Resumes automatic reports. Can be repeated.
    public func resume() { state.withLock { $0.isPaused = false } }
}
