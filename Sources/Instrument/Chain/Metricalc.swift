/// Turns accepted events into metrics.
///
/// A metricalc is a pure value: the same events in the same order give the same metrics, live or replayed. It is
/// called for one event at a time, never from two threads at once.
public protocol Metricalc: Sendable {
    /// Appends the metrics that follow from `event`, zero or more, to `metrics`.
    mutating func process(_ event: Event, into metrics: inout [Metric])
}
