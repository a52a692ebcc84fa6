/// A metricalc whose metrics also carry attributes of their events, for example the title or the weight of a sampled
/// session.
///
/// ```swift
/// let metricalc = CarryingMetricalc(CoreMetricalc(), ["title", "appVersion"])
/// ```
///
/// An attribute that the base has set stands. Each carried attribute makes every metric larger.
public struct CarryingMetricalc: Metricalc {
    private var base: any Metricalc
    private let names: [AttributeName]
    /// The attributes of each tracker's latest event, for its last metrics.
    private var latest = TrackerTable<Attributes>()

    /// Creates a metricalc whose metrics carry these attributes, where the event has them.
    public init(_ base: some Metricalc, _ names: [AttributeName]) {
        self.base = base
        self.names = names
    }

    /// Appends the base's metrics with the attributes.
    public mutating func process(_ event: Event, into metrics: inout [Metric]) {
        let count = metrics.count
        base.process(event, into: &metrics)
        carry(event.attributes, to: &metrics, from: count)
        latest[event.tracker, default: Attributes()] = event.attributes
    }

    private func carry(_ attributes: Attributes, to metrics: inout [Metric], from count: Int) {
        for index in metrics.indices.dropFirst(count) {
            for name in names where metrics[index].attributes[name] == nil {
                metrics[index].attributes[name] = attributes[name]
            }
        }
    }

    /// Notifies the base.
    public mutating func forget(_ tracker: TrackerID) {
        base.forget(tracker)
        latest.remove(tracker)
    }

    /// Appends the base's last metrics with the attributes of the tracker's latest event.
    public mutating func forget(_ tracker: TrackerID, into metrics: inout [Metric]) {
        let count = metrics.count
        base.forget(tracker, into: &metrics)
        carry(latest[tracker, default: Attributes()], to: &metrics, from: count)
        latest.remove(tracker)
    }

    /// Notifies the base.
    public mutating func ready() { base.ready() }

    /// Notifies the base.
    public mutating func end() { base.end() }
}
