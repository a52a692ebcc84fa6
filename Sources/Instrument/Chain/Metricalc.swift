/// Computes metrics from accepted events.
///
/// A metricalc is a pure value: the same events in the same order give the same metrics, live or replayed. It is
/// called for one event at a time, never from two threads at once.
public protocol Metricalc: Sendable {
    /// Appends the metrics of `event`, zero or more, to `metrics`.
    mutating func process(_ event: Event, into metrics: inout [Metric])
    /// A tracker was removed; its state can be released.
    mutating func forget(_ tracker: TrackerID)
    /// A tracker was removed, or the instrument shuts down: appends the last metrics of the tracker to `metrics`, and
    /// releases its state. No event follows from this tracker.
    ///
    /// The chain calls this method. A metricalc that has nothing left to report implements ``forget(_:)`` alone.
    /// Recorded events do not tell when a tracker was removed: the metrics must depend on the events of the tracker
    /// alone, and have the time of the latest one, so that a replay gives the same metrics at the end of the recording.
    mutating func forget(_ tracker: TrackerID, into metrics: inout [Metric])
    /// The instrument is ready.
    mutating func ready()
    /// The component was replaced or the instrument shut down.
    mutating func end()
}

extension Metricalc {
    /// Does nothing.
    public mutating func forget(_ tracker: TrackerID) {}
    /// Calls ``forget(_:)`` and appends nothing.
    public mutating func forget(_ tracker: TrackerID, into metrics: inout [Metric]) { forget(tracker) }
    /// Does nothing.
    public mutating func ready() {}
    /// Does nothing.
    public mutating func end() {}
}
