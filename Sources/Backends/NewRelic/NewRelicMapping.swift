public import Instrument

/// How samples become events and metrics of New Relic. Change its parts, or pass a function of yours as the
/// configuration's `mapping`.
///
/// | sample | becomes |
/// |---|---|
/// | event | an event of ``eventType`` with `action`, all attributes, `tracker`, `sampleId` |
/// | metric, a gauge | a gauge named ``metricPrefix`` and its name, with its attributes, `unit` and `sampleId` |
/// | metric, a counter | a count over 1 ms, because an increment has no interval |
///
/// Each label of a monitored stream is a separate attribute, because attributes of New Relic are flat: `cdn`, or
/// `label_title` for a label that has the name of another attribute.
///
/// Not sent: the monotonic instant and the sample's number in the queue, which mean nothing outside of this machine,
/// and the attributes in ``omitted``.
public struct NewRelicMapping: Sendable {
    /// The type of events; `OAVT_EVENTS` by default.
    public var eventType: String
    /// The prefix of a metric's name; `oavt.` by default.
    public var metricPrefix: String
    /// The attributes that are not sent.
    public var omitted: [AttributeName]

    /// Creates a mapping.
    public init(eventType: String = "OAVT_EVENTS", metricPrefix: String = "oavt.", omitted: [AttributeName] = []) {
        self.eventType = eventType
        self.metricPrefix = metricPrefix
        self.omitted = omitted
    }

    /// The event or the metric of a sample.
    public func callAsFunction(_ record: SampleRecord) -> NewRelicRecord? {
        var attributes = record.sample.attributes
        for name in omitted { attributes.remove(name) }
        attributes = attributes.withFlatLabels
        attributes.set(.string(record.id.description), for: Self.sampleId)
        let time = record.sample.time.wallTime
        switch record.sample {
        case .event(let event):
            attributes.set(.string(event.action.name), for: Self.action)
            attributes.set(.int(event.tracker.number), for: Self.tracker)
            return .event(NewRelicEvent(type: eventType, attributes: attributes, time: time))
        case .metric(let metric):
            attributes.set(.string(metric.name.unit.rawValue), for: Self.unit)
            let number: Double =
                switch metric.value {
                case .int(let value): Double(value)
                case .double(let value): value
                }
            let value: NewRelicMetric.Value =
                metric.name.kind == .gauge ? .gauge(number) : .count(number, over: .milliseconds(1))
            let name = metricPrefix + metric.name.spelling
            return .metric(NewRelicMetric(name: name, value: value, attributes: attributes, time: time))
        }
    }

    private static let sampleId = AttributeName("sampleId")
    private static let action = AttributeName("action")
    private static let tracker = AttributeName("tracker")
    private static let unit = AttributeName("unit")
}
