/// A JSON value (RFC 8259) that tells integers from floating-point numbers.
public enum JSONValue: Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without point and exponent that fits 64 bits.
    case int(Int)
    /// Any other number. What is not finite is written as `null`.
    case double(Double)
    /// A text.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Values by name; they are written in the order of their names. Of two with one name the last counts.
    case object([String: JSONValue])
}

extension JSONValue {
    /// Reads one value and nothing after it, nested 128 deep at most.
    /// - Throws: ``JSONError`` for what is not JSON.
    public init(parsing bytes: [UInt8]) throws(JSONError) { self = try JSONReader.read(bytes) }

    /// Reads one value and nothing after it, nested 128 deep at most.
    /// - Throws: ``JSONError`` for what is not JSON.
    public init(parsing text: String) throws(JSONError) { self = try JSONReader.read(Array(text.utf8)) }

    /// The value as JSON without white space: the same value gives the same bytes.
    public var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.json(self)
        return writer.bytes
    }

    /// The member of that name; nil if there is none or this is no object.
    public subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The text, if it is one.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The number, if it is an integer.
    public var int: Int? { if case .int(let value) = self { value } else { nil } }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int) { self = .int(value) }
    /// A floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A truth.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Values in order.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Values by name; of two with one name the last counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

/// Why a text is no JSON.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public let message: String
    /// Where, counted in bytes from the beginning.
    public let offset: Int
    /// What is wrong, and where.
    public var description: String { "\(message) at byte \(offset)" }
}
