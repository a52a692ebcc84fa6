public import InstrumentHTTP

/// The destination of events: an address in which `%@` stands for the account.
public struct SiftEndpoint: Hashable, Sendable, CustomStringConvertible {
    private static let placeholder = "%@"
    private static let path = "/v3/accounts/%@/mobile_events"

    /// Sift's own.
    public static let sift = SiftEndpoint(checked: "https://api3.siftscience.com" + path)

    /// The address with its placeholder.
    package let format: String

    private init(checked format: String) { self.format = format }

    /// Creates an endpoint from an address with one `%@`.
    /// - Throws: `HTTPError` with the code `invalidURL` if the placeholder is missing, or the result is not a valid
    ///   address.
    public init(format: String) throws(HTTPError) {
        guard format.split(separator: Self.placeholder, omittingEmptySubsequences: false).count == 2 else {
            throw HTTPError(
                .invalidURL,
                "an endpoint must contain the placeholder %@ exactly once, in place of the account"
            )
        }
        self.format = format
        _ = try url(encodedAccount: "account")
    }

    /// Creates an endpoint for another host, `https://host` or `https://host:port`, with Sift's own path.
    /// - Throws: `HTTPError` with the code `invalidURL`.
    public init(origin: String) throws(HTTPError) {
        self = try SiftEndpoint(format: HTTPURL(origin).origin + Self.path)
    }

    /// Scheme and host; parts of the address that may hold secrets are hidden.
    public var description: String { (try? url(encodedAccount: "account").origin) ?? "endpoint" }

    func url(encodedAccount: String) throws(HTTPError) -> HTTPURL {
        try HTTPURL(format.replacing(Self.placeholder, with: encodedAccount, maxReplacements: 1))
    }
}
