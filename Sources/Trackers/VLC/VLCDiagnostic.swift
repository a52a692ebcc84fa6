/// A report about the observation of a player, for logs.
public struct VLCDiagnostic: Hashable, Sendable, CustomStringConvertible {
    /// The kind of an event; an open set: later versions may report further kinds, so a `switch` needs a `default`.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind as a short text.
        public let description: String

        /// Creates a kind; kinds with the same text are equal.
        package init(_ description: String) { self.description = description }

        /// A playback was running when the watch began: its `StreamLoad` and `Start` carry `joinedLate`.
        public static let joinedLate = Kind("joinedLate")
        /// libVLC reported a value that is not possible. Reported for the first 16 such values; the tracker ignores all
        /// of them.
        public static let impossibleValue = Kind("impossibleValue")
        /// Events came faster than the tracker could take them, and the tracker dropped some. Reported once.
        public static let overflow = Kind("overflow")
        /// libVLC called back after the watch had ended. Reported once; the tracker ignores such calls.
        public static let lateCall = Kind("lateCall")
        /// libVLC refused an observer of an event, because it has no memory.
        public static let cannotObserve = Kind("cannotObserve")
    }

    /// The kind of the event.
    public let kind: Kind
    /// A line for a log.
    public let description: String

    /// Creates a diagnostic.
    package init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }
}
