public import Instrument
internal import InstrumentJSON

/// How samples become actions. Pass one of these, or a function of yours, as the configuration's `mapping`.
public enum ClickstreamMapping {
    /// Events and metrics with everything that they carry.
    ///
    /// | action | of an event | of a metric |
    /// |---|---|---|
    /// | `id` | the sample's identifier | the same |
    /// | `name` | its action | its name |
    /// | `timestamp` | its calendar time | that of the event it was computed from |
    /// | `variables` | its attributes | its attributes, `metricValue`, `metricKind`, `metricUnit` |
    /// | `metadata` | the metadata of the logger's delegate | none |
    ///
    /// Left out: the sample's number in the queue, its monotonic instant (both are this machine's alone) and the
    /// tracker's number, which `senderId` ends with.
    public static func all(_ record: SampleRecord) -> ClickstreamAction? {
        switch record.sample {
        case .event(let event):
            return action(record, name: event.action.name, variables: variables(of: event.attributes))
        case .metric(let metric):
            var variables = variables(of: metric.attributes)
            variables["metricValue"] = value(of: metric)
            variables["metricKind"] = .string(metric.name.kind.rawValue)
            variables["metricUnit"] = .string(metric.name.unit.rawValue)
            return action(record, name: metric.name.spelling, variables: variables)
        }
    }

    /// The same, without metrics.
    public static func events(_ record: SampleRecord) -> ClickstreamAction? {
        guard case .event = record.sample else { return nil }
        return all(record)
    }

    /// Under which attribute the logger saves the delegate's metadata.
    static let metadata = AttributeName("clickstream.metadata")

    private static func action(
        _ record: SampleRecord,
        name: String,
        variables: [String: JSONValue]
    ) -> ClickstreamAction {
        var metadata: [String: JSONValue] = [:]
        if case .object(let saved)? = record.sample.attributes[Self.metadata] {
            metadata = saved.mapValues { JSONValue($0) }
        }
        return ClickstreamAction(
            id: record.id.description,
            name: name,
            timestamp: record.sample.time.wallTime,
            variables: variables,
            metadata: metadata
        )
    }

    private static func variables(of attributes: Attributes) -> [String: JSONValue] {
        let members = attributes.lazy.filter { $0.name != metadata }.map { ($0.name.spelling, JSONValue($0.value)) }
        return Dictionary(members) { _, last in last }
    }

    private static func value(of metric: Metric) -> JSONValue {
        switch metric.value {
        case .int(let number): .int(number)
        case .double(let number): .double(number)
        }
    }
}
