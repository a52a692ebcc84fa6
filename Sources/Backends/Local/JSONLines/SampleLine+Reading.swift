internal import Instrument
internal import InstrumentJSON

/// Reads the lines that ``SampleLine`` writes.
extension SampleLine {
    /// The reason why a line is not a sample.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static func read(_ line: [UInt8]) throws(Failure) -> SampleRecord {
        let json: JSONValue
        do { json = try JSONReader.read(line) } catch { throw Failure(description: "not valid JSON: \(error)") }
        return try read(json)
    }

    /// The samples of a line with several objects, as two files leave it that were joined where the first one has no
    /// last line feed, or with marks around an object: commas between the elements of an array, and the record
    /// separator of RFC 7464; nil for a line of any other form.
    private static func readObjects(_ line: [UInt8]) throws(Failure) -> [SampleRecord]? {
        guard let places = SampleSplitter.objects(in: line), !places.isEmpty else { return nil }
        var records: [SampleRecord] = []
        for place in places { records.append(try read(Array(line[place]))) }
        return records
    }

    /// The samples of a line: usually one.
    static func readAll(_ line: [UInt8]) throws(Failure) -> [SampleRecord] {
        do throws(Failure) { return [try read(line)] } catch {
            guard let records = try readObjects(line) else { throw error }
            return records
        }
    }

    static func read(_ json: JSONValue) throws(Failure) -> SampleRecord {
        guard let id = json["id"]?.string.flatMap({ SampleID($0) }) else { throw missing("id") }
        guard let sequence = integer(json["sequence"]).flatMap({ UInt64(exactly: $0) }) else {
            throw missing("sequence")
        }
        // A column of a database has an empty text where a line has no member.
        let service = json["service"]?.string.flatMap { $0.isEmpty ? nil : ServiceName($0) }
        return SampleRecord(id: id, sequence: sequence, sample: try sample(json), service: service)
    }

    private static func sample(_ json: JSONValue) throws(Failure) -> Sample {
        guard let tracker = integer(json["tracker"]) else { throw missing("tracker") }
        guard let wall = integer(json["time"]), let instant = integer(json["instant"]) else { throw missing("time") }
        let time = Timestamp(
            instant: MonotonicInstant(nanoseconds: Int64(instant)),
            wallTime: WallTime(milliseconds: Int64(wall))
        )
        let attributes = try attributes(json["attributes"], isQuoted: json["time"]?.string != nil)
        switch json["type"]?.string {
        case "event":
            guard let action = json["action"]?.string else { throw missing("action") }
            return .event(Event(Action(action), tracker: TrackerID(tracker), time: time, attributes: attributes))
        case "metric":
            let (name, value) = (try metricName(json), try metricValue(json))
            return .metric(
                Metric(name, value, tracker: TrackerID(tracker), time: time, attributes: attributes)
            )
        default: throw missing("type")
        }
    }

    private static func metricName(_ json: JSONValue) throws(Failure) -> MetricName {
        guard let name = json["name"]?.string else { throw missing("name") }
        guard let kind = json["kind"]?.string.flatMap({ MetricName.Kind(rawValue: $0) }) else { throw missing("kind") }
        guard let unit = json["unit"]?.string.flatMap({ MetricName.Unit(rawValue: $0) }) else { throw missing("unit") }
        return MetricName(name, kind, unit: unit)
    }

    private static func metricValue(_ json: JSONValue) throws(Failure) -> Metric.Value {
        switch json["value"] {
        case .int(let value): return .int(value)
        case .double(let value): return .double(value)
        case .string(let text):
            if let value = integer(json["value"]) { return .int(value) }
            // Of a column with real numbers, ClickHouse can write these as text, too.
            guard let value = Double(text), value.isFinite else { throw missing("value") }
            return .double(value)
        default: throw missing("value")
        }
    }

    /// An integer; ClickHouse writes those of 64 bits as text, and other tools write `1.0` (RFC 8259, section 6, does
    /// not distinguish the two).
    private static func integer(_ json: JSONValue?) -> Int? {
        switch json {
        case .int(let value): value
        case .double(let value): Int(exactly: value)
        case .string(let text): Int(text).flatMap { String($0) == text ? $0 : nil }
        default: nil
        }
    }

    /// The attributes: an object, or the text of one, which a column of a database is.
    ///
    /// - Parameter isQuoted: whether integers are written as text; then those of numeric attributes are read.
    private static func attributes(_ json: JSONValue?, isQuoted: Bool) throws(Failure) -> Attributes {
        if case .string(let text)? = json {
            guard let object = try? JSONReader.read(Array(text.utf8)), case .object = object else {
                throw missing("attributes")
            }
            // The text of a column is as it was recorded.
            return try attributes(object, isQuoted: false)
        }
        guard case .object(let members)? = json else { throw missing("attributes") }
        var elements: [(name: AttributeName, value: AttributeValue)] = []
        elements.reserveCapacity(members.count)
        for (name, member) in members.sortedByBytes(of: \.key) where member != .null {
            if isQuoted, NumericAttributes.contains(name), let number = integer(member) {
                elements.append((AttributeName(name), .int(number)))
            } else {
                elements.append((AttributeName(name), try attributeValue(member)))
            }
        }
        // Members of an object have different names.
        return Attributes(distinct: elements)
    }

    private static func attributeValue(_ json: JSONValue) throws(Failure) -> AttributeValue {
        switch json {
        case .null: throw Failure(description: "an attribute value must not be null")
        case .bool(let value): return .bool(value)
        case .int(let value): return .int(value)
        case .double(let value): return .double(value)
        case .string(let value): return .string(value)
        case .array(let elements):
            var values: [AttributeValue] = []
            for element in elements { values.append(try attributeValue(element)) }
            return .array(values)
        case .object(let members):
            var values: [String: AttributeValue] = [:]
            for (name, member) in members { values[name] = try attributeValue(member) }
            return .object(values)
        }
    }

    private static func missing(_ name: String) -> Failure {
        Failure(description: "\(name) is missing or has the wrong type")
    }
}
