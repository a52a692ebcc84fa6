internal import Instrument

/// Encodes samples in record format 1: compact, without intermediate copies.
///
/// `kind, tracker, instant, wall time, name …, count of attributes, (name, tag, value) …`; numbers are variable-length,
/// texts UTF-8 with their length, UUIDs in upper case 16 bytes.
struct SampleEncoder {
    enum Kind {
        static let event: UInt8 = 0
        static let metric: UInt8 = 1
        /// An event whose action names its own time attribute.
        static let eventWithTimeAttribute: UInt8 = 2
    }

    enum Tag {
        static let no: UInt8 = 0
        static let yes: UInt8 = 1
        static let int: UInt8 = 2
        static let double: UInt8 = 3
        static let string: UInt8 = 4
        static let uuid: UInt8 = 5
        static let array: UInt8 = 6
        static let object: UInt8 = 7
    }

    /// The encoded form of an action, cached because the lookup takes longer than the rest of the record.
    private struct ActionCode {
        var bytes: [UInt8]
        var usualTimeAttribute: AttributeName
    }

    /// The encoded form of a metric's name, kind and unit.
    private struct MetricNameCode {
        var name: MetricName
        var bytes: [UInt8]
    }

    /// The latest UUID of an attribute: senders, streams and playbacks rarely change. The text is empty before the
    /// first one.
    private struct KnownUUID {
        var text = ""
        var bytes = UUIDBytes(high: 0, low: 0)
    }

    private var names = NameCodec()
    private var uuids: ContiguousArray<KnownUUID> = []
    /// By the numbers of the actions' names.
    private var actions: ContiguousArray<ActionCode?> = []
    private var metricNames: ContiguousArray<MetricNameCode> = []
    /// The head of the latest sample, which the metrics of an event share with it.
    private var head: RecordHead?

    /// The encoding of one sample.
    static func bytes(of sample: Sample) -> [UInt8] {
        var encoder = SampleEncoder()
        var capacity = 4096
        while true {
            let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
                count = 0
                guard let base = buffer.baseAddress else { return }
                var writer = RecordWriter(base: base, offset: 0, capacity: capacity)
                encoder.write(sample, to: &writer)
                if !writer.didOverflow { count = writer.offset }
            }
            if !bytes.isEmpty || capacity > 1 << 30 { return bytes }
            capacity *= 4
        }
    }

    mutating func write(_ sample: borrowing Sample, to writer: inout RecordWriter) {
        switch sample {
        case .event(let event): write(event, to: &writer)
        case .metric(let metric): write(metric, to: &writer)
        }
    }

    private mutating func write(_ event: Event, to writer: inout RecordWriter) {
        let code = code(of: event.action)
        let isUsual = event.action.timeAttribute == code.usualTimeAttribute
        writer.byte(isUsual ? Kind.event : Kind.eventWithTimeAttribute)
        write(headOf: event.tracker, event.time, to: &writer)
        code.bytes.withUnsafeBytes { writer.bytes($0) }
        if !isUsual { names.write(event.action.timeAttribute, to: &writer) }
        write(event.attributes, to: &writer)
    }

    @inline(__always)
    private mutating func code(of action: Action) -> ActionCode {
        let index = Int(action.number)
        if index < actions.count, let known = actions[index] { return known }
        return learn(action)
    }

    @inline(never)
    private mutating func learn(_ action: Action) -> ActionCode {
        let code = ActionCode(
            bytes: NameCodec.bytes(of: action),
            usualTimeAttribute: AttributeName("timeSince" + action.name)
        )
        let index = Int(action.number)
        // Many different names must not fill the memory.
        if index < 4096 {
            while actions.count <= index { actions.append(nil) }
            actions[index] = code
        }
        return code
    }

    private mutating func write(_ metric: Metric, to writer: inout RecordWriter) {
        writer.byte(Kind.metric)
        write(headOf: metric.tracker, metric.time, to: &writer)
        write(metric.name, to: &writer)
        switch metric.value {
        case .int(let value): Self.write(.int(value), to: &writer)
        case .double(let value): Self.write(.double(value), to: &writer)
        }
        write(metric.attributes, to: &writer)
    }

    @inline(__always)
    private mutating func write(headOf tracker: TrackerID, _ time: Timestamp, to writer: inout RecordWriter) {
        if let head, head.tracker == tracker, head.time == time { return writer.head(head) }
        let head = RecordHead(tracker, time)
        self.head = head
        writer.head(head)
    }

    /// Writes the spelling, the kind and the unit.
    private mutating func write(_ name: MetricName, to writer: inout RecordWriter) {
        let size = name.spelling.utf8.count
        for index in metricNames.indices
        where metricNames[index].name.spelling.utf8.count == size && metricNames[index].name == name {
            return metricNames[index].bytes.withUnsafeBytes { writer.bytes($0) }
        }
        var bytes: [UInt8] = []
        for text in [name.spelling, name.kind.rawValue, name.unit.rawValue] { NameCodec.append(text, to: &bytes) }
        bytes.withUnsafeBytes { writer.bytes($0) }
        // More names would take longer to compare than to write.
        if metricNames.count < 16 { metricNames.append(MetricNameCode(name: name, bytes: bytes)) }
    }

    private mutating func write(_ attributes: Attributes, to writer: inout RecordWriter) {
        // A local copy: without it, each byte would be written through two pointers.
        var local = writer
        attributes.withElements { elements in
            local.varint(UInt64(elements.count))
            var index = 0
            while index < elements.count, !local.didOverflow {
                index = names.withKnown { names in
                    uuids.withUnsafeBufferPointer { uuids in
                        Self.writeKnown(elements, from: index, named: names, uuids, to: &local)
                    }
                }
                guard index < elements.count else { break }
                let name = elements[index].name
                names.write(name, to: &local)
                switch elements[index].value {
                case .string(let text) where text.utf8.count == Self.uuidLength: write(text, of: name, to: &local)
                default: Self.write(elements[index].value, to: &local)
                }
                index += 1
            }
        }
        writer = local
    }

    private static var uuidLength: Int { 36 }
    /// Texts below this length, which takes a byte, are copied with the numbers between them.
    private static var shortLength: Int { 128 }
    /// The largest size of a known name, which is written as two words, and of a number, a UUID or a short text with
    /// its tag.
    private static var shortSize: Int { 16 + 1 + max(RecordWriter.varintSize, 16, 1 + shortLength) }

    /// Writes numbers, truths, known UUIDs and short texts with known names, of which most attributes are, up to the
    /// first other attribute. Returns its index.
    @inline(__always)
    private static func writeKnown(
        _ elements: UnsafeBufferPointer<Attributes.Element>,
        from first: Int,
        named known: UnsafeBufferPointer<PackedBytes>,
        _ uuids: UnsafeBufferPointer<KnownUUID>,
        to writer: inout RecordWriter
    ) -> Int {
        var index = first
        writer.write { start, end in
            var place = start
            // There is room for one more, which is checked once for all its bytes.
            while index < elements.count, place.distance(to: end) >= shortSize {
                let number = Int(elements[index].name.number)
                guard number < known.count, known[number].count > 0 else { break }
                place.storeBytes(of: known[number].words.0, as: UInt64.self)
                place.storeBytes(of: known[number].words.1, toByteOffset: 8, as: UInt64.self)
                let tag = place + known[number].count
                switch elements[index].value {
                case .bool(let truth):
                    tag.storeBytes(of: truth ? Tag.yes : Tag.no, as: UInt8.self)
                    place = tag + 1
                case .int(let number):
                    tag.storeBytes(of: Tag.int, as: UInt8.self)
                    place = RecordWriter.put(signed: Int64(number), at: tag + 1)
                case .double(let number):
                    tag.storeBytes(of: Tag.double, as: UInt8.self)
                    tag.storeBytes(of: number.bitPattern.littleEndian, toByteOffset: 1, as: UInt64.self)
                    place = tag + 9
                case .string(let text):
                    let count = text.utf8.count
                    if count == uuidLength {
                        guard number < uuids.count, uuids[number].text == text else { return place }
                        place = write(uuids[number].bytes, at: tag)
                    } else {
                        guard let end = writeShort(text, count, at: tag) else { return place }
                        place = end
                    }
                case .array, .object: return place
                }
                index += 1
            }
            return place
        }
        return index
    }

    /// Writes a short text with its tag. Returns the place after it; nil for another text, of which nothing is written.
    @inline(__always)
    private static func writeShort(_ text: String, _ count: Int, at tag: UnsafeMutableRawPointer)
        -> UnsafeMutableRawPointer?
    {
        guard count < shortLength else { return nil }
        let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable { bytes in
            if let first = bytes.baseAddress { (tag + 2).copyMemory(from: first, byteCount: count) }
        }
        if isWritten == nil { return nil }
        tag.storeBytes(of: Tag.string, as: UInt8.self)
        tag.storeBytes(of: UInt8(count), toByteOffset: 1, as: UInt8.self)
        return tag + 2 + count
    }

    /// Writes a UUID with its tag. Returns the place after it.
    @inline(__always)
    private static func write(_ uuid: UUIDBytes, at tag: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        tag.storeBytes(of: Tag.uuid, as: UInt8.self)
        tag.storeBytes(of: uuid.high.littleEndian, toByteOffset: 1, as: UInt64.self)
        tag.storeBytes(of: uuid.low.littleEndian, toByteOffset: 9, as: UInt64.self)
        return tag + 17
    }

    private static func write(_ value: AttributeValue, to writer: inout RecordWriter) {
        switch value {
        case .bool(let truth): writer.byte(truth ? Tag.yes : Tag.no)
        case .int(let number):
            writer.byte(Tag.int)
            writer.signed(Int64(number))
        case .double(let number):
            writer.byte(Tag.double)
            writer.fixed(number.bitPattern)
        case .string(let text):
            writer.byte(Tag.string)
            writer.text(text)
        case .array(let values):
            writer.byte(Tag.array)
            writer.varint(UInt64(values.count))
            for value in values { write(value, to: &writer) }
        case .object(let members):
            writer.byte(Tag.object)
            writer.varint(UInt64(members.count))
            for (name, value) in members.sortedByBytes(of: \.key) {
                writer.text(name)
                write(value, to: &writer)
            }
        }
    }

    /// Writes a text of the length of a UUID, as a UUID if it is one.
    private mutating func write(_ text: String, of name: AttributeName, to writer: inout RecordWriter) {
        guard let uuid = UUIDBytes(text) else {
            writer.byte(Tag.string)
            return writer.text(text)
        }
        let index = Int(name.number)
        if index < 256 {
            while uuids.count <= index { uuids.append(KnownUUID()) }
            uuids[index] = KnownUUID(text: text, bytes: uuid)
        }
        writer.byte(Tag.uuid)
        writer.fixed(uuid.high)
        writer.fixed(uuid.low)
    }
}

/// The 16 bytes of a UUID in upper case, as this library writes identifiers.
struct UUIDBytes: Hashable {
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    init?(_ text: String) {
        var (high, low): (UInt64, UInt64) = (0, 0)
        for (index, byte) in text.utf8.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                if byte != UInt8(ascii: "-") { return nil }
                continue
            }
            let digit: UInt64
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = UInt64(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
            high = high << 4 | low >> 60
            low = low << 4 | digit
        }
        (self.high, self.low) = (high, low)
    }

    var text: String { UUIDText.describe(high: high, low: low) }
}
