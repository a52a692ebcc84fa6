/// One thing that is wrong, or doubtful, with a statement or payload.
public struct ValidationFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// How bad it is.
    public enum Severity: String, Hashable, Sendable {
        /// A MUST of the specification is broken: a server may refuse the statement.
        case error
        /// A SHOULD is not kept: the statement is valid.
        case warning
    }

    /// The rule that is broken.
    public let rule: ValidationRule
    /// Where, as a JSON path: `$.actor.member[0].mbox`.
    public let path: String
    /// What must be, and what was found, in a sentence.
    public let message: String
    /// How bad it is.
    public let severity: Severity

    /// Creates a failure.
    public init(rule: ValidationRule, path: String, message: String, severity: Severity = .error) {
        self.rule = rule
        self.path = path
        self.message = message
        self.severity = severity
    }

    /// Rule, path and sentence in a line; a warning says so.
    public var description: String {
        (severity == .warning ? "warning: " : "") + "\(rule) at \(path): \(message)"
    }
}

/// The name of a rule: `XAPI-00044` where ADL's conformance requirements for LRSs number it, else a name of ours in
/// words (`context-agents`, `seer-actor-id`). Names stay the same.
public struct ValidationRule: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let description: String

    /// Creates a rule of that name.
    public init(_ name: String) { description = name }
}
