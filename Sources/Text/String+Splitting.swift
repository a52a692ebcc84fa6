extension StringProtocol where SubSequence == Substring {
    /// The text before and after the first `separator`; nil for the latter without a separator.
    package func split(at separator: Character) -> (before: Substring, after: Substring?) {
        guard let index = firstIndex(of: separator) else { return (self[startIndex...], nil) }
        return (self[..<index], self[self.index(after: index)...])
    }
}
