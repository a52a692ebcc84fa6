// `URLSESSION_CHECK` compiles this transport on Linux, to test it there (`Tests/AppleStubs`).
#if canImport(Darwin) || URLSESSION_CHECK
public import InstrumentHTTP
internal import Foundation
internal import Instrument
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The transport over URLSession, which follows no redirect by itself, keeps no cookie and caches nothing.
///
/// An additional file of certificates is not supported here: Apple platforms keep such trust in the system. URLSession
/// decodes compressed bodies itself, and takes no notice of a request's `connectTimeout`, `needsFreshConnection` and
/// `maxBytesPerSecond`.
public final class URLSessionTransport: HTTPTransport {
    private let configuration: TransportConfiguration
    private let tasks: URLSessionTasks

    /// Creates a transport. Opens no connection.
    /// - Throws: `HTTPError` with the code `configuration` if there is an additional file of certificates or the
    ///   address of a proxy, or if private addresses are to be refused.
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
        guard configuration.proxyAddress == nil else {
            throw HTTPError(.configuration, "URLSession takes a proxy from the system only; set it there")
        }
        self.configuration = configuration
        let settings = URLSessionConfiguration.ephemeral
        settings.httpShouldSetCookies = false
        settings.httpCookieStorage = nil
        settings.urlCredentialStorage = nil
        settings.urlCache = nil
        settings.httpMaximumConnectionsPerHost = configuration.maxConnectionsPerHost
        #if canImport(Darwin)
        settings.tlsMinimumSupportedProtocolVersion = .TLSv12
        #endif
        if configuration.proxy == .none { settings.connectionProxyDictionary = [:] }
        tasks = URLSessionTasks(settings)
    }

    deinit { tasks.shutDown() }

    /// URLSession decodes these itself.
    static let supportedCodings = ContentCoding.allCases

    /// URLSession uses HTTP/3 where a server offers it.
    static var supportsHTTP3: Bool { true }

    /// Ends requests in flight and later requests with the error `cancelled`; returns at once, safe from any thread.
    public func shutDown() { tasks.shutDown() }

    /// Sends a request; safe from any task and thread, for many requests at a time, and blocks none.
    public func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await send(request, to: nil)
    }

    /// Sends a request and hands its successful body over as it comes, on a thread of the transport.
    public func send(
        _ request: HTTPRequest,
        receiving receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws(HTTPError) -> HTTPResponse {
        try await send(request, to: Receiver(receive: receive))
    }

    /// Sends a request, tells the announced size of its successful body, and hands that over as it comes, on a thread
    /// of the transport.
    public func send(
        _ request: HTTPRequest,
        expecting expect: @escaping @Sendable (Int) -> Void,
        receiving receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws(HTTPError) -> HTTPResponse {
        try await send(request, to: Receiver(expect: expect, receive: receive))
    }

    private func send(_ request: HTTPRequest, to receiver: Receiver?) async throws(HTTPError) -> HTTPResponse {
        let (tasks, configuration) = (tasks, configuration)
        return try await request.following { request throws(HTTPError) in
            try await tasks.perform(request.prepared(configuration), receiver)
        }
    }
}
#endif
