/// Why the queue did not take samples, or could not keep them.
public struct QueueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong; an open set.
    public struct Code: Hashable, Sendable {
        private let name: String
        private init(_ name: String) { self.name = name }

        /// The queue is at one of its limits and was told to refuse what is new: deliver more often, or raise the limit.
        public static let full = Code("full")
        /// The disk is full: free space; the queue goes on by itself.
        public static let diskFull = Code("diskFull")
        /// The store failed in another way; the message says how.
        public static let storeFailed = Code("storeFailed")
    }

    /// What went wrong.
    public let code: Code
    /// What happened and what to do, for people; without secrets.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
