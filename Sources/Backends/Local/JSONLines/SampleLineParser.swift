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

    /// The position of each name in the trail.
    private var names = ByteTable<Int>(capacity: tableCapacity)
    private let trail = NameTrail()
    private var texts = PredictedTexts(capacity: tableCapacity)
    private var numbers = ByteTable<Double>(capacity: tableCapacity)
    /// The position of the last fraction that was a metric's value.
    private var lastValue = 0
    private var actions = ByteTable<Action>(capacity: tableCapacity)
    private var metricNames = ByteTable<MetricName>(capacity: tableCapacity)
    private let elements = ElementBuffer()

    /// Returns the record of a line, without its line feed; nil declines the line.
    mutating func read(_ line: UnsafeBufferPointer<UInt8>) -> SampleRecord? {
        guard var cursor = LineCursor(line), cursor.take("{\"id\":\""), let halves = cursor.identifier(),
            cursor.take("\",\"sequence\":"), let number = cursor.integer(), let sequence = UInt64(exactly: number),
            cursor.take(",\"type\":\"")
        else { return nil }
        let id = SampleID(high: halves.high, low: halves.low)
        if cursor.take("event\",\"action\":\"") {
            guard let action = action(&cursor), let (tracker, time) = Self.origin(&cursor) else { return nil }
            var service: ServiceName?
            guard Self.takeService(&cursor, into: &service),
                let attributes = attributes(of: tracker, isMetric: false, &cursor),
                cursor.take(UInt8(ascii: "}")), cursor.isAtEnd
            else { return nil }
            let event = Event(action, tracker: tracker, time: time, attributes: attributes)
            return SampleRecord(id: id, sequence: sequence, sample: .event(event), service: service)
        }
        guard cursor.take("metric\",\"name\":\""), let name = metricName(&cursor), cursor.take(",\"value\":"),
            let value = metricValue(&cursor), let (tracker, time) = Self.origin(&cursor)
        else { return nil }
        var service: ServiceName?
        guard Self.takeService(&cursor, into: &service),
            let attributes = attributes(of: tracker, isMetric: true, &cursor),
            cursor.take(UInt8(ascii: "}")), cursor.isAtEnd
        else { return nil }
        let metric = Metric(name, value, tracker: tracker, time: time, attributes: attributes)
        return SampleRecord(id: id, sequence: sequence, sample: .metric(metric), service: service)
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
        var last = lastValue
        defer { lastValue = last }
        return double(&cursor, after: &last).map { .double($0) }
    }

    /// The members of an object whose names are sorted by their bytes, and so are all different.
    private mutating func attributes(
        of tracker: TrackerID,
        isMetric: Bool,
        _ line: inout LineCursor
    ) -> Attributes? {
        guard line.take(",\"attributes\":{") else { return nil }
        if line.take(UInt8(ascii: "}")) { return Attributes() }
        elements.begin(of: tracker, isMetric: isMetric)
        // A copy, which stays in registers.
        var cursor = line
        defer { line = cursor }
        var (last, next, payloadSize) = (-1, trail.first, 0)
        while true {
            if next < 0 || !cursor.take(UnsafeBufferPointer(trail[next].quoted)) {
                guard let learned = learnName(after: last, &cursor) else { return nil }
                next = learned
            }
            guard takeValue(of: next, &cursor, &payloadSize) else { return nil }
            (last, next) = (next, trail[next].successor)
            if cursor.take(UInt8(ascii: ",")) { continue }
            return cursor.take(UInt8(ascii: "}")) ? elements.end(payloadSize: payloadSize) : nil
        }
    }

    /// The position of the next name and its colon; nil if the name is not greater than the last one, or not printable
    /// ASCII.
    ///
    /// - Parameter last: the position of the name before it; negative for none.
    @inline(never)
    private mutating func learnName(after last: Int, _ cursor: inout LineCursor) -> Int? {
        guard cursor.take(UInt8(ascii: "\"")), let text = cursor.text(), cursor.take(UInt8(ascii: ":")),
            text.allSatisfy({ (0x20..<0x7F).contains($0) })
        else { return nil }
        if last >= 0, !trail[last].spelling.lexicographicallyPrecedes(text) { return nil }
        let known = names.position(of: text).map { names.values[$0] }
        // Emptying the table would invalidate the position of the last name: decline the line, and start again with the
        // next one.
        if known == nil, names.count == Self.tableCapacity {
            self = SampleLineParser()
            return nil
        }
        guard let position = known ?? insertName(text) else { return nil }
        if last >= 0 { trail[last].successor = position } else { trail.first = position }
        return position
    }

    private mutating func insertName(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        guard names.insert(trail.count, for: text) != nil else { return nil }
        return trail.append(String(decoding: text, as: UTF8.self))
    }

    /// Takes the value of the name at a position of the trail, and adds it to the elements; false declines the line.
    ///
    /// - Parameter payloadSize: grows by the bytes of a text.
    @inline(__always)
    private mutating func takeValue(
        of position: Int,
        _ cursor: inout LineCursor,
        _ payloadSize: inout Int
    ) -> Bool {
        let name = trail[position].name
        switch cursor.peek {
        case UInt8(ascii: "\""):
            _ = cursor.take(UInt8(ascii: "\""))
            let start = cursor.position
            if let known = texts.takePredicted(&cursor, after: &trail[position].lastText) {
                elements.append(name, mark: texts.mark(of: known)) { texts[known] }
            } else {
                guard let text = texts.learn(&cursor, after: &trail[position].lastText) else { return false }
                elements.append(name, mark: -1) { text }
            }
            // Without the closing quote.
            payloadSize += cursor.position - start - 1
        case UInt8(ascii: "t"):
            guard cursor.take("true") else { return false }
            elements.append(name, .bool(true))
        case UInt8(ascii: "f"):
            guard cursor.take("false") else { return false }
            elements.append(name, .bool(false))
        default:
            if let number = cursor.integer() {
                elements.append(name, .int(number))
            } else {
                guard let number = double(&cursor, after: &trail[position].lastNumber) else { return false }
                elements.append(name, .double(number))
            }
        }
        return true
    }

    /// A number with a fraction or an exponent; nil for anything else, and for integers beyond 18 digits.
    ///
    /// - Parameter last: the position of the number before it, which is tried first; becomes the position of this one.
    ///   Any position is safe: the bytes of the number are compared.
    @inline(never)
    private mutating func double(_ cursor: inout LineCursor, after last: inout Int) -> Double? {
        if last < numbers.count, numbers.withKey(at: last, { cursor.takeNumber($0) }) { return numbers.values[last] }
        let token = cursor.numberToken()
        if let known = numbers.position(of: token) {
            last = known
            return numbers.values[known]
        }
        guard case .double(let value)? = try? JSONReader.read(Array(token)) else { return nil }
        last = numbers.insert(value, for: token) ?? last
        return value
    }
}
