public import Instrument

/// How a transport connects.
public struct TransportConfiguration: Hashable, Sendable {
    /// Which proxy is used.
    public enum Proxy: Hashable, Sendable {
        /// No proxy, independent of the environment.
        case none
        /// The proxy of `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`; on Apple platforms the system's.
        case environment
    }

    /// Which proxy is used.
    public var proxy: Proxy
    /// The address of a proxy (`http://`, `https://`, `socks5h://`…) in place of ``proxy``; may contain a password.
    /// Apple's transport refuses such a configuration.
    package var proxyAddress: String?
    /// A file of certificates in PEM that are trusted in addition to the system's, for private servers; read once, when
    /// the transport is created. The check of certificates cannot be disabled.
    public var additionalCAFile: String?
    /// The largest number of requests to one host at a time, each of which uses at most one connection; further
    /// requests wait for their turn, within their own time limit, and delay no request to another host.
    public var maxConnectionsPerHost: Int
    /// The largest number of bytes that the body of a request may have.
    public var maxRequestBytes: Int
    /// Whether it connects to addresses that only this machine or its network can reach: loopback, private, link-local
    /// and other special ones (the registries of RFC 6890). Refuse them where addresses come from others, whose names
    /// may resolve to anything: what is looked at is the address that is connected to. A proxy's address counts, too.
    /// Not available on Apple's transport, which refuses such a configuration.
    public var allowsPrivateAddresses: Bool
    /// Whether requests over TLS try HTTP/3 first, and an earlier version where the server does not answer over QUIC.
    /// Needs a libcurl with HTTP/3 (``supportsHTTP3``). Apple's transport chooses the version itself: there the value
    /// has no effect.
    public var usesHTTP3: Bool
    /// The `User-Agent` of requests that have none.
    public var userAgent: String

    /// Whether the platform's transport can use HTTP/3, which depends on how libcurl was built.
    public static var supportsHTTP3: Bool { SystemTransport.supportsHTTP3 }

    /// Creates a configuration; by default without a proxy, with the system's certificates, 16 connections a host and
    /// requests of 64 MiB.
    public init(
        proxy: Proxy = .none,
        additionalCAFile: String? = nil,
        maxConnectionsPerHost: Int = 16,
        maxRequestBytes: Int = 64 << 20,
        allowsPrivateAddresses: Bool = true,
        usesHTTP3: Bool = false,
        userAgent: String = InstrumentVersion.userAgent()
    ) {
        self.proxy = proxy
        self.additionalCAFile = additionalCAFile
        self.maxConnectionsPerHost = max(1, maxConnectionsPerHost)
        self.maxRequestBytes = max(0, maxRequestBytes)
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.usesHTTP3 = usesHTTP3
        self.userAgent = userAgent
    }
}
