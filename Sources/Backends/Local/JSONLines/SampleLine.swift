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
            writer.key("id")
            writer.string(record.id.description)
            writer.key("sequence")
            writer.value(.int(Int(clamping: record.sequence)))
            describe(record.sample, to: &writer)
            writer.key("tracker")
            writer.value(.int(record.sample.tracker.number))
            writer.key("time")
            writer.value(.int(Int(clamping: record.sample.time.wallTime.milliseconds)))
            writer.key("instant")
            writer.value(.int(Int(clamping: record.sample.time.instant.nanoseconds)))
            if let service = record.service {
                writer.key("service")
                writer.string(service.description)
            }
            writer.key("attributes")
            write(record.sample.attributes, to: &writer)
        }
        writer.newline()
    }

    private static func describe(_ sample: Sample, to writer: inout JSONWriter) {
        writer.key("type")
        switch sample {
        case .event(let event):
            writer.string("event")
            writer.key("action")
            writer.string(event.action.name)
        case .metric(let metric):
            writer.string("metric")
            writer.key("name")
            writer.string(metric.name.spelling)
            writer.key("kind")
            writer.string(metric.name.kind.rawValue)
            writer.key("unit")
            writer.string(metric.name.unit.rawValue)
            writer.key("value")
            switch metric.value {
            case .int(let number): writer.value(.int(number))
            case .double(let number): writer.value(.double(number))
            }
        }
    }

    private static func write(_ attributes: Attributes, to writer: inout JSONWriter) {
        let entries = writer.order.entries(of: attributes)
        writer.object { writer in
            for entry in entries {
                writer.key(quoted: entry.quotedName)
                writer.value(attributes[entry.position].value)
            }
        }
    }
}
