public import Instrument
internal import InstrumentText

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
/// The samples of a monitor have the name of their stream in place of the target, because all of its streams are
/// played by one player: `PREFIX.STREAM.metrics.NAME`, or the tag `monitorStream`. A name that Graphite does not allow
/// as it is gets a digest behind it, so that two streams never write to one series: `a b` becomes `a_b-c8687a08`.
///
/// The labels of a metric (`Metric.labels`) are tags in both forms, because a sum over all of them says nothing:
/// `PREFIX.TARGET.metrics.TimeInQuality;rendition=1280x720`. A server before Graphite 1.1 knows no tags and keeps such
/// a series under its whole name. So are the location of a monitor and the labels of its stream:
/// `PREFIX.STREAM.metrics.NumPlays;cdn=alpha;monitorLocation=oslo`. Leave out `monitorLabels` (``omitted``) to keep the
/// paths plain.
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
            return point(record, "metrics", metric.name.spelling, value, kind, labels: metric.ownLabels)
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
        var attributes = record.sample.attributes
        if omitted.contains(Self.labels) { attributes.remove(Self.labels) }
        var nodes = nodes
        if let stream = attributes[.monitorStream] {
            attributes[.monitorStream] = Self.distinct(stream)
            // The target of a monitor's samples is the player of all streams.
            if !nodes.contains(Self.stream) { nodes = nodes.map { $0 == Self.target ? Self.stream : $0 } }
            attributes.remove(Self.target)
        }
        // Of the metric's own labels those that are still among the attributes, and are not of the monitor.
        let own = labels.filter { label in
            label.name != Self.stream && label.name != Self.location && attributes[label.name] != nil
        }
        let labels = (own + attributes.monitorElements)
            .filter { !nodes.contains($0.name) && !omitted.contains($0.name) }
            .map { GraphitePoint.Tag($0.name.spelling, $0.value.description) }
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

    private static let target = AttributeKey<String>.trackerTarget.name
    private static let stream = AttributeKey<String>.monitorStream.name
    private static let location = AttributeKey<String>.monitorLocation.name
    private static let labels = AttributeKey<[String: String]>.monitorLabels.name

    /// The name of a stream with a digest behind it if Graphite changes the name, which may make two names one.
    private static func distinct(_ name: String) -> String {
        if PlaintextProtocol.name(name).alterations.isEmpty { return name }
        let short = name.shortened(toBytes: PlaintextProtocol.maxNameLength - 9) ?? name
        return "\(short)-\(SHA256.hexadecimal(of: name.utf8).prefix(8))"
    }
}
