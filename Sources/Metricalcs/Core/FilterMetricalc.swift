/// A metricalc that sees only some events, or of which only some metrics count.
///
/// ```swift
/// let starts = FilterMetricalc(CoreMetricalc(), metrics: [.startTime, .numPlays])
/// let content = FilterMetricalc(CoreMetricalc()) { $0[.isAdsTracker] != true }
/// ```
public struct FilterMetricalc: Metricalc {
    private var base: any Metricalc
    private let admits: @Sendable (Event) -> Bool
    private let keeps: @Sendable (Metric) -> Bool

    /// Creates a filter of `base`.
    ///
    /// - Parameters:
    ///   - base: the metricalc that computes.
    ///   - admits: whether the base sees an event. It must depend on the event alone, so that a replay gives the same
    ///     metrics.
    ///   - keeps: whether a metric of the base counts; it must depend on the metric alone.
    public init(
        _ base: some Metricalc,
        events admits: @escaping @Sendable (Event) -> Bool = { _ in true },
        metrics keeps: @escaping @Sendable (Metric) -> Bool = { _ in true }
    ) {
        self.base = base
        self.admits = admits
        self.keeps = keeps
    }

    /// Creates a filter of which only the metrics with these names count.
    public init(_ base: some Metricalc, metrics names: Set<MetricName>) {
        self.init(base, metrics: { names.contains($0.name) })
    }

    /// Creates a filter whose base sees only these actions.
    public init(_ base: some Metricalc, actions: Set<Action>) {
        self.init(base, events: { actions.contains($0.action) })
    }

    /// Passes an admitted event to the base, and appends those of its metrics that count.
    public mutating func process(_ event: Event, into metrics: inout [Metric]) {
        guard admits(event) else { return }
        let count = metrics.count
        base.process(event, into: &metrics)
        keep(of: &metrics, from: count)
    }

    private func keep(of metrics: inout [Metric], from count: Int) {
        guard metrics.count > count else { return }
        let kept = metrics[count...].filter(keeps)
        metrics.replaceSubrange(count..., with: kept)
    }

    /// Notifies the base.
    public mutating func forget(_ tracker: TrackerID) { base.forget(tracker) }

    /// Appends those of the base's last metrics that count.
    public mutating func forget(_ tracker: TrackerID, into metrics: inout [Metric]) {
        let count = metrics.count
        base.forget(tracker, into: &metrics)
        keep(of: &metrics, from: count)
    }

    /// Notifies the base.
    public mutating func ready() { base.ready() }

    /// Notifies the base.
    public mutating func end() { base.end() }
}
