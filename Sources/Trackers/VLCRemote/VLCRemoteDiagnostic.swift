/// A report about the connection to a VLC, for logs.
public struct VLCRemoteDiagnostic: Hashable, Sendable, CustomStringConvertible {
    /// The kind of an event; an open set: later versions may report further kinds, so a `switch` needs a `default`.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind as a short text.
        public let description: String

        /// Creates a kind; kinds with the same text are equal.
        package init(_ description: String) { self.description = description }

        /// The player answered.
        public static let connected = Kind("connected")
        /// A playback was running when the connection began: its `StreamLoad` and `Start` carry `joinedLate`.
        public static let joinedLate = Kind("joinedLate")
        /// No player is there; reported once until a player answers.
        public static let notThere = Kind("notThere")
        /// The player answers no more.
        public static let disconnected = Kind("disconnected")
        /// An answer was not a status of VLC, and was skipped. Reported once for a connection.
        public static let badAnswer = Kind("badAnswer")
    }

    /// The kind of the event.
    public let kind: Kind
    /// A line for a log.
    public let description: String

    /// Creates a diagnostic.
    package init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }
}
