public import Instrument

/// A record of named fields, which the chain carries as attributes, or as an object inside an attribute.
///
/// ``fields`` is the only table of its fields. Writing omits fields that are nil or have no valid value (NaN,
/// infinity, out of range), and reading omits fields of another type: field by field, never the whole record.
public protocol AttributeRecord: AttributeValueConvertible, Hashable {
    /// Creates an empty record.
    init()
    /// The fields, in the order of writing.
    static var fields: [RecordField<Self>] { get }
}

extension AttributeRecord {
    /// Reads the fields of the expected type; nil if the value is no object.
    public init?(attributeValue: AttributeValue) {
        guard case .object(let members) = attributeValue else { return nil }
        self.init()
        for field in Self.fields {
            if let value = members[field.name] { field.read(value, &self) }
        }
    }

    /// An object with a member for each field that has a value.
    public var attributeValue: AttributeValue {
        var members: [String: AttributeValue] = [:]
        for field in Self.fields { members[field.name] = field.write(self) }
        return .object(members)
    }

    /// Reads the fields among an event's attributes.
    public init(_ attributes: Attributes) {
        self.init()
        for field in Self.fields {
            if let value = attributes[AttributeName(field.name)] { field.read(value, &self) }
        }
    }

    /// An attribute for each field that has a value.
    public var attributes: Attributes {
        var attributes = Attributes(minimumCapacity: Self.fields.count)
        for field in Self.fields { attributes[AttributeName(field.name)] = field.write(self) }
        return attributes
    }
}
