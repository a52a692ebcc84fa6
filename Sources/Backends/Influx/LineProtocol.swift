internal import Instrument
internal import InstrumentJSON
internal import InstrumentText

/// Writes points in InfluxDB's line protocol: `measurement,tag=value field=1i,text="…" 1767225600000000000`.
///
/// Source: InfluxDB's line protocol reference, and the parser of InfluxDB 1.x (`models/points.go`), whose rules for
/// backslashes are the narrowest. Names and tag values:
///
/// - a comma, a space and, except in measurements, an equals sign get a backslash in front;
/// - a backslash that would then escape the character behind it becomes a slash, because the format cannot express it;
/// - a control character becomes an underscore;
/// - the reserved names `time`, `_field` and `_measurement` get an underscore behind them.
struct LineProtocol {
    /// The largest number of bytes of a name or a tag value. A series key of InfluxDB 1.x may have 65,535 bytes in all.
    static let maxNameLength = 1024
    private static let reserved: Set<String> = ["time", "_field", "_measurement"]

    private(set) var bytes: [UInt8] = []
    private(set) var alterations: AlterationCounts = [:]
    private let maxTextLength: Int
    /// Escaped names and the alterations of each.
    private var names = NameCache<EscapedName>()
    private var measurements: [String: EscapedName] = [:]
    private var tagValues: [String: EscapedName] = [:]
    /// The largest number of escaped measurements, and of escaped tag values. A mapping should have few of either; one
    /// that has many gets no more cached.
    private static let maxCached = 1000

    init(maxTextLength: Int) { self.maxTextLength = max(1, maxTextLength) }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        alterations = [:]
    }

    /// Appends a line with its line feed; false, and nothing is appended, if no field can be written.
    ///
    /// - Parameter subMillisecond: nanoseconds that distinguish points of the same millisecond, 0 to 999,999.
    mutating func append(_ point: InfluxPoint, subMillisecond: Int64) -> Bool {
        let start = bytes.count
        add(measurement(point.measurement))
        for tag in point.tags { append(tag: tag) }
        bytes.append(UInt8(ascii: " "))
        let fieldsStart = bytes.count
        point.fields.withElements { elements in
            for index in elements.indices where !Self.isTag(elements[index].name, point.tags) {
                append(field: elements[index].name, elements[index].value, isFirst: bytes.count == fieldsStart)
            }
        }
        if bytes.count == fieldsStart {
            bytes.removeSubrange(start...)
            return false
        }
        bytes.append(UInt8(ascii: " "))
        bytes.append(decimal: Int(nanoseconds(point.time, subMillisecond)))
        bytes.append(UInt8(ascii: "\n"))
        return true
    }

    private static func isTag(_ name: AttributeName, _ tags: [Attributes.Element]) -> Bool {
        for tag in tags where tag.name == name { return true }
        return false
    }

    private mutating func append(tag: Attributes.Element) {
        let name = name(tag.name)
        if name.bytes.isEmpty { return count(.omittedAttributes) }
        let text: String
        switch tag.value {
        case .string(let value): text = value
        case .bool(let value): text = value ? "true" : "false"
        case .int, .double: text = tag.value.description
        case .array, .object: return count(.omittedAttributes)
        }
        if text.isEmpty { return }
        let value = tagValue(text)
        bytes.append(UInt8(ascii: ","))
        add(name)
        bytes.append(UInt8(ascii: "="))
        add(value)
    }

    private mutating func append(field name: AttributeName, _ value: AttributeValue, isFirst: Bool) {
        let name = self.name(name)
        if name.bytes.isEmpty { return count(.omittedAttributes) }
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        add(name)
        bytes.append(UInt8(ascii: "="))
        switch value {
        case .int(let number):
            bytes.append(decimal: number)
            bytes.append(UInt8(ascii: "i"))
        case .double(let number): bytes.append(String(number))
        case .bool(let truth): bytes.append(UInt8(ascii: truth ? "t" : "f"))
        case .string(let text): append(text: text)
        case .array, .object: append(text: JSONValue(value).description)
        }
    }

    private mutating func append(text: String) {
        var text = text
        if let short = text.shortened(toBytes: maxTextLength) {
            count(.shortenedTexts)
            text = short
        }
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            var start = 0
            for index in utf8.indices where utf8[index] == UInt8(ascii: "\"") || utf8[index] == UInt8(ascii: "\\") {
                bytes.append(contentsOf: utf8[start..<index])
                bytes.append(UInt8(ascii: "\\"))
                start = index
            }
            bytes.append(contentsOf: utf8[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// InfluxDB refuses the two ends of the range.
    private mutating func nanoseconds(_ time: WallTime, _ subMillisecond: Int64) -> Int64 {
        let limits = (Int64.min + 2)...(Int64.max - 1)
        let (scaled, isBeyond) = time.milliseconds.multipliedReportingOverflow(by: 1_000_000)
        let wished = scaled.saturatingAdd(subMillisecond)
        if !isBeyond, limits.contains(wished) { return wished }
        count(.clampedTimes)
        return time.milliseconds < 0 ? limits.lowerBound : limits.upperBound
    }

    private mutating func name(_ name: AttributeName) -> EscapedName {
        names.form(of: name) { spelling in
            var escaped = EscapedName(spelling, escapesEquals: true)
            if Self.reserved.contains(spelling) {
                escaped.bytes.append(UInt8(ascii: "_"))
                escaped.alterations.append(.renamedAttributes)
            }
            return escaped
        }
    }

    private mutating func measurement(_ name: String) -> EscapedName {
        if let known = measurements[name] { return known }
        let escaped = EscapedName(name.isEmpty ? "_" : name, escapesEquals: false)
        if measurements.count < Self.maxCached { measurements[name] = escaped }
        return escaped
    }

    private mutating func tagValue(_ text: String) -> EscapedName {
        if let known = tagValues[text] { return known }
        let escaped = EscapedName(text, escapesEquals: true)
        // Long values would take memory for as long as the backend lives.
        if tagValues.count < Self.maxCached, text.utf8.count <= 64 { tagValues[text] = escaped }
        return escaped
    }

    @inline(__always)
    private mutating func add(_ name: EscapedName) {
        bytes.append(contentsOf: name.bytes)
        if !name.alterations.isEmpty { for alteration in name.alterations { count(alteration) } }
    }

    private mutating func count(_ alteration: Alteration) { alterations[alteration, default: 0] += 1 }
}

/// A name or a tag value as the line protocol writes it, and what was changed to make that possible.
struct EscapedName {
    var bytes: [UInt8] = []
    var alterations: [Alteration] = []

    init(_ text: String, escapesEquals: Bool) {
        let short = text.shortened(toBytes: LineProtocol.maxNameLength)
        if short != nil { alterations.append(.shortenedNames) }
        let source = Array((short ?? text).utf8)
        bytes.reserveCapacity(source.count + 8)
        var isReplaced = false
        for (index, byte) in source.enumerated() {
            switch byte {
            case 0..<0x20, 0x7F:
                bytes.append(UInt8(ascii: "_"))
                isReplaced = true
            case UInt8(ascii: ","), UInt8(ascii: " "): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "=") where escapesEquals: bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\\") where Self.escapes(source, behind: index):
                bytes.append(UInt8(ascii: "/"))
                isReplaced = true
            default: bytes.append(byte)
            }
        }
        // A line that begins with a number sign is a comment.
        if bytes.first == UInt8(ascii: "#") {
            bytes[0] = UInt8(ascii: "_")
            isReplaced = true
        }
        if isReplaced { alterations.append(.replacedCharacters) }
    }

    /// Whether a backslash in front of what follows would be read as an escape.
    private static func escapes(_ source: [UInt8], behind index: Int) -> Bool {
        guard index + 1 < source.count else { return true }
        return ", =\"\\".utf8.contains(source[index + 1])
    }
}
