internal import Instrument
internal import InstrumentJSON

/// Reads lines in exactly the form in which ``SampleLine`` writes them, without a tree of JSON values.
///
/// A file repeats few names, actions and texts: the parser keeps them from line to line, and predicts each attribute's
/// name from the name before it. The parser is a short cut, not a second reader: it declines every line in another form
/// (other order of the members, white space, escapes, arrays, objects), and the caller reads that line with
/// ``SampleLine/read(_:)``. For the lines that the parser does not decline, both give equal records.
struct SampleLineParser {
    /// The number of different names, actions or texts to keep.
    private static let tableCapacity = 4096

    private var names = ByteTable<AttributeName>(capacity: tableCapacity)
    /// `"name":` of each name in a row, and where each one begins; one more beginning than names.
    private var quotedNames: [UInt8] = []
    private var quotedStarts: [Int] = [0]
    /// For each name the name that followed it last, plus one; zero for none. A successor is greater, byte by byte.
    private var successors: [Int] = []
    private var firstName: Int?
    private var texts = PredictedTexts(capacity: tableCapacity)
    /// For each name the position of its last text.
    private var lastTexts: [Int] = []
    private var numbers = ByteTable<Double>(capacity: tableCapacity)
    private var actions = ByteTable<Action>(capacity: tableCapacity)
    private var metricNames = ByteTable<MetricName>(capacity: tableCapacity)
    private let elements = ElementBuffer()

    /// Returns the record of a line, without its line feed; nil declines the line.
    mutating func read(_ line: UnsafeBufferPointer<UInt8>) -> SampleRecord? {
        guard var cursor = LineCursor(line), cursor.take("{\"id\":\""), let id = Self.identifier(&cursor),
            cursor.take("\",\"sequence\":"), let number = cursor.integer(), let sequence = UInt64(exactly: number),
            cursor.take(",\"type\":\"")
        else { return nil }
        if cursor.take("event\",\"action\":\"") {
            guard let action = action(&cursor), let (tracker, time) = Self.origin(&cursor) else { return nil }
            var service: ServiceName?
            guard Self.takeService(&cursor, into: &service), let attributes = attributes(&cursor),
                cursor.take(UInt8(ascii: "}")), cursor.isAtEnd
            else { return nil }
            let event = Event(action, tracker: tracker, time: time, attributes: attributes)
            return SampleRecord(id: id, sequence: sequence, sample: .event(event), service: service)
        }
        guard cursor.take("metric\",\"name\":\""), let name = metricName(&cursor), cursor.take(",\"value\":"),
            let value = metricValue(&cursor), let (tracker, time) = Self.origin(&cursor)
        else { return nil }
        var service: ServiceName?
        guard Self.takeService(&cursor, into: &service), let attributes = attributes(&cursor),
            cursor.take(UInt8(ascii: "}")), cursor.isAtEnd
        else { return nil }
        let metric = Metric(name, value, tracker: tracker, time: time, attributes: attributes)
        return SampleRecord(id: id, sequence: sequence, sample: .metric(metric), service: service)
    }

    /// The digits of a UUID, with its hyphens.
    private static func identifier(_ cursor: inout LineCursor) -> SampleID? {
        let hyphen = UInt8(ascii: "-")
        guard let a = cursor.hexadecimal(8), cursor.take(hyphen), let b = cursor.hexadecimal(4), cursor.take(hyphen),
            let c = cursor.hexadecimal(4), cursor.take(hyphen), let d = cursor.hexadecimal(4), cursor.take(hyphen),
            let e = cursor.hexadecimal(12)
        else { return nil }
        return SampleID(high: a << 32 | b << 16 | c, low: d << 48 | e)
    }

    private static func origin(_ cursor: inout LineCursor) -> (TrackerID, Timestamp)? {
        guard cursor.take(",\"tracker\":"), let tracker = cursor.integer(), cursor.take(",\"time\":"),
            let wall = cursor.integer(), cursor.take(",\"instant\":"), let instant = cursor.integer()
        else { return nil }
        let time = Timestamp(
            instant: MonotonicInstant(nanoseconds: Int64(instant)),
            wallTime: WallTime(milliseconds: Int64(wall))
        )
        return (TrackerID(tracker), time)
    }

    /// Takes the service that the sample is for, if the line names one; false for a name that is escaped or not UTF-8.
    private static func takeService(_ cursor: inout LineCursor, into service: inout ServiceName?) -> Bool {
        guard cursor.take(",\"service\":\"") else { return true }
        guard let bytes = cursor.text(), let name = String(validating: bytes, as: UTF8.self) else { return false }
        service = ServiceName(name)
        return true
    }

    private mutating func action(_ cursor: inout LineCursor) -> Action? {
        guard let text = cursor.text() else { return nil }
        if let known = actions.position(of: text) { return actions.values[known] }
        guard let action = String(validating: text, as: UTF8.self).map({ Action($0) }) else { return nil }
        _ = actions.insert(action, for: text)
        return action
    }

    /// Name, kind and unit, which are one key of the table.
    private mutating func metricName(_ cursor: inout LineCursor) -> MetricName? {
        let start = cursor.position
        guard let spelling = cursor.text(), cursor.take(",\"kind\":\""), let kind = cursor.text(),
            cursor.take(",\"unit\":\""), let unit = cursor.text()
        else { return nil }
        let key = cursor.bytes(from: start)
        if let known = metricNames.position(of: key) { return metricNames.values[known] }
        guard let spelling = String(validating: spelling, as: UTF8.self),
            let kind = String(validating: kind, as: UTF8.self).flatMap({ MetricName.Kind(rawValue: $0) }),
            let unit = String(validating: unit, as: UTF8.self).flatMap({ MetricName.Unit(rawValue: $0) })
        else { return nil }
        let name = MetricName(spelling, kind, unit: unit)
        _ = metricNames.insert(name, for: key)
        return name
    }

    private mutating func metricValue(_ cursor: inout LineCursor) -> Metric.Value? {
        if let value = cursor.integer() { return .int(value) }
        return double(&cursor).map { .double($0) }
    }

    /// The members of an object whose names are sorted by their bytes, and so are all different.
    private mutating func attributes(_ cursor: inout LineCursor) -> Attributes? {
        guard cursor.take(",\"attributes\":{") else { return nil }
        elements.removeAll()
        if cursor.take(UInt8(ascii: "}")) { return Attributes() }
        var last: Int?
        while true {
            guard let name = name(after: last, &cursor), let value = value(of: name, &cursor) else { return nil }
            last = name
            elements.append(Attributes.Element(name: names.values[name], value: value))
            if cursor.take(UInt8(ascii: ",")) { continue }
            return cursor.take(UInt8(ascii: "}")) ? elements.take() : nil
        }
    }

    /// The position of the next name and its colon; nil if the name is not greater than the last one, or not printable
    /// ASCII.
    @inline(__always)
    private mutating func name(after last: Int?, _ cursor: inout LineCursor) -> Int? {
        let predicted = last.map { successors[$0] - 1 } ?? firstName ?? -1
        if predicted >= 0 {
            let place = quotedStarts[predicted]..<quotedStarts[predicted + 1]
            let isNext = quotedNames.withUnsafeBufferPointer { cursor.take(UnsafeBufferPointer(rebasing: $0[place])) }
            if isNext { return predicted }
        }
        return learnName(after: last, &cursor)
    }

    private mutating func learnName(after last: Int?, _ cursor: inout LineCursor) -> Int? {
        guard cursor.take(UInt8(ascii: "\"")), let text = cursor.text(), cursor.take(UInt8(ascii: ":")),
            text.allSatisfy({ (0x20..<0x7F).contains($0) })
        else { return nil }
        if let last, !names.withKey(at: last, { $0.lexicographicallyPrecedes(text) }) { return nil }
        let known = names.position(of: text)
        // Emptying the table would invalidate the position of the last name: decline the line, and start again with the
        // next one.
        if known == nil, names.count == Self.tableCapacity {
            self = SampleLineParser()
            return nil
        }
        guard let position = known ?? insertName(text) else { return nil }
        if let last { successors[last] = position + 1 } else { firstName = position }
        return position
    }

    private mutating func insertName(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        let spelling = String(decoding: text, as: UTF8.self)
        guard let position = names.insert(AttributeName(spelling), for: text) else { return nil }
        quotedNames += JSONWriter.quoted(spelling)
        quotedStarts.append(quotedNames.count)
        successors.append(0)
        lastTexts.append(0)
        return position
    }

    @inline(__always)
    private mutating func value(of name: Int, _ cursor: inout LineCursor) -> AttributeValue? {
        switch cursor.peek {
        case UInt8(ascii: "\""):
            _ = cursor.take(UInt8(ascii: "\""))
            return texts.take(&cursor, after: &lastTexts[name]).map { .string($0) }
        case UInt8(ascii: "t"): return cursor.take("true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return cursor.take("false") ? .bool(false) : nil
        default:
            if let number = cursor.integer() { return .int(number) }
            return double(&cursor).map { .double($0) }
        }
    }

    /// A number with a fraction or an exponent; nil for anything else, and for integers beyond 18 digits.
    private mutating func double(_ cursor: inout LineCursor) -> Double? {
        let token = cursor.numberToken()
        if let known = numbers.position(of: token) { return numbers.values[known] }
        guard case .double(let value)? = try? JSONReader.read(Array(token)) else { return nil }
        _ = numbers.insert(value, for: token)
        return value
    }
}
