/// The sums of streams that were removed from the configuration, by name; bounded.
struct RetiredTotals: Sendable {
    /// The number of names that are kept. The counters of a stream whose name was forgotten begin at zero again.
    static let mostNames = 10_000

    private var totals: [String: (number: Int, totals: StreamTotals)] = [:]
    private var next = 0

    /// Keeps the sums of a stream.
    mutating func put(_ sums: StreamTotals, _ name: String) {
        totals[name] = (next, sums)
        next += 1
        // Half at once, so that a name costs constant time.
        guard totals.count > 2 * Self.mostNames else { return }
        totals = totals.filter { $0.value.number >= next - Self.mostNames }
    }

    /// Returns and removes the sums of a stream; nil for a name that is not known.
    mutating func take(_ name: String) -> StreamTotals? { totals.removeValue(forKey: name)?.totals }
}
