/// A report of something that an instrument left out or could not do, so that nothing is lost silently.
///
/// ``kind`` says what happened, ``description`` says it for people, and the other properties carry the parts. A
/// diagnostic carries no secrets and no attribute values.
///
/// The set of kinds is open: later versions may report further kinds, and a store or a backend of yours may report its
/// own:
///
/// ```swift
/// extension Diagnostic.Kind {
///     static let tokenExpired = Diagnostic.Kind("tokenExpired")
/// }
/// let diagnostic = Diagnostic(.tokenExpired, "the token has expired: sign in again", backend: "mine")
/// ```
public struct Diagnostic: Hashable, Sendable {
    /// The kind of a diagnostic. A `switch` over kinds needs a `default`.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind as a short text, for metrics and logs.
        public let description: String

        /// Creates a kind; kinds with the same text are equal.
        ///
        /// - Parameter description: a short text in lower camel case.
        public init(_ description: String) { self.description = description }
    }

    /// The severity of a diagnostic.
    public enum Severity: Int, Hashable, Sendable, Comparable {
        /// Normal operation: a hub rejected an event that was not legal.
        case debug
        /// The queue recovers without help.
        case notice
        /// Samples may be lost, or a person has to act.
        case warning
        /// Samples are lost, or no backend will receive them.
        case error

        /// Whether the first severity is lower than the second.
        public static func < (first: Severity, second: Severity) -> Bool { first.rawValue < second.rawValue }
    }

    let fact: Fact

    init(fact: Fact) { self.fact = fact }

    /// Creates a diagnostic of any kind, with the parts that it concerns.
    ///
    /// - Parameters:
    ///   - kind: what happened.
    ///   - severity: how much it matters.
    ///   - message: a line for a log: what was found, what was expected, what to do. Without secrets.
    ///   - backend: the backend that it concerns; nil without one.
    ///   - tracker: the tracker that it concerns; nil without one.
    ///   - action: the action of the event that it concerns; nil without one.
    public init(
        _ kind: Kind,
        severity: Severity = .warning,
        _ message: String,
        backend: BackendName? = nil,
        tracker: TrackerID? = nil,
        action: Action? = nil
    ) {
        let remark = Remark(
            kind: kind,
            severity: severity,
            message: message,
            backend: backend,
            tracker: tracker,
            action: action
        )
        fact = .remark(remark)
    }

    /// The severity of the diagnostic.
    public var severity: Severity {
        switch fact {
        case .rejected: .debug
        case .retrying: .notice
        case .unknownTracker, .unknownContent, .duplicateBackend, .notFinite, .undeclared, .metricNotFinite, .store,
            .silenced, .altered:
            .warning
        case .notQueued, .dropped, .deadLetter: .error
        case .remark(let remark): remark.severity
        }
    }
}
