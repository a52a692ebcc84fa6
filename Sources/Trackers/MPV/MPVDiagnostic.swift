/// A report about the connection to a player, for logs.
public struct MPVDiagnostic: Hashable, Sendable, CustomStringConvertible {
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
        /// No player listens at the socket; reported once until a player listens.
        public static let notThere = Kind("notThere")
        /// The connection ended.
        public static let disconnected = Kind("disconnected")
        /// A line was not a message of the protocol and was skipped. Reported for the first 16 such lines of a
        /// connection.
        public static let badLine = Kind("badLine")
        /// The player did not answer a request in time; the signals that depend on the answer were reported without it.
        public static let unanswered = Kind("unanswered")
        /// A line that a player wrote to its standard output or error. Reported for the first 16 lines of a player that
        /// this process has started; further ones are read and dropped.
        public static let output = Kind("output")
        /// libmpv had more events than its queue holds, and dropped some. Reported once.
        public static let overflow = Kind("overflow")
    }

    /// The kind of the event.
    public let kind: Kind
    /// A line for a log.
    public let description: String

    /// Creates a diagnostic.
    package init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }
}

extension MPVDiagnostic {
    package static let connected = MPVDiagnostic(.connected, "connected to the player")
    package static let joinedLate = MPVDiagnostic(.joinedLate, "joined a playback that had begun before")
    static let unanswered = MPVDiagnostic(.unanswered, "the player did not answer in time")

    static func output(_ line: String) -> MPVDiagnostic { MPVDiagnostic(.output, "output of the player: \(line)") }

    package static func notThere(reason: String) -> MPVDiagnostic {
        MPVDiagnostic(.notThere, "no player there: \(reason)")
    }

    package static func disconnected(reason: String) -> MPVDiagnostic {
        MPVDiagnostic(.disconnected, "the player's connection ended: \(reason)")
    }

    static func badLine(reason: String) -> MPVDiagnostic {
        MPVDiagnostic(.badLine, "skipped a malformed line of the player: \(reason)")
    }
}
