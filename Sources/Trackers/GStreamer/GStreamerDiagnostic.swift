/// A report about the observation of a pipeline, for logs.
public struct GStreamerDiagnostic: Hashable, Sendable, CustomStringConvertible {
    /// The kind of an event; an open set: later versions may report further kinds, so a `switch` needs a `default`.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind as a short text.
        public let description: String

        /// Creates a kind; kinds with the same text are equal.
        package init(_ description: String) { self.description = description }

        /// A playback was running when the observation began: its `StreamLoad` and `Start` carry `joinedLate`.
        public static let joinedLate = Kind("joinedLate")
        /// The pipeline reported a value that is not possible. Reported for the first 16 such values; the tracker
        /// ignores all of them.
        public static let impossibleValue = Kind("impossibleValue")
        /// Events came faster than the tracker could take them, and the tracker dropped some. Reported once.
        public static let overflow = Kind("overflow")
        /// The element cannot be observed: it is no `GstElement`, has no bus or is gone.
        public static let cannotObserve = Kind("cannotObserve")
        /// Sinks play, but the bus shows no message: a sync handler of the app drops all messages. Reported once.
        public static let noMessages = Kind("noMessages")
    }

    /// The kind of the event.
    public let kind: Kind
    /// A line for a log.
    public let description: String

    /// Creates a diagnostic.
    package init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }
}
