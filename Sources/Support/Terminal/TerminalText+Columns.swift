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

    /// More marks than this on one character are no writing.
    private static let mostMarks = 4

    /// The text with spaces behind it, or before it, until it takes this number of columns.
    package func padded(toColumns width: Int, isRight: Bool = false) -> TerminalText {
        let space = TerminalText(trusted: String(repeating: " ", count: max(0, width - columns)))
        return isRight ? space + self : self + space
    }
}
