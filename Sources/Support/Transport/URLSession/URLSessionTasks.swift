#if canImport(Darwin) || URLSESSION_CHECK
internal import Foundation
internal import Instrument
internal import InstrumentHTTP
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A session and the transfers of its tasks.
///
/// A task is created under the lock of ``shutDown()``: URLSession ends the process when it is asked for a task after
/// its end.
final class URLSessionTasks: Sendable {
    private let session: URLSession
    private let delegate: Delegate
    private let hasShutDown = Lock(false)
    private let clock = SystemClock()

    init(_ settings: URLSessionConfiguration) {
        delegate = Delegate()
        // URLSession makes a serial queue, and so the calls of a task come one after another.
        session = URLSession(configuration: settings, delegate: delegate, delegateQueue: nil)
    }

    /// Carries out a request and nothing more: no redirect is followed.
    func perform(_ request: HTTPRequest, _ receiver: Receiver?) async throws(HTTPError) -> HTTPResponse {
        guard let url = URL(string: request.url.requestText) else {
            throw HTTPError(.invalidURL, "the address is no URL to Foundation; correct it", url: request.url)
        }
        let exchange = Exchange(request, number: 0, receiver)
        let transfer = URLSessionTransfer(exchange, clock)
        let made = hasShutDown.withLock { hasShutDown -> URLSessionDataTask? in
            if hasShutDown { return nil }
            let task = session.dataTask(with: URLRequest(request, url))
            delegate.transfers.withLock { $0[task.taskIdentifier] = transfer }
            return task
        }
        guard let task = made else { throw .cancelled(request.url) }
        // URLSession's own limit restarts with each piece.
        let alarm = clock.schedule(at: exchange.deadline) {
            if exchange.end(.failure(.timedOut(request.url, status: transfer.status))) { task.cancel() }
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if exchange.wait({ continuation.resume(returning: $0) }) { task.resume() }
            }
        } onCancel: {
            if exchange.end(.failure(.cancelled(request.url))) { task.cancel() }
        }
        alarm.cancel()
        delegate.transfers.withLock { $0[task.taskIdentifier] = nil }
        return try outcome.get()
    }

    func shutDown() {
        let isFirst = hasShutDown.withLock { hasShutDown in
            defer { hasShutDown = true }
            return !hasShutDown
        }
        guard isFirst else { return }
        session.invalidateAndCancel()
        let transfers = delegate.transfers.withLock { Array($0.values) }
        for transfer in transfers { transfer.exchange.end(.failure(.cancelled(transfer.exchange.request.url))) }
    }

    /// Passes what URLSession reports to the transfer of the task, and keeps it from following redirects.
    private final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
        let transfers = Lock<[Int: URLSessionTransfer]>([:])

        private func transfer(of task: URLSessionTask) -> URLSessionTransfer? {
            transfers.withLock { $0[task.taskIdentifier] }
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) { completionHandler(nil) }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            completionHandler(transfer(of: dataTask)?.begin(response) == true ? .allow : .cancel)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            if transfer(of: dataTask)?.add(data) != true { dataTask.cancel() }
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didFinishCollecting metrics: URLSessionTaskMetrics
        ) { transfer(of: task)?.note(metrics) }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            transfer(of: task)?.end(error, task.response)
        }
    }
}

extension URLRequest {
    fileprivate init(_ request: HTTPRequest, _ url: URL) {
        // Longer than the request's own limit, which the transport watches.
        self.init(url: url, timeoutInterval: min(request.timeout.seconds, 1e8) + 60)
        httpMethod = request.method.description
        httpBody = request.body.isEmpty ? nil : Data(request.body)
        for field in request.headers.fields { addValue(field.value, forHTTPHeaderField: field.name) }
        // URLSession asks for codings by itself, and a byte range is one of the plain body.
        if request.headers["Range"] != nil, request.headers["Accept-Encoding"] == nil {
            setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
    }
}
#endif
