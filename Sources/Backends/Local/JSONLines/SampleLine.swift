internal import Instrument
internal import InstrumentJSON

/// A sample as one line of newline-delimited JSON, the format of the file and console backends.
///
/// `{"id", "sequence", "type": "event", "action", "tracker", "time" (ms since 1970), "instant" (ns),
/// "attributes": {…}}`, and for a metric `"name"`, `"kind"`, `"unit"`, `"value"` in place of `"action"`.
/// A sample for one service alone has `"service"`. Attributes are sorted by name, so that equal samples are equal
/// lines.
enum SampleLine {
    /// The beginning of every line.
    static let beginning = Array("{\"id\":\"".utf8)

    static func write(_ record: SampleRecord, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key(quoted: "\"id\":")
            writer.string(record.id)
            writer.key(quoted: "\"sequence\":")
            writer.integer(Int(clamping: record.sequence))
            describe(record.sample, to: &writer)
            writer.key(quoted: "\"tracker\":")
            writer.integer(record.sample.tracker.number)
            writer.key(quoted: "\"time\":")
            writer.integer(Int(clamping: record.sample.time.wallTime.milliseconds))
            writer.key(quoted: "\"instant\":")
            writer.integer(Int(clamping: record.sample.time.instant.nanoseconds))
            if let service = record.service {
                writer.key(quoted: "\"service\":")
                writer.string(service.description)
            }
            writer.key(quoted: "\"attributes\":")
            writer.attributes(record.sample.attributes)
        }
        writer.newline()
    }

    private static func describe(_ sample: Sample, to writer: inout JSONWriter) {
        writer.key(quoted: "\"type\":")
        switch sample {
        case .event(let event):
            writer.string("event")
            writer.key(quoted: "\"action\":")
            writer.string(event.action.name)
        case .metric(let metric):
            writer.string("metric")
            writer.key(quoted: "\"name\":")
            writer.string(metric.name.spelling)
            writer.key(quoted: "\"kind\":")
            writer.string(metric.name.kind.rawValue)
            writer.key(quoted: "\"unit\":")
            writer.string(metric.name.unit.rawValue)
            writer.key(quoted: "\"value\":")
            switch metric.value {
            case .int(let number): writer.integer(number)
            case .double(let number): writer.value(.double(number))
            }
        }
    }
}
