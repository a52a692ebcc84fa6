/// Sends a request and returns the response.
///
/// ```swift
/// let transport: any HTTPTransport = try SystemTransport()
/// let url = try HTTPURL("https://collector.example/samples")
/// let response = try await transport.send(HTTPRequest(.post, url, body: bytes))
/// ```
public protocol HTTPTransport: Sendable {
    /// Sends a request; safe from any task and thread, for many requests at a time, and blocks none.
    ///
    /// Any status is a response. When the task is cancelled it throws at once; whether the server has seen the request is
    /// then unknown, as it is after every error but those that come before a connection.
    /// - Throws: ``HTTPError``, which names no secrets.
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse
}

#if canImport(Darwin)
/// The platform's transport.
public typealias SystemTransport = URLSessionTransport
#else
/// The platform's transport.
public typealias SystemTransport = CurlTransport
#endif
