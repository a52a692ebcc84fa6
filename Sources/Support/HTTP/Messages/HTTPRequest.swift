/// A request. Its description shows neither secrets nor the body.
public struct HTTPRequest: Hashable, Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The address. Its user and password become an `Authorization` header, unless the request has one.
    public var url: HTTPURL
    /// The headers. The transport adds the headers that frame a message and control the connection; it refuses a
    /// request that sets them.
    public var headers: HTTPHeaders
    /// Its body; nothing says of what kind it is but a `Content-Type` header.
    public var body: [UInt8]
    /// The time limit, including redirects and the wait for a free connection.
    public var timeout: Duration
    /// The time limit of name lookup, connection and TLS handshake together.
    public var connectTimeout: Duration
    /// The largest size of the response's body in bytes. A larger body aborts the transfer.
    public var maxResponseBytes: Int
    /// The handling of redirects.
    public var redirects: RedirectRule

    /// Whether the request goes over a new connection, which other requests may use afterwards: for a client that
    /// measures what a first visit costs. Apple's transport takes no notice.
    package var needsFreshConnection = false
    /// The names of headers that do not go to another origin when a redirect is followed.
    package var headersOfOrigin: [String] = []
    /// Whether the transport decodes the body, and which codings the request names.
    package var decoding: ContentDecoding = .none
    /// The cookies of the client that sends the request; nil for a request without cookies.
    package var cookies: CookieJar?
    /// The response comes no faster than this; nil sets no limit. Apple's transport takes no notice.
    package var maxBytesPerSecond: Int?

    /// Creates a request; by default with 30 s in all, 10 s to connect, a response of 1 MiB and no redirects.
    public init(
        _ method: HTTPMethod = .get,
        _ url: HTTPURL,
        headers: HTTPHeaders = HTTPHeaders(),
        body: [UInt8] = [],
        timeout: Duration = .seconds(30),
        connectTimeout: Duration = .seconds(10),
        maxResponseBytes: Int = 1 << 20,
        redirects: RedirectRule = .never
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.connectTimeout = connectTimeout
        self.maxResponseBytes = maxResponseBytes
        self.redirects = redirects
    }

    /// Whether anything in it is meant for its origin alone.
    var hasCredentials: Bool {
        url.userInfo != nil || headers.fields.contains { $0.isSecret && !headersOfOrigin.contains($0.name) }
    }
}

extension HTTPRequest: CustomStringConvertible, CustomReflectable {
    /// Method, redacted address, headers without secret values and the body's size.
    public var description: String {
        "\(method) \(url)" + (headers.fields.isEmpty ? "" : " [\(headers)]")
            + (body.isEmpty ? "" : " \(body.count) bytes")
    }
    /// Shows nothing more than the description, so that `dump` gives no secret away.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
