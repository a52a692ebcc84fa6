/// A place at which a rule is broken, as a check reports it.
public struct Problem: Hashable, Sendable {
    /// The value that was found.
    public var found: String
    /// The value that the rule expects.
    public var expected: String
    /// The remedy, as a sentence.
    public var advice: String
    /// The line of the playlist or manifest, counted from 1; nil where no single line is wrong.
    public var line: Int?
    /// What tells this problem from others of its rule at one resource that people read apart; nil for problems that
    /// are one fault.
    package var fault: String?

    /// Creates a problem.
    public init(found: String, expected: String, advice: String, line: Int? = nil) {
        self.found = found
        self.expected = expected
        self.advice = advice
        self.line = line
    }
}

/// A broken rule at a resource of a stream; a rule with several faults there has a finding for each.
public struct Finding: Hashable, Sendable {
    /// The rule that is broken.
    public var rule: Rule.ID
    /// How severe the broken rule is.
    public var severity: Rule.Severity
    /// The rule's title.
    public var title: String
    /// The rule's source.
    public var source: String
    /// The address of the playlist, manifest or segment, without user, password, query and fragment.
    public var resource: String
    /// The first violation of the rule.
    public var problem: Problem
    /// The number of observations of the fault at this resource.
    public var count = 1

    /// The problem as one sentence and an advice.
    public var message: String { "Expected \(problem.expected); found \(problem.found). \(problem.advice)" }
}

extension Int64 {
    /// Nanoseconds as seconds, and another duration in the same form: with as many decimals as tell them apart.
    package func shownSeconds(besides other: Int64) -> (own: String, other: String) {
        let (own, text) = (shownSeconds, other.shownSeconds)
        guard own == text, self != other else { return (own, text) }
        func exact(_ value: Int64) -> String {
            let digits = String(value.magnitude % 1_000_000_000 + 1_000_000_000).dropFirst()
            return "\(value < 0 ? "-" : "")\(value.magnitude / 1_000_000_000).\(digits) s"
        }
        return (exact(self), exact(other))
    }

    /// Nanoseconds as seconds with up to three decimals: `6 s`, `6.006 s`.
    package var shownSeconds: String {
        let milliseconds = (magnitude + 500_000) / 1_000_000
        let whole = (self < 0 && milliseconds > 0 ? "-" : "") + String(milliseconds / 1_000)
        let rest = milliseconds % 1_000
        if rest == 0 { return whole + " s" }
        var digits = String(1_000 + rest).dropFirst()
        while digits.last == "0" { digits = digits.dropLast() }
        return "\(whole).\(digits) s"
    }
}
