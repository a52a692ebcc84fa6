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

/// Hides streams from messages for a while: a silence, or planned work beside the windows of the configuration.
package struct Silence: Hashable, Sendable {
    /// Why the streams are hidden.
    package enum Kind: String, Hashable, Sendable {
        /// Nobody wants to hear of a fault.
        case silence
        /// Somebody works on the streams.
        case maintenance
    }

    package let id: String
    package var kind = Kind.silence
    /// All must match. A silence has at least one; maintenance without any is of all streams.
    package let matchers: [LabelMatcher]
    /// The begin of planned work; nil for a silence, which hides from the start.
    package var begins: Timestamp?
    package let ends: Timestamp
    package let by: String
    /// The reason of a silence, or the name of the work.
    package let reason: String

    package init(id: String, matchers: [LabelMatcher], ends: Timestamp, by: String, reason: String) {
        (self.id, self.matchers, self.ends) = (id, matchers, ends)
        (self.by, self.reason) = (by, reason)
    }

    /// Whether the silence or the work has begun.
    func hasBegun(at now: MonotonicInstant) -> Bool { begins.map { $0.instant <= now } ?? true }

    /// The state of an incident whose streams are hidden.
    var state: Incident.State { kind == .silence ? .silenced(id) : .maintenance(id) }

    /// Whether the silence hides a stream.
    func hides(_ member: Incident.Member) -> Bool {
        matchers.match(
            stream: member.stream,
            origin: member.origin?.stream,
            host: member.host,
            labels: member.labels,
            alerts: member.alerts
        )
    }
}

extension [LabelMatcher] {
    /// Whether all match a stream. Of its alerts each must match, and there must be one.
    ///
    /// What takes the place of a stream, such as the budget of an objective, has `stream` or `host` among its labels.
    ///
    /// - Parameter origin: the name of the stream at the place that plays it.
    func match(
        stream: String,
        origin: String?,
        host: String,
        labels: [String: String],
        alerts: Set<String>
    ) -> Bool {
        allSatisfy { matcher in
            switch matcher.label {
            case "stream":
                matcher.matches(stream) || origin.map { matcher.matches($0) } ?? false
                    || labels["stream"].map { matcher.matches($0) } ?? false
            case "host": matcher.matches(host.isEmpty ? labels["host"] ?? "" : host)
            case "alert", "alertname": !alerts.isEmpty && alerts.allSatisfy { matcher.matches($0) }
            default: matcher.matches(labels[matcher.label] ?? "")
            }
        }
    }
}
