public import Instrument
public import InstrumentTrackers

/// An app's lifecycle under the control of a test.
///
/// ```swift
/// let life = ScriptedLifecycle()
/// instrument.add(LifecycleTracker(life, flushing: instrument.queue))
/// life.enter(.background)
/// ```
public final class ScriptedLifecycle: LifecycleSource {
    private let observer = Lock<(@Sendable (LifecycleNotice) -> Void)?>(nil)

    /// Creates a lifecycle without events.
    public init() {}

    /// Whether an observer is registered.
    public var isObserved: Bool { observer.withLock { $0 != nil } }

    /// Reports to `observer`.
    public func report(to observer: (@Sendable (LifecycleNotice) -> Void)?) { self.observer.withLock { $0 = observer } }

    /// Changes the phase; returns once the observer has returned. It may block: do not call it from a task if
    /// it causes a flush.
    public func enter(_ phase: LifecyclePhase, attributes: Attributes = Attributes()) {
        observer.withLock { $0 }?(LifecycleNotice(phase, attributes: attributes))
    }
}
