/// A reason for which the queue has not stored samples.
public struct QueueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error; an open set.
    public struct Code: Hashable, Sendable {
        /// The code's name.
        public let name: String

        /// Creates a code, for example for a custom store. Codes with the same name are equal.
        public init(_ name: String) { self.name = name }

        /// The queue is at one of its limits and refuses new samples (`WhenFull.refuseNew`): deliver more often, or
        /// raise the limit.
        public static let full = Code("full")
        /// The disk is full: free space. The queue then continues without a call.
        public static let diskFull = Code("diskFull")
        /// The disk has not responded in time, and the samples were not stored. The queue continues when the disk
        /// responds again.
        public static let notResponding = Code("notResponding")
        /// The process temporarily lacks a resource, such as file descriptors or memory. Nothing was changed.
        public static let lacksResources = Code("lacksResources")
        /// Another failure of the store; the message has the cause.
        public static let storeFailed = Code("storeFailed")
    }

    /// The kind of the error.
    public let code: Code
    /// The event and the remedy, as text for people, without secrets.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
