public import Instrument

/// A value of several named fields that travels through the chain as attributes, or inside one as an object.
///
/// Its ``fields`` are the one place that names them. What is nil is left out, and so is what cannot be said (NaN, infinity,
/// outside its range) and, in reading, what has another type: field by field, never the record.
public protocol AttributeRecord: AttributeValueConvertible, Hashable {
    /// Creates a record that says nothing.
    init()
    /// Its fields, in the order in which they are written.
    static var fields: [RecordField<Self>] { get }
}

extension AttributeRecord {
    /// Reads what is of the right type; nil if it is no object.
    public init?(attributeValue: AttributeValue) {
        guard case .object(let members) = attributeValue else { return nil }
        self.init()
        for field in Self.fields {
            if let value = members[field.name] { field.read(value, &self) }
        }
    }

    /// An object with a member for each field that says something.
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

    /// An attribute for each field that says something.
    public var attributes: Attributes {
        var attributes = Attributes(minimumCapacity: Self.fields.count)
        for field in Self.fields { attributes[AttributeName(field.name)] = field.write(self) }
        return attributes
    }
}
