#if !canImport(Darwin)
internal import InstrumentHTTP
internal import CCurl
internal import CTransportShim
internal import Instrument

/// Brings requests to the thread that carries them out, and wakes it.
final class CurlEngine: Sendable {
    /// Wakes the thread.
    ///
    /// Sendable: `curl_multi_wakeup`, the one call made with it outside the thread, is made for that, and is made under
    /// the engine's lock only while the handle stands in the state, from which the thread takes it before it ends it.
    struct Waker: @unchecked Sendable {
        let multi: UnsafeMutableRawPointer
        func wake() { curl_multi_wakeup(multi) }
    }

    /// The requests since the last turn of the thread.
    struct News {
        var begun: [Exchange] = []
        /// The numbers of abandoned requests.
        var abandoned: [UInt64] = []
        var isShutDown = false

        var isEmpty: Bool { begun.isEmpty && abandoned.isEmpty && !isShutDown }
    }

    private struct State {
        var news = News()
        var hasThread = false
        var isShutDown = false
        var waker: Waker?
        var nextNumber: UInt64 = 0
    }

    private let state = Lock(State())
    private let settings: CurlSettings

    init(_ settings: CurlSettings) { self.settings = settings }

    /// Carries out a request and nothing more: no redirect is followed.
    func perform(
        _ request: HTTPRequest,
        _ receiver: Receiver? = nil
    ) async throws(HTTPError) -> HTTPResponse {
        let exchange = exchange(request, receiver)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(exchange) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            abandon(exchange)
        }
        return try outcome.get()
    }

    /// Makes an exchange that has not begun.
    func exchange(_ request: HTTPRequest, _ receiver: Receiver?) -> Exchange {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        return Exchange(request, number: number, receiver)
    }

    /// Begins an exchange; its outcome comes once, on any thread.
    func begin(_ exchange: Exchange, _ learn: @escaping @Sendable (Exchange.Outcome) -> Void) {
        if exchange.wait(learn) { begin(exchange) }
    }

    func shutDown() {
        let begun = state.withLock { state in
            guard !state.isShutDown else { return [Exchange]() }
            state.isShutDown = true
            state.news.isShutDown = true
            state.waker?.wake()
            defer { state.news.begun = [] }
            return state.news.begun
        }
        for exchange in begun { exchange.end(.failure(.cancelled(exchange.request.url))) }
    }

    private func begin(_ exchange: Exchange) {
        let failure: HTTPError? = state.withLock { state in
            if state.isShutDown { return .cancelled(exchange.request.url) }
            guard startThread(&state) else {
                return HTTPError(
                    .system,
                    "cannot create the transport's thread: the process has reached its thread limit",
                    url: exchange.request.url
                )
            }
            // A thread that has news is awake or was woken for them.
            if state.news.isEmpty { state.waker?.wake() }
            state.news.begun.append(exchange)
            return nil
        }
        if let failure { exchange.end(.failure(failure)) }
    }

    /// Ends an exchange that nobody waits for any more.
    func abandon(_ exchange: Exchange) {
        guard exchange.end(.failure(.cancelled(exchange.request.url))) else { return }
        state.withLock { state in
            guard state.hasThread, !state.isShutDown else { return }
            if state.news.isEmpty { state.waker?.wake() }
            state.news.abandoned.append(exchange.number)
        }
    }

    private func startThread(_ state: inout State) -> Bool {
        if !state.hasThread { state.hasThread = CurlThread.start { [self] in run() } }
        return state.hasThread
    }

    /// The thread's life.
    private func run() {
        guard var loop = CurlLoop(settings) else { return giveUp() }
        state.withLock { $0.waker = Waker(multi: loop.multi) }
        while loop.turn(takeNews()) { loop.sleep() }
        // From here on no call wakes the loop. New transfers end at once, because only a shutdown ends the loop.
        state.withLock { $0.waker = nil }
        _ = consume loop
    }

    private func takeNews() -> News {
        state.withLock { state in
            let news = state.news
            state.news = News()
            return news
        }
    }

    /// Without memory for libcurl every request fails, and the next one tries again.
    private func giveUp() {
        let begun = state.withLock { state in
            state.hasThread = false
            defer { state.news = News() }
            return state.news.begun
        }
        for exchange in begun {
            let error = HTTPError(.system, "libcurl cannot allocate memory; free some", url: exchange.request.url)
            exchange.end(.failure(error))
        }
    }
}
#endif
