/// One thing that is wrong with a statement or payload.
public struct ValidationFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rule that is broken.
    public let rule: ValidationRule
    /// Where, as a JSON path: `$.actor.member[0].mbox`.
    public let path: String
    /// What the rule says, in a sentence.
    public let message: String

    /// Creates a failure.
    public init(rule: ValidationRule, path: String, message: String) {
        self.rule = rule
        self.path = path
        self.message = message
    }

    /// Rule, path and sentence in a line.
    public var description: String { "\(rule) at \(path): \(message)" }
}

/// The name of a rule: `XAPI-00044` where ADL's conformance requirements for LRSs number it, else a name of ours in
/// words (`context-agents`, `seer-actor-id`). Names stay the same.
public struct ValidationRule: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let description: String

    /// Creates a rule of that name.
    public init(_ name: String) { description = name }
}
