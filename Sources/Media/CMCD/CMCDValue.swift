/// A value in a CMCD report.
public enum CMCDValue: Hashable, Sendable {
    /// A whole number of at most 15 digits.
    case integer(Int)
    /// A number with at most three digits behind the point.
    case decimal(Double)
    /// A truth value.
    case boolean(Bool)
    /// A text in quotes.
    case string(String)
    /// A word without quotes.
    case token(String)
    /// Elements in parentheses.
    case list([Element])

    /// An element of a list, such as `5000;v`.
    public struct Element: Hashable, Sendable {
        /// The value; never a list.
        package var value: CMCDValue
        /// The parameters in their order.
        package var parameters: [Parameter]

        /// Creates an element.
        public init(_ value: CMCDValue, _ parameters: [Parameter] = []) {
            self.value = value
            self.parameters = parameters
        }

        /// Creates a number, for the given object type if any.
        public init(_ number: Int, _ type: CMCDObjectType? = nil) {
            value = .integer(number)
            parameters = type.map { [Parameter($0.rawValue, .boolean(true))] } ?? []
        }
    }

    /// A parameter of an element: `;v`, `;r="0-99"`.
    public struct Parameter: Hashable, Sendable {
        /// The name.
        package var name: String
        /// The value; true is not written.
        package var value: CMCDValue

        /// Creates a parameter.
        public init(_ name: String, _ value: CMCDValue) {
            self.name = name
            self.value = value
        }
    }

    /// A list with one number, for the given object type if any.
    public static func number(_ number: Int, _ type: CMCDObjectType? = nil) -> CMCDValue {
        .list([Element(number, type)])
    }

    /// A list of strings.
    package static func strings(_ texts: [String]) -> CMCDValue { .list(texts.map { Element(.string($0)) }) }

    /// The kind of the value, for messages.
    var kindName: String {
        switch self {
        case .integer: "an integer"
        case .decimal: "a decimal"
        case .boolean: "a boolean"
        case .string: "a string"
        case .token: "a token"
        case .list: "a list"
        }
    }
}
