package import InstrumentJSON
internal import InstrumentTerminal

/// Values from outside as a message repeats them: on one line, in at most 80 characters, without a character that a
/// terminal or the reader of a log interprets.
package enum Excerpt {
    /// Longer texts are cut, and end with `…`.
    private static let longest = 80

    /// A name, for use between backticks.
    static func name(_ text: String) -> String { escaped(text, quote: "`") }

    /// A text in double quotes.
    static func quoted(_ text: String) -> String { "\"" + escaped(text, quote: "\"") + "\"" }

    /// Any value: texts in quotes, arrays and objects by their size.
    package static func value(_ value: JSONValue) -> String {
        switch value {
        case .array(let elements): size(elements.count, of: "array", "element")
        case .object(let members): size(members.count, of: "object", "member")
        case .string(let text): quoted(text)
        default: value.description
        }
    }

    /// A character as it is written between quotes of that kind: `\uXXXX` if it is unsafe (RFC 8259, section 7).
    static func escaped(_ scalar: Unicode.Scalar, quote: Unicode.Scalar) -> String {
        if scalar == quote || scalar == "\\" { return "\\\(scalar)" }
        return scalar.isUnsafeForTerminals ? scalar.jsonEscape : String(scalar)
    }

    private static func escaped(_ text: String, quote: Unicode.Scalar) -> String {
        var (result, length) = ("", 0)
        for scalar in text.unicodeScalars {
            let piece = escaped(scalar, quote: quote)
            length += piece.unicodeScalars.count
            if length > longest { return result + "…" }
            result += piece
        }
        return result
    }

    private static func size(_ count: Int, of container: String, _ part: String) -> String {
        switch count {
        case 0: "an empty \(container)"
        case 1: "an \(container) of 1 \(part)"
        default: "an \(container) of \(count) \(part)s"
        }
    }
}
