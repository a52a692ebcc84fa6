/// A report about the connection to a VLC, for logs.
package struct VLCRemoteDiagnostic: Hashable, Sendable, CustomStringConvertible {
    /// The kind of an event; an open set: later versions may report further kinds, so a `switch` needs a `default`.
    package struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind as a short text.
        package let description: String

        /// Creates a kind; kinds with the same text are equal.
        package init(_ description: String) { self.description = description }

        /// The player answered.
        package static let connected = Kind("connected")
        /// A playback was running when the connection began: its `StreamLoad` and `Start` carry `joinedLate`.
        package static let joinedLate = Kind("joinedLate")
        /// No player is there; reported once until a player answers.
        package static let notThere = Kind("notThere")
        /// The player answers no more.
        package static let disconnected = Kind("disconnected")
        /// An answer was not a status of VLC, and was skipped. Reported once for a connection.
        package static let badAnswer = Kind("badAnswer")
    }

    /// The kind of the event.
    package let kind: Kind
    /// A line for a log.
    package let description: String

    /// Creates a diagnostic.
    package init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }
}
