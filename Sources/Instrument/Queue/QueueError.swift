/// Why the queue did not take samples, or could not keep them.
public struct QueueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong; an open set.
    public struct Code: Hashable, Sendable {
        /// The code's name.
        public let name: String

        /// Creates a code; a store of your own may need one.
        public init(_ name: String) { self.name = name }

        /// The queue is at one of its limits and refuses new samples (`WhenFull.refuseNew`): deliver more often, or raise the limit.
        public static let full = Code("full")
        /// The disk is full: free space; the queue then continues without a call.
        public static let diskFull = Code("diskFull")
        /// The disk has not responded for a while: the samples were not kept; the queue continues when the disk responds again.
        public static let notResponding = Code("notResponding")
        /// The process lacks something for the moment, such as file descriptors or memory; nothing was changed.
        public static let lacksResources = Code("lacksResources")
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
