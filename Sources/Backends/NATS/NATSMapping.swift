public import Instrument
internal import InstrumentBackends

/// How samples become messages, unless the configuration has a function of yours.
///
/// | part of the message | content |
/// |---|---|
/// | subject | that of the endpoint |
/// | payload | the sample as one JSON object (`JSONLines`, described in docs/ndjson-schema.md), without a line feed |
/// | header `Nats-Msg-Id` | the sample's identifier, a UUID, the same at every attempt: a stream stores it once within its duplicate window |
/// | header `schema` | `JSONLines.schema` |
/// | header `type` | `event` or `metric` |
/// | headers `stream`, `location`, `label.NAME` | stream and location of a monitor and each label of the stream, so that a consumer can choose without reading the payload |
///
/// Nothing is left out: the payload has every attribute.
public enum NATSMapping {
    /// The message of a sample, for a mapping that changes a part of it.
    public static func message(of record: SampleRecord) -> NATSMessage {
        message(of: record, JSONLines.encodeEach([record]).first ?? [])
    }

    /// The messages of a batch, one for each record.
    static func messages(of records: [SampleRecord]) -> [NATSMessage] {
        zip(records, JSONLines.encodeEach(records)).map { message(of: $0, $1) }
    }

    private static func message(of record: SampleRecord, _ line: [UInt8]) -> NATSMessage {
        let type = if case .event = record.sample { "event" } else { "metric" }
        let monitor = record.sample.attributes.monitorHeaders.map { NATSMessage.Header($0.name, $0.value) }
        return NATSMessage(payload: line, headers: [.init("schema", JSONLines.schema), .init("type", type)] + monitor)
    }
}
