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
    /// The messages of a batch, one for each record.
    static func messages(of records: [SampleRecord]) -> [KafkaMessage] {
        zip(records, JSONLines.encodeEach(records)).map { record, line in
            KafkaMessage(key: key(of: record), value: line, headers: headers(of: record))
        }
    }

    /// The message of a sample, for a mapping that changes a part of it.
    public static func message(of record: SampleRecord) -> KafkaMessage {
        KafkaMessage(
            key: key(of: record),
            value: JSONLines.encode([record]).dropLast(),
            headers: headers(of: record)
        )
    }

    private static func key(of record: SampleRecord) -> String? {
        let attributes = record.sample.attributes
        let names = [AttributeKey<String>.playbackId.name, AttributeKey<String>.senderId.name]
        for name in names { if case .string(let text)? = attributes[name], !text.isEmpty { return text } }
        return nil
    }

    private static func headers(of record: SampleRecord) -> [KafkaMessage.Header] {
        let type = if case .event = record.sample { "event" } else { "metric" }
        return [.init("id", record.id.description), .init("schema", JSONLines.schema), .init("type", type)]
            + record.sample.attributes.monitorHeaders.map { .init($0.name, $0.value) }
    }
}
