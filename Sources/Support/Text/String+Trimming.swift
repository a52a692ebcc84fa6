internal import Instrument

extension StringProtocol where SubSequence == Substring {
    /// The text without spaces and tabs at either end.
    package var trimmingSpaces: Substring { trimming { $0 == 0x20 || $0 == 0x09 } }

    /// The text without the white space of XML and JSON at either end.
    package var trimmingWhitespace: Substring { trimming(\.isWhitespace) }

    /// Works on bytes: to find the last character of a text of flags or accents, all characters before it would be
    /// read.
    private func trimming(_ isSpace: (UInt8) -> Bool) -> Substring {
        let bytes = self[...].utf8
        guard let first = bytes.firstIndex(where: { !isSpace($0) }),
            let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return self[endIndex...] }
        return Substring(bytes[first...last])
    }
}
