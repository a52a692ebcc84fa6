extension Unicode.Scalar {
    /// Whether a terminal may do something else with it than show it in its place: controls (C0, DEL, C1), format
    /// characters (changes of direction, joiners, zero-width spaces, byte order marks, tags), separators of lines and
    /// paragraphs, and what is ignored when it is shown (fillers), which hides that it is there.
    ///
    /// Source: Unicode Standard, section 23 (special areas and format characters), Annex 9 (bidirectional algorithm).
    package var isUnsafeForTerminals: Bool {
        // Nearly all text: printable ASCII.
        if value < 0x7F { return value < 0x20 }
        // Variation selectors choose between two pictures of what stands before them.
        if (0xFE00...0xFE0F).contains(value) { return false }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return properties.isDefaultIgnorableCodePoint
        }
    }

    /// The character as JSON escapes it: `\uXXXX` for each unit of UTF-16 (RFC 8259, section 7).
    package var jsonEscape: String {
        UTF16.encode(self).map { $0.map { "\\u" + String(0x1_0000 + UInt32($0), radix: 16).dropFirst() }.joined() }
            ?? ""
    }

    /// The width in columns of a terminal: 0, 1 or 2 (Unicode Standard Annex 11: wide and full-width characters).
    var terminalColumns: Int {
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: return properties.isEmojiPresentation || isWide ? 2 : 1
        }
    }

    private var isWide: Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
            0x17000...0x18DFF, 0x1B000...0x1B2FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
