public import Instrument
public import InstrumentTrackers

/// An app's life as a test says it.
///
/// ```swift
/// let life = ScriptedLifecycle()
/// instrument.add(LifecycleTracker(life, flushing: instrument.queue))
/// life.enter(.background)
/// ```
public final class ScriptedLifecycle: LifecycleSource {
    private let observer = Lock<(@Sendable (LifecycleNotice) -> Void)?>(nil)

    /// Creates a life in which nothing has happened.
    public init() {}

    /// Whether anybody listens.
    public var isObserved: Bool { observer.withLock { $0 != nil } }

    /// Reports to `observer`.
    public func report(to observer: (@Sendable (LifecycleNotice) -> Void)?) { self.observer.withLock { $0 = observer } }

    /// Lets something happen; returns once the observer has. It may block: do not call it from a task if a flush belongs to it.
    public func enter(_ phase: LifecyclePhase, attributes: Attributes = Attributes()) {
        observer.withLock { $0 }?(LifecycleNotice(phase, attributes: attributes))
    }
}
