/// Something in a manifest that is odd or not supported, though the rest of it can be played.
public struct ManifestNotice: Hashable, Sendable {
    /// What it is about; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String
        /// Creates a code.
        public init(_ description: String) { self.description = description }

        /// A feature that is not supported is ignored; playing goes on without it.
        public static let unsupportedFeature = Code("unsupportedFeature")
        /// Something is encrypted in a way that cannot be undone here; it is left out or marked.
        public static let unsupportedEncryption = Code("unsupportedEncryption")
        /// A rule of the format is broken in a way that can be lived with.
        public static let oddity = Code("oddity")
        /// A reference to something that is neither `http` nor `https` is left out.
        public static let referenceRefused = Code("referenceRefused")
        /// A manifest was asked for by `https` and came by `http`.
        public static let downgraded = Code("downgraded")
        /// There was more than the limits allow; the rest is left out.
        public static let limitReached = Code("limitReached")
    }

    /// What it is about.
    public var code: Code
    /// What was found and what is done about it, for people; without secrets.
    public var message: String
    /// The line, counted from 1, of the first such place; nil where unknown.
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
