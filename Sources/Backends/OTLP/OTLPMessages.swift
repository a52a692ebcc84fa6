internal import Instrument
internal import InstrumentJSON

/// The requests of OTLP 1.x, in Protocol Buffers and in JSON.
///
/// Source: opentelemetry-proto (`logs.proto`, `metrics.proto`, `common.proto`, `resource.proto`); numbers are those of
/// the fields there. JSON has names in lower camel case, integers of 64 bits as texts and enumerations as numbers.
struct OTLPMessages {
    private static let scope = "instrument"
    private static let delta: UInt64 = 1
    /// Arrays and objects that are nested deeper are sent as JSON texts: decoders refuse messages that are nested 100
    /// deep, and each level of values is up to three messages.
    static let maxDepth = 20

    let resource: [OTLPLog.Attribute]

    // MARK: Protocol Buffers

    func protobuf(of logs: [OTLPLog]) -> [UInt8] {
        request(capacity: logs.count * 1024) { writer in
            for log in logs {
                writer.message(2) { writer in
                    Self.write(log.name, log.severity, log.time, to: &writer) { writer in
                        Self.write(log.attributes, field: 6, to: &writer)
                    }
                }
            }
        }
    }

    /// The log records that a mapping makes of the events among the records, without making them.
    func protobuf(ofEventsIn records: [SampleRecord], _ mapping: OTLPMapping) -> [UInt8] {
        var names = LogNames()
        return request(capacity: records.count * 1024) { writer in
            for record in records {
                guard case .event(let event) = record.sample else { continue }
                let (name, severity) = (WireNames.event(event.action.name), mapping.severity(of: event))
                writer.message(2) { writer in
                    Self.write(name, severity, event.time.wallTime, to: &writer) { writer in
                        mapping.eachAttribute(of: event, record) { name, value in
                            writer.message(6) { writer in
                                names.write(name, to: &writer)
                                writer.message(2) { Self.write(value, depth: 0, to: &$0) }
                            }
                        }
                    }
                }
            }
        }
    }

    func protobuf(of series: OTLPSeries) -> [UInt8] {
        request(capacity: series.metrics.count * 512) { writer in
            for (key, points) in series.metrics { writer.message(2) { Self.write(key, points, to: &$0) } }
        }
    }

    /// The one message of a request: the resource, and the scope with what `body` writes.
    private func request(capacity: Int, _ body: (inout ProtobufWriter) -> Void) -> [UInt8] {
        var writer = ProtobufWriter(capacity: capacity)
        writer.message(1) { writer in
            writer.message(1) { Self.write(resource, field: 1, to: &$0) }
            writer.message(2) { writer in
                writer.message(1) { $0.string(1, Self.scope) }
                body(&writer)
            }
        }
        return writer.bytes
    }

    /// A log record; `attributes` writes its attributes.
    private static func write(
        _ name: String,
        _ severity: OTLPLog.Severity,
        _ time: WallTime,
        to writer: inout ProtobufWriter,
        attributes: (inout ProtobufWriter) -> Void
    ) {
        let time = UInt64(time.nanoseconds)
        writer.fixed(1, time)
        writer.unsigned(2, UInt64(severity.rawValue))
        writer.string(3, severity.text)
        attributes(&writer)
        writer.fixed(11, time)
        writer.string(12, name)
    }

    private static func write(_ key: OTLPSeries.Key, _ points: [OTLPSeries.Point], to writer: inout ProtobufWriter) {
        writer.string(1, key.name)
        writer.string(3, key.unit)
        switch key.kind {
        case .gauge:
            writer.message(5) { writer in for point in points { writer.message(1) { number(point, to: &$0) } } }
        case .sum:
            writer.message(7) { writer in
                for point in points { writer.message(1) { number(point, to: &$0) } }
                writer.unsigned(2, delta)
                writer.unsigned(3, points.allSatisfy { $0.histogram.min >= 0 } ? 1 : 0)
            }
        case .histogram:
            writer.message(10) { writer in
                for point in points { writer.message(1) { histogram(point, to: &$0) } }
                writer.unsigned(2, delta)
            }
        }
    }

    private static func number(_ point: OTLPSeries.Point, to writer: inout ProtobufWriter) {
        writer.fixed(2, point.start)
        writer.fixed(3, point.end)
        writer.double(4, point.value)
        write(point.attributes, field: 7, to: &writer)
    }

    private static func histogram(_ point: OTLPSeries.Point, to writer: inout ProtobufWriter) {
        let histogram = point.histogram
        write(point.attributes, field: 1, to: &writer)
        writer.fixed(2, point.start)
        writer.fixed(3, point.end)
        writer.fixed(4, histogram.count)
        writer.double(5, histogram.sum)
        writer.zigzag(6, Int64(histogram.scale))
        if histogram.zeroCount > 0 { writer.fixed(7, histogram.zeroCount) }
        if !histogram.buckets.isEmpty {
            writer.message(8) { writer in
                writer.zigzag(1, Int64(histogram.offset))
                writer.packed(2, histogram.buckets)
            }
        }
        writer.double(12, histogram.min)
        writer.double(13, histogram.max)
    }

    private static func write(_ attributes: [OTLPLog.Attribute], field: UInt64, to writer: inout ProtobufWriter) {
        for attribute in attributes {
            writer.message(field) { writer in
                writer.string(1, attribute.name)
                writer.message(2) { write(attribute.value, depth: 0, to: &$0) }
            }
        }
    }

    private static func write(_ value: AttributeValue, depth: Int, to writer: inout ProtobufWriter) {
        switch value {
        case .string(let text): writer.string(1, text)
        case .bool(let truth): writer.unsigned(2, truth ? 1 : 0)
        case .int(let number): writer.signed(3, Int64(number))
        case .double(let number): writer.double(4, number)
        case .array, .object: writeCollection(value, depth: depth, to: &writer)
        }
    }

    private static func writeCollection(_ value: AttributeValue, depth: Int, to writer: inout ProtobufWriter) {
        switch value {
        case _ where depth >= maxDepth: writer.string(1, JSONValue(value).description)
        case .array(let values):
            writer.message(5) { writer in
                for value in values { writer.message(1) { write(value, depth: depth + 1, to: &$0) } }
            }
        case .object(let members):
            writer.message(6) { writer in
                for (name, value) in members.sortedByBytes(of: \.key) {
                    writer.message(1) { writer in
                        writer.string(1, name)
                        writer.message(2) { write(value, depth: depth + 1, to: &$0) }
                    }
                }
            }
        case .string, .int, .double, .bool: write(value, depth: depth, to: &writer)
        }
    }
}

/// The names of log records' attributes as fields of Protocol Buffers, made once for each.
private struct LogNames {
    private var fields: [UInt8] = []
    /// The places in `fields`, by the numbers of the names; no field is empty.
    private var places: [Range<Int>] = []

    mutating func write(_ name: OTLPMapping.LogName, to writer: inout ProtobufWriter) {
        switch name {
        case .other(let text): writer.string(1, text)
        case .attribute(let name):
            let place = place(of: name)
            fields.withUnsafeBufferPointer { writer.fields(UnsafeBufferPointer(rebasing: $0[place])) }
        }
    }

    private mutating func place(of name: AttributeName) -> Range<Int> {
        let index = Int(name.number)
        if index < places.count, !places[index].isEmpty { return places[index] }
        var writer = ProtobufWriter()
        writer.string(1, WireNames.attribute(name))
        let start = fields.count
        fields += writer.bytes
        if index >= places.count { places += repeatElement(0..<0, count: index + 1 - places.count) }
        places[index] = start..<fields.count
        return places[index]
    }
}
