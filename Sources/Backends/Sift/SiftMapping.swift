public import Instrument
internal import InstrumentJSON
internal import InstrumentSensors

/// How samples that were not logged through ``Sift`` become events. Pass one of these, or a function of yours, as the
/// configuration's `mapping`.
public enum SiftMapping {
    /// Events, without metrics.
    ///
    /// | event | of a sample |
    /// |---|---|
    /// | `time` | its calendar time |
    /// | `mobile_event_type` | its action |
    /// | `path` | its `trackerTarget` |
    /// | `user_id` | its attribute `userId`; set that in the instrument |
    /// | `fields` | its other attributes as text, arrays and objects as JSON, each label of a monitored stream apart, and its identifier as `sampleId` |
    ///
    /// Events of collectors have their own members: `AppState` becomes `ios_app_state`, `DeviceProperties`
    /// `ios_device_properties`, with `time` and `user_id` alone, so that equal properties compare equal.
    ///
    /// Left out: metrics, the sample's number in the queue, its monotonic instant, and the tracker's number, which
    /// `senderId` ends with. `sampleId` is the same at every attempt, so that the service recognises a duplicate.
    public static func events(_ record: SampleRecord) -> SiftEvent? {
        guard case .event(let event) = record.sample else { return nil }
        if let collected = collected(event) { return collected }
        return mapped(record, type: event.action.name)
    }

    /// The same, and metrics: `mobile_event_type` is the metric's name, `metrics` has its `value`, `kind` and `unit`.
    public static func eventsAndMetrics(_ record: SampleRecord) -> SiftEvent? {
        guard case .metric(let metric) = record.sample else { return events(record) }
        var event = mapped(record, type: metric.name.spelling)
        event.metrics = [
            "value": metric.value.description, "kind": metric.name.kind.rawValue, "unit": metric.name.unit.rawValue,
        ]
        return event
    }

    private static func collected(_ event: Event) -> SiftEvent? {
        var collected = SiftEvent(time: event.time.wallTime, userID: event.attributes[AttributeKey<String>("userId")])
        switch event.action {
        case .appState: collected.appState = AppState(event.attributes)
        case .deviceProperties: collected.deviceProperties = DeviceProperties(event.attributes)
        default: return nil
        }
        return collected
    }

    private static func mapped(_ record: SampleRecord, type: String) -> SiftEvent {
        let attributes = record.sample.attributes.withFlatLabels
        let userID = AttributeKey<String>("userId")
        var fields = ["sampleId": record.id.description]
        for attribute in attributes where attribute.name != userID.name {
            fields[attribute.name.spelling] = text(attribute.value)
        }
        return SiftEvent(
            time: record.sample.time.wallTime,
            type: type,
            path: attributes[.trackerTarget],
            userID: attributes[userID],
            fields: fields
        )
    }

    private static func text(_ value: AttributeValue) -> String {
        switch value {
        case .string(let text): text
        case .int, .double, .bool: value.description
        case .array, .object: JSONValue(value).description
        }
    }
}
