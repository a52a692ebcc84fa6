package import Instrument
internal import InstrumentWatch

/// A comparison of a label with a value, as Alertmanager's silences have it.
package struct LabelMatcher: Hashable, Sendable {
    /// The label; `stream`, `host` and `alert` are known for every stream, too.
    package let label: String
    package let value: String
    /// The expression, which must match the whole value; nil compares texts.
    package let pattern: LabelPattern?

    /// Creates a matcher; nil for an expression that is too long or has another syntax.
    package init?(label: String, value: String, isRegex: Bool = false) {
        (self.label, self.value) = (label, value)
        if isRegex {
            guard let pattern = LabelPattern(value) else { return nil }
            self.pattern = pattern
        } else {
            pattern = nil
        }
    }

    package func matches(_ text: String) -> Bool { pattern?.matches(text) ?? (text == value) }

    /// `cdn="alpha"` or `cdn=~"a.*"`.
    package var description: String { "\(label)\(pattern == nil ? "=" : "=~")\"\(value)\"" }
}

/// Hides streams from messages for a while.
package struct Silence: Hashable, Sendable {
    package let id: String
    /// All must match; at least one.
    package let matchers: [LabelMatcher]
    package let ends: Timestamp
    package let by: String
    package let reason: String

    package init(id: String, matchers: [LabelMatcher], ends: Timestamp, by: String, reason: String) {
        (self.id, self.matchers, self.ends) = (id, matchers, ends)
        (self.by, self.reason) = (by, reason)
    }

    /// Whether the silence hides a stream: each of its alerts must match.
    func hides(_ member: Incident.Member) -> Bool {
        matchers.allSatisfy { matcher in
            switch matcher.label {
            case "stream": matcher.matches(member.stream) || member.origin.map { matcher.matches($0.stream) } ?? false
            case "host": matcher.matches(member.host)
            case "alert", "alertname": !member.alerts.isEmpty && member.alerts.allSatisfy { matcher.matches($0) }
            default: matcher.matches(member.labels[matcher.label] ?? "")
            }
        }
    }
}
