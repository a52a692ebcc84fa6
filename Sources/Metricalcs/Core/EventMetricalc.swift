/// Metrics of single events, for custom actions: counts, and values of attributes.
///
/// ```swift
/// extension Action { static let menuOpen = Action("MenuOpen") }
/// extension MetricName {
///     static let menuOpens = MetricName("MenuOpens", .counter)
///     static let menuTime = MetricName("MenuTime", .gauge, unit: .milliseconds)
/// }
/// let menus = EventMetricalc([
///     .count(.menuOpen, as: .menuOpens), .value(of: "menuTime", at: .menuClose, as: .menuTime),
/// ])
/// let metricalc = MultiplexMetricalc([CoreMetricalc(), menus])
/// ```
public struct EventMetricalc: Metricalc {
    /// A metric of one action.
    public struct Rule: Sendable {
        fileprivate let action: Action
        fileprivate let name: MetricName
        fileprivate let value: @Sendable (Event) -> Metric.Value?

        /// A metric whose value is a function of the event; nil gives no metric.
        public static func metric(
            _ name: MetricName,
            at action: Action,
            _ value: @escaping @Sendable (Event) -> Metric.Value?
        ) -> Rule {
            Rule(action: action, name: name, value: value)
        }

        /// 1 for each event.
        public static func count(_ action: Action, as name: MetricName) -> Rule {
            metric(name, at: action) { _ in 1 }
        }

        /// The number in an attribute; an event without a number there gives no metric.
        public static func value(of attribute: AttributeName, at action: Action, as name: MetricName) -> Rule {
            metric(name, at: action) { event in
                switch event.attributes[attribute] {
                case .int(let number): .int(number)
                case .double(let number): number.isFinite ? .double(number) : nil
                default: nil
                }
            }
        }

        /// Milliseconds since the latest event of another action of the same tracker; none before the first.
        public static func time(since earlier: Action, at action: Action, as name: MetricName) -> Rule {
            value(of: earlier.timeAttribute, at: action, as: name)
        }
    }

    private let rules: [Action: [Rule]]
    private var identities = TrackerTable<MetricIdentity>()

    /// Creates a metricalc with these rules; the metrics of an event follow in their order.
    public init(_ rules: [Rule]) { self.rules = Dictionary(grouping: rules, by: \.action) }

    /// Appends the metrics of the rules for the event's action.
    public mutating func process(_ event: Event, into metrics: inout [Metric]) {
        guard let rules = rules[event.action] else { return }
        for rule in rules {
            guard let value = rule.value(event) else { continue }
            let identity = identities[event.tracker, default: MetricIdentity()].attributes(of: event)
            metrics.append(Metric(rule.name, value, tracker: event.tracker, time: event.time, attributes: identity))
        }
    }

    /// Drops everything about a removed tracker.
    public mutating func forget(_ tracker: TrackerID) { identities.remove(tracker) }
}
