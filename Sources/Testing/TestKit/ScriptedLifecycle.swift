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
    private struct State {
        var observer: (@Sendable (LifecycleNotice) -> Void)?
    }

    private let state = Lock(State())

    /// Creates a lifecycle without events.
    public init() {}

    /// Whether an observer is registered.
    public var isObserved: Bool { state.withLock { $0.observer != nil } }

    /// Reports to `observer`.
    public func report(to observer: (@Sendable (LifecycleNotice) -> Void)?) {
        state.withLock { $0.observer = observer }
    }

    /// Changes the phase; returns once the observer has returned. It may block: do not call it from a task if
    /// it causes a flush.
    public func enter(_ phase: LifecyclePhase, attributes: Attributes = Attributes()) {
        state.withLock { $0.observer }?(LifecycleNotice(phase, attributes: attributes))
    }
}
