/// One failure of, or warning about, a statement or payload.
public struct ValidationFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The severity of a finding.
    public enum Severity: String, Hashable, Sendable {
        /// A MUST of the specification is broken: a server may refuse the statement.
        case error
        /// A SHOULD of the specification is not followed: the statement is valid.
        case warning
    }

    /// The broken rule.
    public let rule: ValidationRule
    /// The place, as a JSON path: `$.actor.member[0].mbox`.
    public let path: String
    /// The expected and the found value, in a sentence: "`scaled` must be between -1 and 1 (found 7)."
    ///
    /// It repeats at most 80 characters of a value, escaped so that they are safe on a terminal and in a log
    /// line. A value may be personal: write messages only where the owner of the statement reads them, and
    /// ``description`` to logs.
    public let message: String
    /// The message without the found value.
    private let requirement: String
    /// The severity.
    public let severity: Severity

    /// Creates a failure.
    package init(rule: ValidationRule, path: String, message: String, severity: Severity = .error) {
        self.init(rule: rule, path: path, message: message, requirement: message, severity: severity)
    }

    private init(rule: ValidationRule, path: String, message: String, requirement: String, severity: Severity) {
        self.rule = rule
        self.path = path
        self.message = message
        self.requirement = requirement
        self.severity = severity
    }

    /// Creates the failure of the value at a path. The message names the path's last step, the requirement ("must be
    /// between -1 and 1") and the found value as ``Excerpt`` shows it.
    package init(
        _ rule: ValidationRule,
        at path: JSONPath,
        _ requirement: String,
        found: String?,
        severity: Severity = .error
    ) {
        let sentence = "\(path.subject) \(requirement)"
        self.init(
            rule: rule,
            path: path.description,
            message: sentence + (found.map { " (found \($0))" } ?? "") + ".",
            requirement: sentence + ".",
            severity: severity
        )
    }

    /// Rule, path and message in one line, after "warning: " for a warning. Found values are left out, so
    /// errors and logs can show the description.
    public var description: String {
        (severity == .warning ? "warning: " : "") + "\(rule) at \(path): \(requirement)"
    }
}

/// The name of a rule: `XAPI-00044` where ADL's conformance requirements for LRSs number the rule, otherwise words
/// (`context-agents`, `seer-actor-id`). Names are stable.
public struct ValidationRule: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let description: String

    /// Creates a rule with a name.
    package init(_ name: String) { description = name }
}
