#if canImport(Darwin)
public import InstrumentHTTP
internal import Foundation
internal import Instrument

/// The transport over URLSession, which follows no redirect by itself, keeps no cookie and caches nothing.
///
/// An additional file of certificates is not supported here: Apple platforms keep such trust in the system.
public final class URLSessionTransport: HTTPTransport {
    private let configuration: TransportConfiguration
    private let session: URLSession

    /// Creates a transport. Opens no connection.
    /// - Throws: `HTTPError` with the code `configuration` if there is an additional file of certificates.
    public init(_ configuration: TransportConfiguration = TransportConfiguration()) throws(HTTPError) {
        guard configuration.additionalCAFile == nil else {
            throw HTTPError(
                .configuration,
                "this platform takes additional certificates from the system's keychain only; install them there"
            )
        }
        guard configuration.allowsPrivateAddresses else {
            throw HTTPError(.configuration, "URLSession cannot refuse private addresses; allow them")
        }
        self.configuration = configuration
        let settings = URLSessionConfiguration.ephemeral
        settings.httpShouldSetCookies = false
        settings.httpCookieStorage = nil
        settings.urlCredentialStorage = nil
        settings.urlCache = nil
        settings.httpMaximumConnectionsPerHost = configuration.maxConnectionsPerHost
        settings.tlsMinimumSupportedProtocolVersion = .TLSv12
        if configuration.proxy == .none { settings.connectionProxyDictionary = [:] }
        session = URLSession(configuration: settings)
    }

    deinit { session.invalidateAndCancel() }

    /// URLSession uses HTTP/3 where a server offers it.
    static var supportsHTTP3: Bool { true }

    /// Ends requests in flight and later requests with an error; returns at once, safe from any thread.
    public func shutDown() { session.invalidateAndCancel() }

    /// Sends a request; safe from any task and thread, for many requests at a time, and blocks none.
    public func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let (session, configuration) = (session, configuration)
        return try await request.following { request throws(HTTPError) in
            try await Self.perform(request.prepared(configuration), in: session)
        }
    }

    private static func perform(_ request: HTTPRequest, in session: URLSession) async throws(HTTPError) -> HTTPResponse
    {
        guard let url = URL(string: request.url.requestText) else { throw HTTPURL.invalid("is no URL to Foundation") }
        var foreign = URLRequest(url: url, timeoutInterval: request.timeout.seconds)
        foreign.httpMethod = request.method.description
        foreign.httpBody = request.body.isEmpty ? nil : Data(request.body)
        for field in request.headers.fields { foreign.addValue(field.value, forHTTPHeaderField: field.name) }
        let observer = TaskObserver()
        let start = SystemClock().now
        let result: Result<HTTPResponse, HTTPError>
        do {
            let (bytes, answer) = try await session.bytes(for: foreign, delegate: observer)
            result = await read(bytes, answer, request, observer, start)
        } catch {
            result = .failure(HTTPError(error, request.url, status: nil))
        }
        return try result.get()
    }

    private static func read(
        _ bytes: URLSession.AsyncBytes,
        _ answer: URLResponse,
        _ request: HTTPRequest,
        _ observer: TaskObserver,
        _ start: MonotonicInstant
    ) async -> Result<HTTPResponse, HTTPError> {
        guard let head = answer as? HTTPURLResponse else {
            return .failure(
                HTTPError(
                    .malformedResponse,
                    "the response is not HTTP; check that the address is an HTTP server",
                    url: request.url
                )
            )
        }
        let firstByte = start.duration(to: SystemClock().now)
        let tooLate = start.advanced(by: request.timeout)
        var body: [UInt8] = []
        do {
            for try await byte in bytes {
                guard body.count < request.maxResponseBytes else {
                    bytes.task.cancel()
                    let message = "the response has more than \(request.maxResponseBytes) bytes; allow more"
                    let error = HTTPError(.responseTooLarge, message, url: request.url, status: head.statusCode)
                    return .failure(error)
                }
                // URLSession's own timeout restarts with each piece.
                if body.count % 4096 == 0, SystemClock().now > tooLate {
                    bytes.task.cancel()
                    return .failure(.timedOut(request.url, status: head.statusCode))
                }
                body.append(byte)
            }
        } catch {
            return .failure(HTTPError(error, request.url, status: head.statusCode))
        }
        var response = HTTPResponse(status: head.statusCode, body: body, url: request.url)
        for (name, value) in head.allHeaderFields {
            if let name = name as? String, let value = value as? String { response.headers.append(name, value) }
        }
        observer.complete(&response)
        response.timings.firstByte = firstByte
        response.timings.total = start.duration(to: SystemClock().now)
        return .success(response)
    }
}

/// Keeps URLSession from following redirects and remembers what it measured.
private final class TaskObserver: NSObject, URLSessionTaskDelegate {
    private let metrics = Lock<URLSessionTaskTransactionMetrics?>(nil)

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? { nil }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        let last = metrics.transactionMetrics.last
        self.metrics.withLock { $0 = last }
    }

    /// Adds the known facts about the connection.
    func complete(_ response: inout HTTPResponse) {
        guard let metrics = metrics.withLock({ $0 }) else { return }
        response.remoteAddress = metrics.remoteAddress
        response.version = Self.version(metrics.networkProtocolName ?? "")
        response.timings.nameLookup = Self.time(metrics.domainLookupStartDate, metrics.domainLookupEndDate)
        response.timings.tls = Self.time(metrics.secureConnectionStartDate, metrics.secureConnectionEndDate)
        let connected = metrics.secureConnectionStartDate ?? metrics.connectEndDate
        response.timings.connect = Self.time(metrics.connectStartDate, connected)
    }

    private static func time(_ start: Date?, _ end: Date?) -> Duration? {
        guard let start, let end else { return nil }
        return .seconds(max(0, end.timeIntervalSince(start)))
    }

    private static func version(_ name: String) -> String {
        switch name {
        case "h2": "2"
        case "h3": "3"
        default: name.hasPrefix("http/") ? String(name.dropFirst(5)) : ""
        }
    }
}

extension HTTPError {
    fileprivate init(_ error: any Error, _ url: HTTPURL, status: Int?) {
        if error is CancellationError {
            self = .cancelled(url)
            return
        }
        let number = (error as? URLError)?.code
        switch number {
        case .cancelled: self = .cancelled(url)
        case .timedOut: self = .timedOut(url, status: status, underlyingCode: number?.rawValue)
        default:
            let (code, message) = Self.meaning(of: number)
            self.init(code, message, url: url, status: status, underlyingCode: number?.rawValue)
        }
    }

    private static func meaning(of number: URLError.Code?) -> (Code, String) {
        switch number {
        case .cannotFindHost, .dnsLookupFailed:
            (.nameNotFound, "the name is not known; check it, and whether there is a network")
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            (.tls, "TLS was not accepted; check the server's certificate and the time of this machine")
        case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData:
            (.malformedResponse, "what came is no response; is it an HTTP server?")
        case .badURL, .unsupportedURL: (.invalidURL, "the address cannot be used; correct it")
        default: (.connection, "there was no connection, or it broke off; try again later")
        }
    }
}
#endif
