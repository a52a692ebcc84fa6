package import InstrumentJSON

/// A value that can be written as JSON and read from validated JSON.
protocol JSONPart {
    var json: JSONValue { get }
    init?(checked json: JSONValue)
}

extension JSONValue {
    /// An object of the members that are not nil.
    static func members(_ members: [String: JSONValue?]) -> JSONValue { .object(members.compactMapValues(\.self)) }

    /// A number; a whole one as an integer, so that 5 is not written as 5.0.
    static func number(_ value: Double) -> JSONValue {
        if abs(value) < 9_007_199_254_740_992, value == value.rounded() { return .int(Int(value)) }
        return .double(value)
    }

    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var members: [String: JSONValue]? { if case .object(let values) = self { values } else { nil } }

    /// True for a date and time with a zone, in the format of ISO 8601.
    package var isTimestamp: Bool { string.map { TimestampFormat.isValid($0, version: .v1) } ?? false }

    /// The value; nil for an empty object or array.
    package var nonEmpty: JSONValue? {
        switch self {
        case .object(let members) where members.isEmpty: nil
        case .array(let elements) where elements.isEmpty: nil
        default: self
        }
    }

    /// The part under a name; nil if it is absent.
    func part<Part: JSONPart>(_ name: String, _: Part.Type = Part.self) -> Part? {
        self[name].flatMap { Part(checked: $0) }
    }

    /// The parts under a name; a single value counts as an array of one.
    func parts<Part: JSONPart>(_ name: String, _: Part.Type = Part.self) -> [Part] {
        guard let value = self[name] else { return [] }
        return (value.elements ?? [value]).compactMap { Part(checked: $0) }
    }
}

extension Array where Element: JSONPart {
    /// The parts as an array; nil for an empty one.
    var nonEmptyJSON: JSONValue? { isEmpty ? nil : .array(map(\.json)) }
}
