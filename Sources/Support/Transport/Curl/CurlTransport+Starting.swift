#if !canImport(Darwin)
internal import Instrument
package import InstrumentHTTP

extension CurlTransport: StartingTransport {
    package func start(
        _ request: HTTPRequest,
        expecting expect: @escaping @Sendable (Int) -> Void,
        receiving receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void,
        ended: @escaping @Sendable (Result<HTTPResponse, HTTPError>) -> Void
    ) -> @Sendable () -> Void {
        let request = StartedRequest(
            course: RedirectCourse(request),
            engine,
            configuration,
            Receiver(expect: expect, receive: receive),
            ended: ended
        )
        request.proceed()
        return { request.cancel() }
    }
}

/// A request without a task, through all its redirects.
private final class StartedRequest: Sendable {
    private struct State {
        var course: RedirectCourse
        /// The exchange that runs.
        var exchange: Exchange?
        var isCancelled = false
    }

    private let engine: CurlEngine
    private let configuration: TransportConfiguration
    private let receiver: Receiver
    private let ended: @Sendable (Exchange.Outcome) -> Void
    private let state: Lock<State>

    init(
        course: RedirectCourse,
        _ engine: CurlEngine,
        _ configuration: TransportConfiguration,
        _ receiver: Receiver,
        ended: @escaping @Sendable (Exchange.Outcome) -> Void
    ) {
        (self.engine, self.configuration, self.receiver, self.ended) = (engine, configuration, receiver, ended)
        state = Lock(State(course: course))
    }

    /// Sends the first request, or the one that follows a redirect.
    func proceed() {
        let next = state.withLock { state -> Result<Exchange, HTTPError>? in
            if state.isCancelled { return nil }
            do throws(HTTPError) {
                let exchange = engine.exchange(try state.course.next().prepared(configuration), receiver)
                state.exchange = exchange
                return .success(exchange)
            } catch {
                return .failure(error)
            }
        }
        switch next {
        case .success(let exchange)?: engine.begin(exchange) { [self] in take($0) }
        case .failure(let error)?: ended(.failure(error))
        case nil: break
        }
    }

    func cancel() {
        let exchange = state.withLock { state in
            state.isCancelled = true
            return state.exchange
        }
        if let exchange { engine.abandon(exchange) }
    }

    private func take(_ outcome: Exchange.Outcome) {
        let last = state.withLock { state -> Exchange.Outcome? in
            state.exchange = nil
            guard !state.isCancelled else { return outcome }
            do throws(HTTPError) {
                switch outcome {
                case .success(let response): return try state.course.take(response).map { .success($0) }
                case .failure(let failure):
                    try state.course.take(failure)
                    return nil
                }
            } catch {
                return .failure(error)
            }
        }
        guard !state.withLock({ $0.isCancelled }) else { return }
        if let last { ended(last) } else { proceed() }
    }
}
#endif
