/// A request. Its description shows neither secrets nor the body.
public struct HTTPRequest: Hashable, Sendable {
    /// What it asks for.
    public var method: HTTPMethod
    /// Where to. User and password in it become an `Authorization` header, unless there is one.
    public var url: HTTPURL
    /// The headers. The transport adds the headers that frame a message and control the connection; it refuses a request
    /// that sets them.
    public var headers: HTTPHeaders
    /// Its body; nothing says of what kind it is but a `Content-Type` header.
    public var body: [UInt8]
    /// How long all of it may take, redirects and the wait for a free connection included.
    public var timeout: Duration
    /// How long looking up the name, connecting and agreeing on TLS may take together.
    public var connectTimeout: Duration
    /// The most bytes that the body of the response may have; more break the transfer off.
    public var maxResponseBytes: Int
    /// What happens when the server sends it elsewhere.
    public var redirects: RedirectRule

    /// Whether the request goes over a new connection, which other requests may use afterwards: for a client that measures what a
    /// first visit costs. Apple's transport takes no notice.
    public var needsFreshConnection = false
    /// The response comes no faster than this; nil sets no limit. Apple's transport takes no notice.
    public var maxBytesPerSecond: Int?

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
    var hasCredentials: Bool { url.userInfo != nil || headers.fields.contains { $0.isSecret } }
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
