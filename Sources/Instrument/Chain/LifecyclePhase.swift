/// What happens to the app or process as a whole.
public enum LifecyclePhase: String, Hashable, Sendable, CaseIterable {
    /// It runs, and a person may use it.
    case active
    /// It runs, and nobody uses it for the moment.
    case inactive
    /// It came back to where people see it.
    case foreground
    /// It is about to be stopped or hidden; there may be no more time than for a flush.
    case background
    /// It is about to end.
    case terminating
    /// Memory is short.
    case memoryPressure
    /// The machine slept, and is awake again.
    case resumed
}

/// Acts on what happens to the app: collectors do.
///
/// A lifecycle tracker tells it (`LifecycleTracker(_:flushing:telling:)` in InstrumentTrackers), or the app itself.
public protocol LifecycleObserver: AnyObject, Sendable {
    /// The app entered `phase`. Called on the thread of what noticed; before a stop or the end the queue is flushed
    /// once it returns, so what has to be sent by then is emitted here.
    func enter(_ phase: LifecyclePhase)
}
