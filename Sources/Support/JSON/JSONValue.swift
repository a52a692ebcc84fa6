/// A JSON value (RFC 8259) that tells integers from floating-point numbers.
public enum JSONValue: Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without point and exponent that fits 64 bits.
    case int(Int)
    /// Any other number. Numbers that are not finite are written as `null`.
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
    /// - Throws: ``JSONError`` if the text is not valid JSON.
    public init(parsing bytes: [UInt8]) throws(JSONError) { self = try JSONReader.read(bytes) }

    /// Reads one value and nothing after it, nested 128 deep at most.
    /// - Throws: ``JSONError`` if the text is not valid JSON.
    public init(parsing text: String) throws(JSONError) { self = try JSONReader.read(Array(text.utf8)) }

    /// The value as JSON without white space: the same value gives the same bytes.
    public var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.json(self)
        return writer.bytes
    }

    /// The member of that name; nil if the object has no such member, or this is not an object.
    public subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The text, if it is one.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The number, if it is an integer.
    public var int: Int? { if case .int(let value) = self { value } else { nil } }
    /// The number of either kind.
    package var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
    /// The elements, if it is an array.
    package var elements: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
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

/// The reason for which a text is not JSON, or is JSON that this reader does not accept.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String
        /// Creates a code.
        package init(_ description: String) { self.description = description }

        /// The text breaks the grammar (RFC 8259 section 2).
        package static let syntax = Code("syntax")
        /// A byte order mark stands before the value, which RFC 8259 section 8.1 forbids.
        package static let byteOrderMark = Code("byteOrderMark")
        /// The text is not in UTF-8, which RFC 8259 section 8.1 demands.
        package static let invalidUTF8 = Code("invalidUTF8")
        /// Arrays and objects are nested deeper than this reader goes (RFC 8259 section 9 allows a limit).
        package static let nesting = Code("nesting")
        /// A number is beyond the range of 64-bit floating-point numbers (RFC 8259 section 6 allows a limit).
        package static let numberRange = Code("numberRange")
        /// A name has more combining marks on one character than text has (Unicode Standard Annex 15, section 13).
        package static let combiningMarks = Code("combiningMarks")
    }

    /// The kind of the error.
    public let code: Code
    /// The message: the value that was found, the expected value, and the remedy.
    public let message: String
    /// The offset of the error in bytes, from 0.
    public let offset: Int
    /// The error and its place.
    public var description: String { "\(message) at byte \(offset)" }

    /// The line and the column of the error in the text that was read, both from 1; columns are counted in bytes.
    package func place(in bytes: [UInt8]) -> (line: Int, column: Int) {
        let before = bytes.prefix(offset)
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return (before.count { $0 == 0x0A } + 1, offset - start + 1)
    }
}
