/// A type whose values can be attributes.
///
/// Enums with raw values conform by saying so: `enum Tab: String, AttributeValueConvertible { case home, search }`.
public protocol AttributeValueConvertible: Sendable {
    /// Reads the value back; nil if `attributeValue` is of another kind.
    init?(attributeValue: AttributeValue)

    /// The value as it is recorded and sent.
    var attributeValue: AttributeValue { get }
}

extension AttributeValue: AttributeValueConvertible {
    /// The value itself.
    public init?(attributeValue: AttributeValue) { self = attributeValue }
    /// The value itself.
    public var attributeValue: AttributeValue { self }
}

extension String: AttributeValueConvertible {
    /// Reads text.
    @inlinable
    public init?(attributeValue: AttributeValue) {
        guard case .string(let value) = attributeValue else { return nil }
        self = value
    }
    /// Text.
    @inlinable
    public var attributeValue: AttributeValue { .string(self) }
}

extension Int: AttributeValueConvertible {
    /// Reads a whole number.
    @inlinable
    public init?(attributeValue: AttributeValue) {
        guard case .int(let value) = attributeValue else { return nil }
        self = value
    }
    /// A whole number.
    @inlinable
    public var attributeValue: AttributeValue { .int(self) }
}

extension Double: AttributeValueConvertible {
    /// Reads a floating-point number.
    @inlinable
    public init?(attributeValue: AttributeValue) {
        guard case .double(let value) = attributeValue else { return nil }
        self = value
    }
    /// A floating-point number.
    @inlinable
    public var attributeValue: AttributeValue { .double(self) }
}

extension Bool: AttributeValueConvertible {
    /// Reads a truth value.
    @inlinable
    public init?(attributeValue: AttributeValue) {
        guard case .bool(let value) = attributeValue else { return nil }
        self = value
    }
    /// A truth value.
    @inlinable
    public var attributeValue: AttributeValue { .bool(self) }
}

extension Duration: AttributeValueConvertible {
    /// Reads whole milliseconds.
    public init?(attributeValue: AttributeValue) {
        guard case .int(let value) = attributeValue else { return nil }
        self = .milliseconds(value)
    }
    /// Whole milliseconds, rounded towards zero.
    public var attributeValue: AttributeValue { .int(milliseconds) }
}

extension Array: AttributeValueConvertible where Element: AttributeValueConvertible {
    /// Reads an array whose elements are all of the right kind.
    public init?(attributeValue: AttributeValue) {
        guard case .array(let values) = attributeValue else { return nil }
        var elements: [Element] = []
        elements.reserveCapacity(values.count)
        for value in values {
            guard let element = Element(attributeValue: value) else { return nil }
            elements.append(element)
        }
        self = elements
    }
    /// The elements in order.
    public var attributeValue: AttributeValue { .array(map(\.attributeValue)) }
}

extension Dictionary: AttributeValueConvertible where Key == String, Value: AttributeValueConvertible {
    /// Reads an object whose values are all of the right kind.
    public init?(attributeValue: AttributeValue) {
        guard case .object(let values) = attributeValue else { return nil }
        var result: [String: Value] = [:]
        result.reserveCapacity(values.count)
        for (key, value) in values {
            guard let converted = Value(attributeValue: value) else { return nil }
            result[key] = converted
        }
        self = result
    }
    /// The values by name.
    public var attributeValue: AttributeValue { .object(mapValues(\.attributeValue)) }
}

extension AttributeValueConvertible where Self: RawRepresentable, RawValue: AttributeValueConvertible {
    /// Reads the raw value.
    public init?(attributeValue: AttributeValue) {
        guard let rawValue = RawValue(attributeValue: attributeValue) else { return nil }
        self.init(rawValue: rawValue)
    }
    /// The raw value.
    public var attributeValue: AttributeValue { rawValue.attributeValue }
}
