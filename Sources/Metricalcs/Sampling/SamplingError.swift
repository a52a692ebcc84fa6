/// The reason why a sampling configuration was not applied; the configuration before it remains in force.
public struct SamplingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of the reason; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String

        /// Creates a code.
        package init(_ description: String) { self.description = description }

        /// The document does not have the form of a configuration.
        public static let invalid = Code("invalid")
        /// A key is set, and the document is not signed.
        public static let unsigned = Code("unsigned")
        /// The signature is not that of the document.
        public static let wrongSignature = Code("wrongSignature")
        /// The document is older than the configuration in force.
        public static let outdated = Code("outdated")
        /// The file or the address could not be read.
        public static let unreachable = Code("unreachable")
        /// The address is not trusted: set a key, or use `https` and list the host.
        public static let untrusted = Code("untrusted")
    }

    /// The kind of the reason.
    public let code: Code
    /// The message for people: the value that was found, the expected value, and the remedy.
    public let message: String

    /// Creates an error.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}
