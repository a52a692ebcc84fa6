/// The method of a request.
public struct HTTPMethod: Hashable, Sendable, CustomStringConvertible {
    /// The spelling on the wire.
    public let description: String

    /// Creates a method; nil unless it is a token of RFC 9110 (letters, digits and some marks).
    public init?(_ spelling: String) {
        guard HTTPHeaders.isToken(spelling) else { return nil }
        description = spelling
    }

    private init(known: String) { description = known }

    /// Read.
    public static let get = HTTPMethod(known: "GET")
    /// Read the head alone.
    public static let head = HTTPMethod(known: "HEAD")
    /// Process what is sent.
    public static let post = HTTPMethod(known: "POST")
    /// Store what is sent.
    public static let put = HTTPMethod(known: "PUT")
    /// Change in part.
    public static let patch = HTTPMethod(known: "PATCH")
    /// Remove.
    public static let delete = HTTPMethod(known: "DELETE")

    /// Whether it only reads, so that nothing is lost or done twice when it is sent elsewhere.
    var isReading: Bool { self == .get || self == .head }
}
