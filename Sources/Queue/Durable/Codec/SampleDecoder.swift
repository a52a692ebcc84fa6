internal import Instrument

/// Decodes the output of a ``SampleEncoder``. Remembers the names and the identifiers of the records before, which
/// rarely change from one record to the next: keep one decoder for all records of a batch.
struct SampleDecoder {
    private typealias Tag = SampleEncoder.Tag
    /// The largest nesting depth. Deeper nesting is damage, and would exhaust the stack.
    private static var maxDepth: Int { 128 }

    private var names = NameMemory()
    private var identifiers = IdentifierMemory()
    private var metricNames = MetricNameMemory()

    /// Decodes a single record.
    static func read(_ bytes: UnsafeRawBufferPointer) throws(RecordReader.Damaged) -> Sample {
        var decoder = SampleDecoder()
        return try decoder.read(bytes)
    }

    mutating func read(_ bytes: UnsafeRawBufferPointer) throws(RecordReader.Damaged) -> Sample {
        var reader = RecordReader(bytes)
        let kind = try reader.byte()
        let tracker = TrackerID(Int(try reader.signed()))
        let instant = MonotonicInstant(nanoseconds: try reader.signed())
        let time = Timestamp(instant: instant, wallTime: WallTime(milliseconds: try reader.signed()))
        let sample: Sample
        switch kind {
        case SampleEncoder.Kind.event, SampleEncoder.Kind.eventWithTimeAttribute:
            var action = try action(&reader)
            if kind == SampleEncoder.Kind.eventWithTimeAttribute {
                action = Action(action.name, timeAttribute: try name(&reader))
            }
            sample = .event(Event(action, tracker: tracker, time: time, attributes: try attributes(&reader)))
        case SampleEncoder.Kind.metric:
            let (name, value) = (try metricName(&reader), try metricValue(&reader))
            let attributes = try attributes(&reader)
            sample = .metric(Metric(name, value, tracker: tracker, time: time, attributes: attributes))
        default: throw RecordReader.Damaged()
        }
        guard reader.isAtEnd else { throw RecordReader.Damaged() }
        return sample
    }

    private mutating func action(_ reader: inout RecordReader) throws(RecordReader.Damaged) -> Action {
        let number = try reader.varint()
        if number == 0 { return Action(try reader.text()) }
        guard let action = NameCodec.action(Int(clamping: number)) else { throw RecordReader.Damaged() }
        return action
    }

    private mutating func name(_ reader: inout RecordReader) throws(RecordReader.Damaged) -> AttributeName {
        let number = try reader.varint()
        if number == 0 { return try names.read(&reader) }
        guard let name = NameCodec.attribute(Int(clamping: number)) else { throw RecordReader.Damaged() }
        return name
    }

    private mutating func metricName(_ reader: inout RecordReader) throws(RecordReader.Damaged) -> MetricName {
        try metricNames.read(&reader)
    }

    private mutating func metricValue(_ reader: inout RecordReader) throws(RecordReader.Damaged) -> Metric.Value {
        switch try value(&reader, depth: 0) {
        case .int(let value): return .int(value)
        case .double(let value): return .double(value)
        default: throw RecordReader.Damaged()
        }
    }

    private mutating func attributes(_ reader: inout RecordReader) throws(RecordReader.Damaged) -> Attributes {
        let count = try reader.count()
        var attributes = Attributes(exactCapacity: count)
        for _ in 0..<count {
            let name = try name(&reader)
            attributes.set(try value(&reader, depth: 0), for: name)
        }
        return attributes
    }

    private mutating func value(
        _ reader: inout RecordReader,
        depth: Int
    ) throws(RecordReader.Damaged) -> AttributeValue {
        if depth > Self.maxDepth { throw RecordReader.Damaged() }
        switch try reader.byte() {
        case Tag.no: return .bool(false)
        case Tag.yes: return .bool(true)
        case Tag.int: return .int(Int(try reader.signed()))
        case Tag.double: return .double(Double(bitPattern: try reader.fixed()))
        case Tag.string: return .string(try reader.text())
        case Tag.uuid: return .string(identifiers.text(UUIDBytes(high: try reader.fixed(), low: try reader.fixed())))
        case Tag.array:
            var values: [AttributeValue] = []
            for _ in 0..<(try reader.count()) { values.append(try value(&reader, depth: depth + 1)) }
            return .array(values)
        case Tag.object:
            var members: [String: AttributeValue] = [:]
            for _ in 0..<(try reader.count()) {
                let name = try reader.text()
                members[name] = try value(&reader, depth: depth + 1)
            }
            return .object(members)
        default: throw RecordReader.Damaged()
        }
    }
}
