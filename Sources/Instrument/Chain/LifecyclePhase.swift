/// A phase of the lifecycle of the app or process.
public enum LifecyclePhase: String, Hashable, Sendable, CaseIterable {
    /// The app runs, and a person may use it.
    case active
    /// The app runs, and is temporarily inactive.
    case inactive
    /// The app became visible.
    case foreground
    /// The app is about to be stopped or hidden; there may be time only for a flush.
    case background
    /// The app is about to end.
    case terminating
    /// Memory pressure.
    case memoryPressure
    /// The machine resumed from sleep.
    case resumed
}

/// An observer of the app's lifecycle, for example a collector.
///
/// A lifecycle tracker (`LifecycleTracker(_:flushing:telling:)` in InstrumentTrackers) or the app notifies it.
public protocol LifecycleObserver: AnyObject, Sendable {
    /// The app entered `phase`. Called on the thread of the source. Before a stop or the end, the queue is flushed
    /// once this method returns, so emit here everything that must be delivered by then.
    func enter(_ phase: LifecyclePhase)
}
