extension String {
    /// Without spaces and tabs at either end.
    var trimmingSpaces: String { trimming { $0 == 0x20 || $0 == 0x09 } }

    /// Without the white space of XML at either end.
    var trimmingWhitespace: String { trimming(MarkupCursor.isSpace) }

    /// By bytes: to find the last character of a text of flags or accents, all before it have to be looked at.
    private func trimming(_ isSpace: (UInt8) -> Bool) -> String {
        var bytes = utf8[...]
        guard bytes.first.map(isSpace) == true || bytes.last.map(isSpace) == true else { return self }
        bytes = bytes.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return String(Substring(bytes))
    }
}
