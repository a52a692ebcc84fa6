/// A response with any status. Its description shows neither secrets nor the body.
public struct HTTPResponse: Hashable, Sendable {
    /// The status: 200 to 599, or any other number of a server.
    public var status: Int
    /// The headers of the final response.
    public var headers: HTTPHeaders
    /// The body.
    public var body: [UInt8]
    /// The address after redirects.
    public var url: HTTPURL
    /// The timings of the request.
    public var timings: HTTPTimings
    /// The number of redirects that were followed.
    public var redirectCount: Int
    /// The protocol: `1.0`, `1.1`, `2`, `3`; empty if unknown.
    public var version: String
    /// The server's address; nil if unknown.
    public var remoteAddress: String?
    /// The size of the body as the server sent it, in bytes, if the transport has decoded the body; nil otherwise.
    package var encodedByteCount: Int?

    /// Creates a response, as tests and other transports do.
    public init(
        status: Int,
        headers: HTTPHeaders = HTTPHeaders(),
        body: [UInt8] = [],
        url: HTTPURL,
        timings: HTTPTimings = HTTPTimings(),
        redirectCount: Int = 0,
        version: String = "",
        remoteAddress: String? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
        self.timings = timings
        self.redirectCount = redirectCount
        self.version = version
        self.remoteAddress = remoteAddress
    }
}

extension HTTPResponse {
    /// Whether the status is one of success (2xx, RFC 9110 section 15.3).
    public var isSuccess: Bool { 200..<300 ~= status }
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    /// Status, redacted address and the body's size.
    public var description: String { "\(status) from \(url), \(body.count) bytes" }
    /// Shows nothing more than the description, so that `dump` gives no secret away.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The timings of a request. The three parts of connecting are those of the last request of a chain of redirects, and
/// nil where there was no such part: a connection that stood already, an address instead of a name, no TLS.
public struct HTTPTimings: Hashable, Sendable {
    /// Looking up the name.
    public var nameLookup: Duration?
    /// Connecting.
    public var connect: Duration?
    /// Agreeing on TLS.
    public var tls: Duration?
    /// From the beginning to the first byte of the final response.
    public var firstByte: Duration
    /// From the beginning to the last byte of the final response.
    public var total: Duration

    /// Creates timings.
    public init(
        nameLookup: Duration? = nil,
        connect: Duration? = nil,
        tls: Duration? = nil,
        firstByte: Duration = .zero,
        total: Duration = .zero
    ) {
        self.nameLookup = nameLookup
        self.connect = connect
        self.tls = tls
        self.firstByte = firstByte
        self.total = total
    }
}
