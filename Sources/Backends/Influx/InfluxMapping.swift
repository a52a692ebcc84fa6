public import Instrument

/// How samples become points. Change its parts, or pass a function of yours as the configuration's `mapping`.
///
/// | point | of an event | of a metric |
/// |---|---|---|
/// | measurement | ``eventMeasurement`` | ``metricMeasurement`` |
/// | tags | `action`, the attributes in ``tags``, stream, location and labels | `metric` (its name), the attributes in ``tags``, the metric's labels |
/// | fields | all other attributes, `sampleId`, `tracker` | the same, and `value` (a float), `kind`, `unit` |
/// | time | the event's calendar time | that of the event that the metric was computed from |
///
/// The labels of a metric (`Metric.labels`), such as the `rendition` of a `TimeInQuality`, are tags, so that a query
/// can group by them. So are, in events and metrics, the stream of a monitor (`monitorStream`), its location
/// (`monitorLocation`) and each label of the stream (`cdn`): points of two streams are never one point.
///
/// Not sent: the monotonic instant and the sample's number in the queue, which mean nothing outside of this machine,
/// and the attributes in ``omitted``.
public struct InfluxMapping: Sendable {
    /// The measurement of events; `OAVT_EVENTS`, as OpenAVT names it.
    public var eventMeasurement = "OAVT_EVENTS"
    /// The measurement of metrics; `OAVT_METRICS`, as OpenAVT names it.
    public var metricMeasurement = "OAVT_METRICS"
    /// The attributes that are tags, besides the action or the metric's name. Keep the list short and each attribute's
    /// set of values small: InfluxDB keeps an index entry for every combination.
    public var tags: [AttributeName] = [AttributeKey<String>.trackerTarget.name, AttributeKey<Bool>.isAdsTracker.name]
    /// The attributes that are not sent.
    public var omitted: [AttributeName] = []

    /// Creates the default mapping.
    public init() {}

    /// The point of a sample.
    public func callAsFunction(_ record: SampleRecord) -> InfluxPoint? {
        var fields = record.sample.attributes
        for name in omitted { fields.remove(name) }
        fields.set(.string(record.id.description), for: Self.sampleId)
        fields.set(.int(record.sample.tracker.number), for: Self.tracker)
        var tags: [Attributes.Element] = []
        tags.reserveCapacity(self.tags.count + 1)
        switch record.sample {
        case .event(let event): tags.append(.init(name: Self.action, value: .string(event.action.name)))
        case .metric(let metric):
            tags.append(.init(name: Self.metric, value: .string(metric.name.spelling)))
            fields.set(.double(metric.value.double), for: Self.value)
            fields.set(.string(metric.name.kind.rawValue), for: Self.kind)
            fields.set(.string(metric.name.unit.rawValue), for: Self.unit)
        }
        for name in self.tags {
            if let value = fields[name] { tags.append(.init(name: name, value: value)) }
        }
        let labels =
            switch record.sample {
            case .event: fields.monitorElements
            case .metric(let metric): metric.ownLabels + fields.labelElements
            }
        tags += labels.filter { label in
            label.name != Self.metric && !self.tags.contains(label.name) && !omitted.contains(label.name)
        }
        fields.remove(Self.labels)
        let measurement =
            if case .event = record.sample { eventMeasurement } else { metricMeasurement }
        return InfluxPoint(
            measurement: measurement,
            tags: tags,
            fields: fields,
            time: record.sample.time.wallTime
        )
    }

    private static let action = AttributeName("action")
    private static let metric = AttributeName("metric")
    private static let sampleId = AttributeName("sampleId")
    private static let tracker = AttributeName("tracker")
    private static let value = AttributeName("value")
    private static let kind = AttributeName("kind")
    private static let unit = AttributeName("unit")
    private static let labels = AttributeKey<[String: String]>.monitorLabels.name
}

extension Metric.Value {
    /// The number as a float: one field of InfluxDB has one type.
    fileprivate var double: Double {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        }
    }
}
