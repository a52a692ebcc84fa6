internal import InstrumentHTTP
internal import InstrumentText

/// The parts of a configuration that are well formed and do nothing: an alert that never fires, or a window that hides
/// nothing, is noticed too late. They are no mistakes, because the streams may come with a later include.
struct IdleParts {
    private let streams: [WatchedStream]
    /// A warning for each part.
    private(set) var warnings: [ConfigurationProblem] = []

    init(of configuration: WatchConfiguration) {
        streams = configuration.streams
        for alert in configuration.alerts { look(at: alert) }
        for window in configuration.incidents.maintenance {
            warn(window.place, "The window `\(window.name.excerpt())` of `maintenance`", window.matchers)
        }
        for objective in configuration.objectives { look(at: objective) }
    }

    private mutating func look(at alert: AlertConfiguration) {
        let concerned = streams.filter { alert.concerns($0) }
        if concerned.isEmpty {
            let labels = alert.allConditions.reduce(into: [:]) { labels, condition in
                labels.merge(condition.labels.filter { $0.key != "rule" }) { first, _ in first }
            }
            warn(alert.place, "The alert `\(alert.name.excerpt())`", labels)
        } else if let missing = alert.condition.conditions.lazy.compactMap({ $0.check(of: concerned) }).first {
            warn(
                alert.place,
                "The alert `\(alert.name.excerpt())` never fires: none of its streams has \(missing) among its `checks`."
            )
        }
    }

    private mutating func look(at objective: Objective) {
        warn(objective.place, "The objective `\(objective.name.excerpt())`", objective.matchers)
        guard let label = objective.groupBy, label != "stream", label != "host", !isLabel(label) else { return }
        warn(
            objective.place,
            "The objective `\(objective.name.excerpt())` has one budget: no stream has the label `\(label.excerpt())` of `by`."
                + Suggestion.hint(for: label, in: streamLabels)
        )
    }

    private mutating func warn(_ place: ConfigurationPlace?, _ message: String) {
        guard let place, warnings.count < ConfigurationError.mostProblems else { return }
        warnings.append(ConfigurationProblem(place, message))
    }

    /// Warns if labels select no stream.
    private mutating func warn(_ place: ConfigurationPlace?, _ subject: String, _ labels: [String: String]) {
        guard !streams.contains(where: { $0.matches(labels) }) else { return }
        warn(place, "\(subject) concerns no stream: \(reason(labels))")
    }

    private func reason(_ labels: [String: String]) -> String {
        for (label, value) in labels.sorted(by: { $0.key < $1.key }) {
            if streams.contains(where: { $0.matches([label: value]) }) { continue }
            switch label {
            case "stream":
                let names = streams.map(\.name)
                return "no stream has the name `\(value.excerpt())`." + Suggestion.hint(for: value, in: names)
            case "host":
                let hosts = Set(streams.map(\.url.host))
                return "no stream has the host `\(value.excerpt())`." + Suggestion.hint(for: value, in: hosts)
            default:
                guard isLabel(label) else {
                    return "no stream has the label `\(label.excerpt())`."
                        + Suggestion.hint(for: label, in: streamLabels)
                }
                let values = Set(streams.compactMap { $0.labels[label] })
                return "no stream has the label `\(label.excerpt())` with the value `\(value.excerpt())`."
                    + Suggestion.hint(for: value, in: values)
            }
        }
        return streams.isEmpty ? "the list of streams is empty." : "no stream has all of its labels."
    }

    /// The labels that streams have.
    private var streamLabels: Set<String> { Set(streams.flatMap(\.labels.keys)) }

    private func isLabel(_ name: String) -> Bool { streams.contains { $0.labels[name] != nil } }
}

extension AlertExpression.Condition {
    /// The check that a condition needs and none of the streams has; nil if nothing is missing.
    fileprivate func check(of streams: [WatchedStream]) -> String? {
        switch metric {
        case .checkFailed:
            guard let rule = labels["rule"] else {
                return streams.contains { $0.checks.isOn } ? nil : "anything"
            }
            return streams.contains { $0.checks.looks(for: rule) } ? nil : "`\(rule.excerpt())`"
        case .loudness: return streams.contains { $0.checks.loudness == true } ? nil : "`loudness: true`"
        default: return nil
        }
    }
}

extension Suggestion {
    /// A sentence with the most similar known word; empty if none is similar.
    fileprivate static func hint(for word: String, in known: some Collection<String>) -> String {
        nearest(to: word, in: known).map { " Did you mean `\($0)`?" } ?? ""
    }
}
