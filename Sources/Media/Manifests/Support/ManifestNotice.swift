/// A defect or an unsupported feature of a manifest that does not prevent playback.
public struct ManifestNotice: Hashable, Sendable {
    /// The kind of a notice; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String
        /// Creates a code.
        public init(_ description: String) { self.description = description }

        /// An unsupported feature is ignored.
        public static let unsupportedFeature = Code("unsupportedFeature")
        /// Media with an unsupported encryption is left out or marked.
        public static let unsupportedEncryption = Code("unsupportedEncryption")
        /// The manifest breaks a rule of its format that playback does not depend on.
        public static let oddity = Code("oddity")
        /// A reference that is neither `http` nor `https` is left out.
        public static let referenceRefused = Code("referenceRefused")
        /// A manifest was requested over `https` and redirected to `http`.
        public static let downgraded = Code("downgraded")
        /// The manifest exceeds a limit; the rest is left out.
        public static let limitReached = Code("limitReached")
    }

    /// The kind of the notice.
    public var code: Code
    /// The defect and its consequence, for people; without secrets.
    public var message: String
    /// The line of the first occurrence, counted from 1; nil where unknown.
    public var line: Int?

    /// Creates a notice.
    public init(_ code: Code, _ message: String, line: Int? = nil) {
        self.code = code
        self.message = message
        self.line = line
    }
}

extension ManifestNotice: CustomStringConvertible {
    /// The code, the line and the message.
    public var description: String { "\(code)" + (line.map { " (line \($0))" } ?? "") + ": \(message)" }
}
