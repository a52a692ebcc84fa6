/// A model that threads change in turn, and a listener that receives its signals in the order of the changes, one at a
/// time.
///
/// A listener may change the model, or end the listening, while it is called: what follows is delivered after its
/// return.
package final class SignalOutlet<Model: Sendable, Signal: Sendable>: Sendable {
    private struct State {
        var model: Model
        var listener: (@Sendable (Signal) -> Void)?
        /// Counts listeners, so that what was observed for an earlier one is ignored.
        var epoch = 0
        var outbox: [Signal] = []
        var isDelivering = false
    }

    private let makeModel: @Sendable () -> Model
    private let state: Lock<State>

    /// Creates an outlet without a listener.
    package init(_ makeModel: @escaping @Sendable () -> Model) {
        self.makeModel = makeModel
        state = Lock(State(model: makeModel()))
    }

    /// Delivers to `listener` from now on, from a new model; nil delivers to nobody.
    ///
    /// - Returns: the number of the listening, for ``change(in:_:)``.
    package func listen(_ listener: (@Sendable (Signal) -> Void)?) -> Int {
        let model = makeModel()
        return state.withLock { state in
            state.epoch += 1
            (state.model, state.listener, state.outbox) = (model, listener, [])
            return state.epoch
        }
    }

    /// Whether a listening is the present one.
    package func isCurrent(_ epoch: Int) -> Bool { state.withLock { $0.epoch == epoch } }

    /// Reads something from the model.
    package func read<Value: Sendable>(_ body: (Model) -> Value) -> Value { state.withLock { body($0.model) } }

    /// Changes the model and delivers the signals that `body` returns, unless the listening has ended; nil: of any
    /// listening.
    ///
    /// - Returns: whether the model was changed.
    @discardableResult
    package func change(in epoch: Int? = nil, _ body: (inout Model) -> [Signal]) -> Bool {
        let isChanged = state.withLock { state in
            if let epoch, state.epoch != epoch { return false }
            let signals = body(&state.model)
            if state.listener != nil { state.outbox += signals }
            return true
        }
        if isChanged { deliver() }
        return isChanged
    }

    /// One thread delivers; what other threads or the listener add meanwhile follows in order.
    private func deliver() {
        while true {
            let next = state.withLock { state -> (@Sendable (Signal) -> Void, Signal)? in
                guard !state.isDelivering, let listener = state.listener, !state.outbox.isEmpty else { return nil }
                state.isDelivering = true
                return (listener, state.outbox.removeFirst())
            }
            guard let (listener, signal) = next else { return }
            listener(signal)
            state.withLock { $0.isDelivering = false }
        }
    }
}
