/// Text that is safe to write to a terminal.
///
/// Text from outside (a title, a server's reason, a file's name) can move the cursor, change the terminal's title, hide
/// characters, reverse their order, or add a line that looks like one of the program's. A terminal text keeps the
/// program's own words as they are and makes everything else visible, because it is only made in two ways:
///
/// ```swift
/// let line: TerminalText = "\(title)  \(seconds) s"      // literal words stay, values are escaped
/// let cell = TerminalText(reason)                        // a value alone is escaped
/// ```
///
/// Functions that write to a terminal accept this type instead of `String`, so that unsafe text cannot reach a terminal
/// by mistake.
package struct TerminalText: Hashable, Sendable {
    /// The text with all escapes, as it is written.
    package private(set) var string: String

    /// Creates text of a value from outside: what ``Unicode/Scalar/isUnsafeForTerminals`` is escaped, line breaks
    /// included.
    package init(_ value: some StringProtocol) { string = Self.escaped(value) }

    /// Creates text of words that the program itself made, styling included. Never give it a value from outside.
    package init(trusted string: String) { self.string = string }

    /// Creates text of bytes from outside: bytes that are not UTF-8 become `\xNN`, and the rest is escaped as any
    /// value.
    package init(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        var (text, start) = ("", 0)
        while start < bytes.count {
            // A character of UTF-8 has four bytes at most.
            let length = (1...4).first { String(validating: bytes[start...].prefix($0), as: UTF8.self) != nil }
            if let length {
                text += Self.escaped(String(decoding: bytes[start..<min(start + length, bytes.count)], as: UTF8.self))
            } else {
                text += "\\x" + (bytes[start] < 16 ? "0" : "") + String(bytes[start], radix: 16)
            }
            start += length ?? 1
        }
        string = text
    }

    private static func escaped(_ value: some StringProtocol) -> String {
        guard value.unicodeScalars.contains(where: \.isUnsafeForTerminals) else { return String(value) }
        var text = ""
        for scalar in value.unicodeScalars {
            if scalar.isUnsafeForTerminals { text += escape(scalar) } else { text.unicodeScalars.append(scalar) }
        }
        return text
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: "\\u{" + String(scalar.value, radix: 16) + "}"
        }
    }
}

extension TerminalText {
    /// The width in columns. The text must not have styles.
    package var columns: Int { string.unicodeScalars.reduce(0) { $0 + $1.terminalColumns } }

    /// The part of the text that fits into this number of columns, without styling. Characters without a column count
    /// too, a few for each column, so that no heap of accents gets through.
    package func prefix(columns limit: Int) -> TerminalText {
        var (result, width, marks) = (String.UnicodeScalarView(), 0, 0)
        for scalar in string.unicodeScalars {
            let columns = scalar.terminalColumns
            marks = columns == 0 ? marks + 1 : 0
            if width + columns > limit { break }
            guard marks <= Self.mostMarks else { continue }
            width += columns
            result.append(scalar)
        }
        return TerminalText(trusted: String(result))
    }

    /// The text if it has no more columns than this, else its begin with `…`: what was cut is no shorter number.
    package func shortened(toColumns limit: Int) -> TerminalText {
        columns <= limit || limit < 2 ? prefix(columns: limit) : prefix(columns: limit - 1) + "…"
    }

    /// More marks than this on one character are no writing.
    private static let mostMarks = 4

    /// The text with spaces behind it, or before it, until it takes this number of columns.
    package func padded(toColumns width: Int, isRight: Bool = false) -> TerminalText {
        let space = TerminalText(trusted: String(repeating: " ", count: max(0, width - columns)))
        return isRight ? space + self : self + space
    }

    /// Creates text of a message of several lines that another library wrote around values from outside, as a parser of
    /// arguments does.
    ///
    /// Line breaks stay, unless they are part of one of the values that the message may repeat, so that no value adds a
    /// line.
    package init(message: String, repeating values: [String]) {
        var message = message
        // An option and its value may stand in one argument, of which the message repeats the value.
        let parts = values.compactMap { $0.split(separator: "=", maxSplits: 1).dropFirst().first.map(String.init) }
        for value in values + parts where value.unicodeScalars.contains(where: \.isUnsafeForTerminals) {
            message = message.replacing(value, with: TerminalText(value).string)
        }
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map { TerminalText($0).string }
        self.init(trusted: lines.joined(separator: "\n"))
    }
}
