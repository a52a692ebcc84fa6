extension StringProtocol where SubSequence == Substring {
    /// The text before and after the first `separator`, a character of ASCII; nil for the latter without a separator.
    ///
    /// Searches bytes: a mark that combines with the separator does not hide it.
    package func split(at separator: Unicode.Scalar) -> (before: Substring, after: Substring?) {
        let bytes = utf8
        guard let index = bytes.firstIndex(of: UInt8(ascii: separator)) else { return (self[startIndex...], nil) }
        return (self[..<index], self[bytes.index(after: index)...])
    }
}
