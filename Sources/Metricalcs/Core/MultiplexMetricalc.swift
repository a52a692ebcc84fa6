/// Several metricalcs side by side: each sees every event, and all their metrics count.
public struct MultiplexMetricalc: Metricalc {
    private var metricalcs: [any Metricalc]

    /// Creates a metricalc of `metricalcs`, whose metrics follow in this order.
    public init(_ metricalcs: [any Metricalc]) { self.metricalcs = metricalcs }

    /// Asks each in turn.
    public mutating func process(_ event: Event, into metrics: inout [Metric]) {
        for index in metricalcs.indices { metricalcs[index].process(event, into: &metrics) }
    }

    /// Passes it on.
    public mutating func forget(_ tracker: TrackerID) {
        for index in metricalcs.indices { metricalcs[index].forget(tracker) }
    }

    /// Asks each in turn for the last metrics of the tracker.
    public mutating func forget(_ tracker: TrackerID, into metrics: inout [Metric]) {
        for index in metricalcs.indices { metricalcs[index].forget(tracker, into: &metrics) }
    }

    /// Passes it on.
    public mutating func ready() { for index in metricalcs.indices { metricalcs[index].ready() } }

    /// Passes it on.
    public mutating func end() { for index in metricalcs.indices { metricalcs[index].end() } }
}
