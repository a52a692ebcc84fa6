/// A report about the observation of a browser, for logs.
public struct ChromeDiagnostic: Hashable, Sendable, CustomStringConvertible {
    /// The kind of an event; an open set: later versions may report further kinds, so a `switch` needs a `default`.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind as a short text.
        public let description: String

        /// Creates a kind; kinds with the same text are equal.
        package init(_ description: String) { self.description = description }

        /// The browser answered.
        public static let connected = Kind("connected")
        /// No browser is there; reported once until one is.
        public static let notThere = Kind("notThere")
        /// The connection ended.
        public static let disconnected = Kind("disconnected")
        /// A tab crashed; its playbacks end with an error.
        public static let tabCrashed = Kind("tabCrashed")
        /// The browser cannot open a page.
        public static let pageFailed = Kind("pageFailed")
        /// The browser refuses a command that the observation needs. Reported once.
        public static let refused = Kind("refused")
        /// A message is not one of the protocol, or too long, and was skipped. Reported once.
        public static let badMessage = Kind("badMessage")
        /// A page has, or reports, more than the tracker follows. Reported once.
        public static let tooMuch = Kind("tooMuch")
    }

    /// The kind of the event.
    public let kind: Kind
    /// A line for a log.
    public let description: String

    /// Creates a diagnostic.
    package init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }
}
