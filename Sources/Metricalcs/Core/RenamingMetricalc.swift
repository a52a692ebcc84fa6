/// A metricalc whose metrics have other names, for a service or a dashboard that expects them.
///
/// ```swift
/// let metricalc = RenamingMetricalc(CoreMetricalc(), [.startTime: "video_startup_time"])
/// ```
///
/// Kind, unit and value stay: values are not converted.
public struct RenamingMetricalc: Metricalc {
    private var base: any Metricalc
    private let names: [MetricName: MetricName]

    /// Creates a metricalc whose metrics have the names on the right in place of those on the left.
    public init(_ base: some Metricalc, _ names: [MetricName: String]) {
        self.base = base
        self.names = Dictionary(
            uniqueKeysWithValues: names.map { ($0.key, MetricName($0.value, $0.key.kind, unit: $0.key.unit)) }
        )
    }

    /// Appends the base's metrics under their new names.
    public mutating func process(_ event: Event, into metrics: inout [Metric]) {
        let count = metrics.count
        base.process(event, into: &metrics)
        rename(&metrics, from: count)
    }

    private func rename(_ metrics: inout [Metric], from count: Int) {
        for index in metrics.indices.dropFirst(count) {
            let metric = metrics[index]
            guard let name = names[metric.name] else { continue }
            metrics[index] = Metric(
                name,
                metric.value,
                tracker: metric.tracker,
                time: metric.time,
                attributes: metric.attributes
            )
        }
    }

    /// Notifies the base.
    public mutating func forget(_ tracker: TrackerID) { base.forget(tracker) }

    /// Appends the base's last metrics under their new names.
    public mutating func forget(_ tracker: TrackerID, into metrics: inout [Metric]) {
        let count = metrics.count
        base.forget(tracker, into: &metrics)
        rename(&metrics, from: count)
    }

    /// Notifies the base.
    public mutating func ready() { base.ready() }

    /// Notifies the base.
    public mutating func end() { base.end() }
}
