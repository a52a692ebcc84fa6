internal import InstrumentJSON

/// A value that goes into JSON and comes back out of JSON whose rules were checked.
protocol JSONPart {
    var json: JSONValue { get }
    init?(checked json: JSONValue)
}

extension JSONValue {
    /// An object of those members that are there.
    static func members(_ members: [String: JSONValue?]) -> JSONValue { .object(members.compactMapValues(\.self)) }

    /// An integer where it is one, so that 5 is not written as 5.0.
    static func number(_ value: Double) -> JSONValue {
        if abs(value) < 9_007_199_254_740_992, value == value.rounded() { return .int(Int(value)) }
        return .double(value)
    }

    /// The number, whichever kind it is.
    var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    var elements: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    var members: [String: JSONValue]? { if case .object(let values) = self { values } else { nil } }

    /// Nil in place of an empty object or array.
    var nonEmpty: JSONValue? {
        switch self {
        case .object(let members) where members.isEmpty: nil
        case .array(let elements) where elements.isEmpty: nil
        default: self
        }
    }

    /// The part at that name; nil if it is not there.
    func part<Part: JSONPart>(_ name: String, _: Part.Type = Part.self) -> Part? {
        self[name].flatMap { Part(checked: $0) }
    }

    /// The parts at that name, where one that stands alone counts as an array.
    func parts<Part: JSONPart>(_ name: String, _: Part.Type = Part.self) -> [Part] {
        guard let value = self[name] else { return [] }
        return (value.elements ?? [value]).compactMap { Part(checked: $0) }
    }
}

extension Array where Element: JSONPart {
    /// The parts as an array; nil if there are none.
    var nonEmptyJSON: JSONValue? { isEmpty ? nil : .array(map(\.json)) }
}
