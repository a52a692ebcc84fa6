internal import Instrument

/// Sends each response once to every listener.
final class SeerResponses: Sendable {
    private struct Weak { weak var delegate: (any SeerDelegate)? }

    private struct State {
        var delegate = Weak()
        var observers: [Int: @Sendable (SeerResponse) -> Void] = [:]
        var streams: [Int: AsyncStream<SeerResponse>.Continuation] = [:]
        var nextNumber = 0
    }

    private let state = Lock(State())

    func set(delegate: (any SeerDelegate)?) { state.withLock { $0.delegate = Weak(delegate: delegate) } }
    var delegate: (any SeerDelegate)? { state.withLock { $0.delegate.delegate } }

    func tell(_ response: SeerResponse, _ completion: (@Sendable (SeerResponse) -> Void)? = nil) {
        let (delegate, observers, streams) = state.withLock { state in
            (state.delegate.delegate, Array(state.observers.values), Array(state.streams.values))
        }
        completion?(response)
        delegate?.seerDidRespond(response)
        for observer in observers { observer(response) }
        for stream in streams { stream.yield(response) }
    }

    func observe(_ handler: @escaping @Sendable (SeerResponse) -> Void) -> SeerObservation {
        let number = state.withLock { state in
            state.nextNumber += 1
            state.observers[state.nextNumber] = handler
            return state.nextNumber
        }
        return SeerObservation { [weak self] in self?.state.withLock { $0.observers[number] = nil } }
    }

    func stream() -> AsyncStream<SeerResponse> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SeerResponse.self,
            bufferingPolicy: .bufferingNewest(1000)
        )
        let number = state.withLock { state in
            state.nextNumber += 1
            state.streams[state.nextNumber] = continuation
            return state.nextNumber
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.streams.removeValue(forKey: number) }
        }
        return stream
    }

    func end() {
        let streams = state.withLock { state in
            defer { state.streams = [:] }
            return Array(state.streams.values)
        }
        for stream in streams { stream.finish() }
    }
}

/// Receives the results of all requests of a client.
public protocol SeerDelegate: AnyObject, Sendable {
    /// Called once per response, on a thread of the client or of the call; must return quickly.
    func seerDidRespond(_ response: SeerResponse)
}

/// A registration for responses, which ends when it is cancelled or released.
public final class SeerObservation: Sendable {
    private let onCancel: @Sendable () -> Void
    init(_ onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }
    deinit { onCancel() }
    /// Ends the registration.
    public func cancel() { onCancel() }
}
