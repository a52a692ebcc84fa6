#if ServiceLifecycle || Everything
internal import Dispatch
internal import Instrument
internal import InstrumentTrackers

/// The app's life as a service sees it: active while it is observed, terminating once.
final class ServiceLifecycleSource: LifecycleSource {
    private struct State {
        var observer: (@Sendable (LifecycleNotice) -> Void)?
    }

    private let state = Lock(State())
    /// A flush blocks, and may not block a thread that tasks share.
    private let queue = DispatchQueue(label: "instrument.service")

    /// Reports to `observer`, beginning with ``LifecyclePhase/active``.
    func report(to observer: (@Sendable (LifecycleNotice) -> Void)?) {
        state.withLock { $0.observer = observer }
        if let observer { observer(LifecycleNotice(.active)) }
    }

    /// Reports the end; returns when the observer has. Cancellation does not shorten it.
    func terminate() async {
        guard let observer = state.withLock({ $0.observer }) else { return }
        await withCheckedContinuation { continuation in
            queue.async {
                observer(LifecycleNotice(.terminating))
                continuation.resume()
            }
        }
    }
}
#endif
