/// Paths by wildcard.
enum PathPattern {
    /// Whether `path` is what `pattern` says, where `*` is any text and `?` any byte; a leading slash is all one.
    ///
    /// Greedy with one way back (the last `*`), so that a long pattern takes no more than pattern × path steps.
    static func matches(_ pattern: String, _ path: String) -> Bool {
        let pattern = Array(trimmed(pattern).utf8)
        let path = Array(trimmed(path).utf8)
        var (at, place) = (0, 0)
        var star: (after: Int, place: Int)?
        while place < path.count {
            if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
                star = (at + 1, place)
                at += 1
            } else if at < pattern.count, pattern[at] == UInt8(ascii: "?") || pattern[at] == path[place] {
                at += 1
                place += 1
            } else if let back = star {
                star = (back.after, back.place + 1)
                (at, place) = (back.after, back.place + 1)
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == UInt8(ascii: "*") }
    }

    private static func trimmed(_ text: String) -> Substring { text.hasPrefix("/") ? text.dropFirst() : text[...] }
}
