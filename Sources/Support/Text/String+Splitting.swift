extension StringProtocol where SubSequence == Substring {
    /// The text before and after the first `separator`, a character of ASCII; nil for the latter without a separator.
    ///
    /// Searches bytes: a mark that combines with the separator does not hide it.
    package func split(at separator: Unicode.Scalar) -> (before: Substring, after: Substring?) {
        self[startIndex...].divided(at: UInt8(ascii: separator))
    }
}

extension Substring {
    /// The text before and after a byte; not generic, because each line of a long playlist is divided.
    fileprivate func divided(at byte: UInt8) -> (before: Substring, after: Substring?) {
        let found = utf8.withContiguousStorageIfAvailable { bytes in
            bytes.firstIndex(of: byte).map { utf8.index(startIndex, offsetBy: $0) }
        }
        guard let index = found ?? utf8.firstIndex(of: byte) else { return (self, nil) }
        return (self[..<index], self[utf8.index(after: index)...])
    }
}
