/// The value of an attribute: a closed set of what every wire format can carry.
public enum AttributeValue: Hashable, Sendable {
    /// Text.
    case string(String)
    /// A whole number. Times are whole milliseconds.
    case int(Int)
    /// A floating-point number; it has to be finite to be recorded.
    case double(Double)
    /// A truth value.
    case bool(Bool)
    /// Values in order.
    case array([AttributeValue])
    /// Values by name.
    case object([String: AttributeValue])

    /// Whether all numbers in it are finite: no wire format carries NaN or infinity.
    public var isFinite: Bool {
        switch self {
        case .double(let value): value.isFinite
        case .array, .object: areElementsFinite
        case .string, .int, .bool: true
        }
    }

    /// Apart, so that the common cases above are inlined.
    @inline(never)
    private var areElementsFinite: Bool {
        switch self {
        case .array(let values): values.allSatisfy(\.isFinite)
        case .object(let values): values.values.allSatisfy(\.isFinite)
        default: true
        }
    }
}

extension AttributeValue {
    /// About how many bytes an array, an object or a text takes.
    var payloadSize: Int {
        @inline(__always) get {
            switch self {
            case .string(let text): text.utf8.count
            case .int, .double, .bool: 0
            case .array, .object: elementsSize
            }
        }
    }

    /// Apart, so that the common cases above are inlined.
    @inline(never)
    private var elementsSize: Int {
        switch self {
        case .array(let values): values.reduce(2) { $0 + $1.payloadSize + 8 }
        case .object(let values): values.reduce(2) { $0 + $1.key.utf8.count + $1.value.payloadSize + 8 }
        default: 0
        }
    }
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self = .int(value) }
    /// A floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Values in order.
    public init(arrayLiteral elements: AttributeValue...) { self = .array(elements) }
    /// Values by name; of two with the same name the later wins.
    public init(dictionaryLiteral elements: (String, AttributeValue)...) {
        self = .object(Dictionary(elements) { _, later in later })
    }
}

extension AttributeValue: CustomStringConvertible {
    /// The value as people write it; objects are sorted by name.
    public var description: String {
        switch self {
        case .string(let value): value
        case .int(let value): String(value)
        case .double(let value): String(value)
        case .bool(let value): String(value)
        case .array(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
        case .object(let values):
            "{"
                + values.sortedByBytes(of: \.key).map { "\($0.key): \($0.value)" }.joined(separator: ", ")
                + "}"
        }
    }
}
