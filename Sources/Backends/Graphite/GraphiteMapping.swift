public import Instrument

/// How samples become points. Change its parts, or pass a function of yours as the configuration's `mapping`.
///
/// | sample | path | value |
/// |---|---|---|
/// | metric, a gauge | `PREFIX.TARGET.metrics.NAME` | its value; the last one of a second stays |
/// | metric, a counter | the same | its value; values of one second are added |
/// | event, if ``sendsEvents`` | `PREFIX.TARGET.events.ACTION` | 1; events of one second are added |
///
/// `TARGET` stands for the attributes in ``nodes``, `unknown` where a sample does not have one. With ``usesTags`` they
/// are tags instead: `PREFIX.metrics.NAME;trackerTarget=TARGET`.
///
/// The labels of a metric (`Metric.labels`) are tags in both forms, because a sum over all of them says nothing:
/// `PREFIX.TARGET.metrics.TimeInQuality;rendition=1280x720`. A server before Graphite 1.1 knows no tags and keeps such
/// a series under its whole name.
///
/// Not sent: the labels in ``omitted`` and every other attribute, identifiers among them, because each value of a node
/// is a file of Graphite.
public struct GraphiteMapping: Sendable {
    /// The first nodes of every path.
    public var prefix: [String]
    /// The labels of metrics that are not sent.
    public var omitted: Set<AttributeName> = []
    /// The attributes that are nodes of the path, or tags. Keep each attribute's set of values small.
    public var nodes: [AttributeName]
    /// Whether the attributes in ``nodes`` are tags. The server must support tags (Graphite 1.1 or later).
    public var usesTags: Bool
    /// Whether events are sent as counts.
    public var sendsEvents: Bool

    /// Creates a mapping; by default paths begin with `instrument`, events are not sent, and the tracker's target is a
    /// node.
    public init(
        prefix: [String] = ["instrument"],
        nodes: [AttributeName] = [AttributeKey<String>.trackerTarget.name],
        usesTags: Bool = false,
        sendsEvents: Bool = false
    ) {
        self.prefix = prefix
        self.nodes = nodes
        self.usesTags = usesTags
        self.sendsEvents = sendsEvents
    }

    /// The point of a sample; nil for an event, unless events are sent.
    public func callAsFunction(_ record: SampleRecord) -> GraphitePoint? {
        switch record.sample {
        case .metric(let metric):
            let value: Double =
                switch metric.value {
                case .int(let number): Double(number)
                case .double(let number): number
                }
            let kind: GraphitePoint.Kind = metric.name.kind == .counter ? .sum : .last
            return point(record, "metrics", metric.name.spelling, value, kind, labels: metric.labels)
        case .event(let event):
            return sendsEvents ? point(record, "events", event.action.name, 1, .sum) : nil
        }
    }

    private func point(
        _ record: SampleRecord,
        _ group: String,
        _ name: String,
        _ value: Double,
        _ kind: GraphitePoint.Kind,
        labels: [Attributes.Element] = []
    ) -> GraphitePoint {
        let attributes = record.sample.attributes
        let labels = labels.filter { !nodes.contains($0.name) && !omitted.contains($0.name) }.map {
            GraphitePoint.Tag($0.name.spelling, $0.value.description)
        }
        let time = record.sample.time.wallTime
        if usesTags {
            let tags = nodes.compactMap { name in
                attributes[name].map { GraphitePoint.Tag(name.spelling, $0.description) }
            }
            return GraphitePoint(
                path: prefix + [group, name],
                tags: tags + labels,
                value: value,
                kind: kind,
                time: time
            )
        }
        let values = nodes.map { attributes[$0]?.description ?? "unknown" }
        let path = prefix + values + [group, name]
        return GraphitePoint(path: path, tags: labels, value: value, kind: kind, time: time)
    }
}
