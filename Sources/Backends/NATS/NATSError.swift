/// The reason why a NATS backend cannot be created.
public struct NATSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error; the set is open.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The spelling.
        public let description: String

        /// Creates a kind.
        package init(_ description: String) { self.description = description }

        /// The text of an endpoint cannot be read.
        public static let invalidEndpoint = Code("invalid endpoint")
        /// The credentials are in none of the formats that NATS has.
        public static let invalidCredentials = Code("invalid credentials")
        /// A file of TLS cannot be read.
        public static let invalidCertificate = Code("invalid certificate")
    }

    /// The kind of the error.
    public let code: Code
    /// The message for people; it contains no secrets.
    public let description: String

    /// Creates an error.
    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
