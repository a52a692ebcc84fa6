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
    /// Any status is a response. The transports of this package compare a response of status 206 with the `Range` of
    /// its request, and throw if the response has other bytes, or bytes of a body with a content coding.
    ///
    /// When the task is cancelled it throws at once; whether the server has seen the request is then unknown, as it is
    /// after every error but those that come before a connection.
    /// - Throws: ``HTTPError``, which names no secrets.
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse

    /// Sends a request, and passes the body of a successful response (status 2xx) on in pieces as they arrive.
    ///
    /// The response then has an empty body; that of any other status has its own. `maxResponseBytes` holds for both.
    /// - Parameters:
    ///   - request: the request to send.
    ///   - receive: takes bytes, in order, one call at a time, on the transport's thread, which it must not block: all
    ///     requests share it. Not called after this method has returned or thrown, except for one call that may run
    ///     when the task is cancelled.
    /// - Throws: ``HTTPError``, which names no secrets; what was received before stays received.
    func send(
        _ request: HTTPRequest,
        receiving receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws(HTTPError) -> HTTPResponse

    /// Sends a request as ``send(_:receiving:)`` does, and tells the size of the body before its first piece.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - expect: takes the number of bytes that the server has announced. Called once at most, before `receive`, and
    ///     not at all if the server announces no size or that of an encoded body, or the transport does not tell. The
    ///     server may be wrong: reserve memory within limits.
    ///   - receive: takes the pieces.
    /// - Throws: ``HTTPError``, which names no secrets; what was received before stays received.
    func send(
        _ request: HTTPRequest,
        expecting expect: @escaping @Sendable (Int) -> Void,
        receiving receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws(HTTPError) -> HTTPResponse
}

/// A transport that needs no task for a request: for a caller with thousands of them.
package protocol StartingTransport: HTTPTransport {
    /// Starts a request as ``HTTPTransport/send(_:expecting:receiving:)`` sends it, and returns at once.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - expect: takes the announced size of the body.
    ///   - receive: takes the pieces of the body.
    ///   - ended: takes the response once, on the transport's thread, which it must not block, or before this method
    ///     returns. Not called after a cancellation, except for one call that may run at that moment.
    /// - Returns: what cancels the request, from any thread.
    func start(
        _ request: HTTPRequest,
        expecting expect: @escaping @Sendable (Int) -> Void,
        receiving receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void,
        ended: @escaping @Sendable (Result<HTTPResponse, HTTPError>) -> Void
    ) -> @Sendable () -> Void
}

extension HTTPTransport {
    /// For transports that know no pieces: all of the body is one.
    public func send(
        _ request: HTTPRequest,
        receiving receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws(HTTPError) -> HTTPResponse {
        var response = try await send(request)
        guard response.isSuccess else { return response }
        response.body.withUnsafeBytes { receive($0) }
        response.body = []
        return response
    }

    /// For transports that do not tell the size of a body in advance.
    public func send(
        _ request: HTTPRequest,
        expecting expect: @escaping @Sendable (Int) -> Void,
        receiving receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws(HTTPError) -> HTTPResponse {
        try await send(request, receiving: receive)
    }
}
