/// Computes metrics from accepted events.
///
/// A metricalc is a pure value: the same events in the same order give the same metrics, live or replayed. It is
/// called for one event at a time, never from two threads at once.
public protocol Metricalc: Sendable {
    /// Appends the metrics of `event`, zero or more, to `metrics`.
    mutating func process(_ event: Event, into metrics: inout [Metric])
    /// A tracker was removed; its state can be released.
    mutating func forget(_ tracker: TrackerID)
    /// The instrument is ready.
    mutating func ready()
    /// The component was replaced or the instrument shut down.
    mutating func end()
}

extension Metricalc {
    /// Does nothing.
    public mutating func forget(_ tracker: TrackerID) {}
    /// Does nothing.
    public mutating func ready() {}
    /// Does nothing.
    public mutating func end() {}
}
