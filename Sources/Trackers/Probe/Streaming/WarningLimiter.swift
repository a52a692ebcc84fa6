/// Admits the first five warnings of each kind in a playback, because further ones add no information.
struct WarningLimiter: Hashable, Sendable {
    private static let maximum = 5
    private var counts: [StreamWarning.Kind: Int] = [:]

    /// Counts a warning; false if it exceeds the limit of its kind.
    mutating func admits(_ kind: StreamWarning.Kind) -> Bool {
        let count = (counts[kind] ?? 0) + 1
        counts[kind] = min(count, Self.maximum + 1)
        return count <= Self.maximum
    }
}
