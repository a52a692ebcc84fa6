extension TerminalText: ExpressibleByStringInterpolation {
    /// Keeps the words of a literal and escapes the values between them.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var string = ""

        package init(literalCapacity: Int, interpolationCount: Int) { string.reserveCapacity(literalCapacity) }

        /// Adds words of the program, which may break lines and style.
        package mutating func appendLiteral(_ literal: String) { string += literal }

        /// Adds text that is safe already.
        package mutating func appendInterpolation(_ text: TerminalText) { string += text.string }

        /// Adds a value, escaped.
        package mutating func appendInterpolation(_ value: some Any) {
            string += TerminalText(String(describing: value)).string
        }
    }

    /// Creates text of words of the program.
    package init(stringLiteral literal: String) { self.init(trusted: literal) }

    /// Creates text of words of the program with escaped values between them.
    package init(stringInterpolation interpolation: StringInterpolation) { self.init(trusted: interpolation.string) }
}

extension TerminalText: CustomStringConvertible {
    /// The text with all escapes.
    package var description: String { string }
}

extension TerminalText {
    /// Whether there is nothing in it.
    package var isEmpty: Bool { string.isEmpty }

    /// The text as UTF-8.
    package var bytes: [UInt8] { Array(string.utf8) }

    /// Both texts, one after the other.
    package static func + (first: TerminalText, second: TerminalText) -> TerminalText {
        TerminalText(trusted: first.string + second.string)
    }

    /// Adds a text at the end.
    package static func += (first: inout TerminalText, second: TerminalText) { first = first + second }
}

extension Sequence<TerminalText> {
    /// The texts in one, with words of the program between them.
    package func joined(separator: TerminalText = "") -> TerminalText {
        TerminalText(trusted: map(\.string).joined(separator: separator.string))
    }
}
