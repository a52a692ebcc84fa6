/// The eight core metrics of the data model.
///
/// `StartTime` counts from the request of the same playback, else from its load; requests of an earlier playback of the
/// same tracker do not count. Expects events that a hub has accepted.
public struct CoreMetricalc: Metricalc, Hashable {
    private var playbacks = TrackerTable<PlaybackMetrics>()

    /// Creates a metricalc that has seen nothing.
    public init() {}

    /// Appends the core metrics that follow from `event`.
    public mutating func process(_ event: Event, into metrics: inout [Metric]) {
        playbacks[event.tracker, default: PlaybackMetrics()].process(event, into: &metrics)
    }

    /// Keeps nothing of a removed tracker.
    public mutating func forget(_ tracker: TrackerID) { playbacks.remove(tracker) }
}
