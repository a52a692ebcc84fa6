public import Instrument

extension JSONValue {
    /// The same value as JSON.
    public init(_ value: AttributeValue) {
        switch value {
        case .string(let text): self = .string(text)
        case .int(let number): self = .int(number)
        case .double(let number): self = .double(number)
        case .bool(let truth): self = .bool(truth)
        case .array(let values): self = .array(values.map { JSONValue($0) })
        case .object(let values): self = .object(values.mapValues { JSONValue($0) })
        }
    }

    /// An object with a member for each attribute.
    public init(_ attributes: Attributes) {
        let members = attributes.map { ($0.name.spelling, JSONValue($0.value)) }
        self = .object(Dictionary(members) { _, last in last })
    }

    /// The value as an attribute value; nil for `null` and numbers that are not finite, which are also left out of
    /// arrays and objects.
    public var attributeValue: AttributeValue? {
        switch self {
        case .null: nil
        case .bool(let truth): .bool(truth)
        case .int(let number): .int(number)
        case .double(let number): number.isFinite ? .double(number) : nil
        case .string(let text): .string(text)
        case .array(let values): .array(values.compactMap(\.attributeValue))
        case .object(let members): .object(members.compactMapValues(\.attributeValue))
        }
    }
}
