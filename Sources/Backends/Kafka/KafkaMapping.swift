public import Instrument
internal import InstrumentBackends

/// How samples become messages, unless the configuration has a function of yours.
///
/// | part of the message | content |
/// |---|---|
/// | key | the session: the sample's `playbackId`, else its `senderId`; a sample without both has no key |
/// | value | the sample as one JSON object (`JSONLines`, described in docs/ndjson-schema.md), without a line feed |
/// | header `id` | the sample's identifier, a UUID, the same at every attempt |
/// | header `schema` | `JSONLines.schema` |
/// | header `type` | `event` or `metric` |
/// | headers `stream`, `location`, `label.NAME` | stream and location of a monitor and each label of the stream, so that a consumer can choose without reading the value |
/// | timestamp | the time of the delivery, not of the sample: brokers delete and refuse messages by their timestamp, and a device's clock may be wrong by years |
///
/// Nothing is left out: the value has every attribute.
public enum KafkaMapping {
    /// The message of a sample, for a mapping that changes a part of it.
    public static func message(of record: SampleRecord) -> KafkaMessage {
        KafkaMessage(
            key: key(of: record),
            value: JSONLines.encode([record]).dropLast(),
            headers: headers(of: record)
        )
    }

    static func key(of record: SampleRecord) -> String? {
        for name in keyNames {
            if case .string(let text)? = record.sample.attributes[name], !text.isEmpty { return text }
        }
        return nil
    }

    private static let keyNames = [AttributeKey<String>.playbackId.name, AttributeKey<String>.senderId.name]

    private static func headers(of record: SampleRecord) -> [KafkaMessage.Header] {
        [
            .init("id", record.id.description), .init("schema", JSONLines.schema),
            .init("type", isEvent(record) ? "event" : "metric"),
        ] + monitorHeaders(of: record).map { .init($0.name, $0.value) }
    }

    static func isEvent(_ record: SampleRecord) -> Bool { if case .event = record.sample { true } else { false } }

    /// The headers of a monitor's sample; most samples are of no monitor.
    static func monitorHeaders(of record: SampleRecord) -> [(name: String, value: String)] {
        let attributes = record.sample.attributes
        let isOfMonitor = AttributeName.ofMonitor.contains { attributes[$0] != nil }
        return isOfMonitor ? attributes.monitorHeaders : []
    }
}
