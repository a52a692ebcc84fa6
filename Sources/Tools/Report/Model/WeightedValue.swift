/// A value of a session, and the number of sessions that the session stands for: more than 1 if only one of several is
/// recorded.
package struct WeightedValue: Hashable, Sendable {
    /// The value.
    package let value: Double
    /// The number of sessions, at least 1.
    package let weight: Int
}

extension [WeightedValue] {
    /// The sum of the weights.
    var weight: Int { reduce(0) { $0 + $1.weight } }

    /// The sum of the values, each with its weight.
    var sum: Double { reduce(0) { $0 + $1.value * Double($1.weight) } }

    /// The value below which a share of the weights lies (nearest rank); nil without values.
    func quantile(_ share: Double) -> Double? {
        let sorted = sorted { $0.value < $1.value }
        let rank = Swift.max(1, (Double(weight) * share).rounded(.up))
        var below = 0
        for entry in sorted {
            below += entry.weight
            if Double(below) >= rank { return entry.value }
        }
        return sorted.last?.value
    }
}
