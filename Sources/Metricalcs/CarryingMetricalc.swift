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

    /// Creates a metricalc whose metrics carry these attributes, where the event has them.
    public init(_ base: some Metricalc, _ names: [AttributeName]) {
        self.base = base
        self.names = names
    }

    /// Appends the base's metrics with the attributes.
    public mutating func process(_ event: Event, into metrics: inout [Metric]) {
        let count = metrics.count
        base.process(event, into: &metrics)
        for index in metrics.indices.dropFirst(count) {
            for name in names where metrics[index].attributes[name] == nil {
                metrics[index].attributes[name] = event.attributes[name]
            }
        }
    }

    /// Notifies the base.
    public mutating func forget(_ tracker: TrackerID) { base.forget(tracker) }

    /// Notifies the base.
    public mutating func ready() { base.ready() }

    /// Notifies the base.
    public mutating func end() { base.end() }
}
