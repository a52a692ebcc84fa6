/// Path patterns with wildcards.
enum PathPattern {
    /// Whether `path` matches `pattern`, where `*` is any text and `?` any byte; a leading slash is optional.
    ///
    /// Greedy, and backtracks to the last `*` only, so that a long pattern takes at most pattern × path steps.
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
