public import InstrumentHTTP

#if !canImport(Darwin)
internal import CTransportShim

/// The transport over libcurl: one thread for all requests, persistent shared connections, HTTP/2 where a server
/// offers it over TLS.
///
/// The thread starts with the first request and ends with ``shutDown()`` or when the transport is released.
/// Certificates are always verified; only http and https are supported; cookies are not kept.
public final class CurlTransport: HTTPTransport {
    let configuration: TransportConfiguration
    let engine: CurlEngine

    /// Whether the libcurl that is loaded has HTTP/3.
    static var supportsHTTP3: Bool { transport_supports_http3() }

    /// The content codings that the loaded libcurl can decode.
    static let supportedCodings: [ContentCoding] = {
        var codings: [ContentCoding] = []
        if transport_supports_gzip() { codings += [.gzip, .deflate] }
        if transport_supports_brotli() { codings.append(.brotli) }
        return codings
    }()

    /// Creates a transport; reads the file of additional certificates, if one is configured. Opens no connection.
    /// - Throws: `HTTPError` with the code `configuration`: the file cannot be used, or libcurl has no HTTP/3.
    public init(_ configuration: TransportConfiguration = TransportConfiguration()) throws(HTTPError) {
        guard !configuration.usesHTTP3 || Self.supportsHTTP3 else {
            let version = transport_library_version().map { String(cString: $0) } ?? "unknown"
            throw HTTPError(
                .configuration,
                "libcurl \(version) has no HTTP/3 here; install libcurl 7.88 or later built with HTTP/3, or use HTTP/2"
            )
        }
        self.configuration = configuration
        engine = CurlEngine(
            CurlSettings(
                configuration: configuration,
                authorities: try configuration.additionalCAFile.map(CurlAuthorities.read)
            )
        )
    }

    deinit { engine.shutDown() }

    /// Ends requests in flight and later requests with the error `cancelled`; returns at once, safe from any thread.
    public func shutDown() { engine.shutDown() }

    /// Sends a request; safe from any task and thread, for many requests at a time, and blocks none.
    public func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let (engine, configuration) = (engine, configuration)
        return try await request.following { request throws(HTTPError) in
            try await engine.perform(request.prepared(configuration))
        }
    }

    /// Sends a request and hands its successful body over as it comes, on the transport's thread.
    public func send(
        _ request: HTTPRequest,
        receiving receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws(HTTPError) -> HTTPResponse {
        let (engine, configuration) = (engine, configuration)
        return try await request.following { request throws(HTTPError) in
            try await engine.perform(request.prepared(configuration), Receiver(receive: receive))
        }
    }

    /// Sends a request, tells the announced size of its successful body, and hands that over as it comes, on the
    /// transport's thread.
    public func send(
        _ request: HTTPRequest,
        expecting expect: @escaping @Sendable (Int) -> Void,
        receiving receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws(HTTPError) -> HTTPResponse {
        let (engine, configuration) = (engine, configuration)
        return try await request.following { request throws(HTTPError) in
            try await engine.perform(request.prepared(configuration), Receiver(expect: expect, receive: receive))
        }
    }
}
#endif
