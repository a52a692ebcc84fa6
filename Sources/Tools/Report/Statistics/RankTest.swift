#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The Mann–Whitney U test of two independent samples, two-sided.
///
/// Small samples without ties have the exact distribution of U; all others the normal approximation with the
/// corrections for ties and for continuity. Sources: H. B. Mann and D. R. Whitney, "On a Test of Whether one of Two
/// Random Variables is Stochastically Larger than the Other" (1947); M. Hollander and D. A. Wolfe, "Nonparametric
/// Statistical Methods", section 4.1.
package struct RankTest: Hashable, Sendable {
    /// The largest size of a sample for the exact distribution.
    static let largestExactSize = 20

    /// The number of pairs in which the first sample's value is greater; a pair of equal values counts one half.
    package let u: Double
    /// The probability that a value of the first sample is greater than one of the second, equal values counting one
    /// half.
    package let superiority: Double
    /// The two-sided p-value.
    package let p: Double

    /// Compares two samples; nil if one of them is empty.
    package init?(_ first: [Double], _ second: [Double]) {
        guard !first.isEmpty, !second.isEmpty else { return nil }
        let ranking = Ranking(first, second)
        let (n, m) = (Double(first.count), Double(second.count))
        u = ranking.rankSum - n * (n + 1) / 2
        superiority = u / (n * m)
        if ranking.tieTerm == 0, first.count <= Self.largestExactSize, second.count <= Self.largestExactSize {
            p = Self.exact(Int(u), first.count, second.count)
        } else {
            p = Self.normal(u, n, m, tieTerm: ranking.tieTerm)
        }
    }

    private static func normal(_ u: Double, _ n: Double, _ m: Double, tieTerm: Double) -> Double {
        let total = n + m
        let variance = n * m / 12 * (total + 1 - tieTerm / (total * (total - 1)))
        // All values are equal.
        guard variance > 0 else { return 1 }
        let distance = max(0, abs(u - n * m / 2) - 0.5)
        return erfc(distance / variance.squareRoot() / 2.0.squareRoot())
    }

    /// Twice the smaller tail of the distribution of U over all orders of n and m values.
    private static func exact(_ u: Int, _ n: Int, _ m: Int) -> Double {
        // counts[k][v]: the number of ways in which k values of the first sample, among those placed so far, exceed v
        // of the second.
        var counts = [[Double]](repeating: [Double](repeating: 0, count: n * m + 1), count: n + 1)
        counts[0][0] = 1
        for value in 1...(n + m) {
            for k in stride(from: min(n, value), through: 1, by: -1) {
                // The value has rank `value`; as the k-th of the first sample it exceeds `value - k` of the second.
                let exceeded = value - k
                guard exceeded <= m else { continue }
                for sum in stride(from: n * m, through: exceeded, by: -1) {
                    counts[k][sum] += counts[k - 1][sum - exceeded]
                }
            }
        }
        let all = counts[n].reduce(0, +)
        let low = counts[n].prefix(min(u, n * m - u) + 1).reduce(0, +)
        return min(1, 2 * low / all)
    }
}

/// Ranks of two samples together; equal values have the mean of their ranks.
private struct Ranking {
    /// The sum of the first sample's ranks.
    private(set) var rankSum = 0.0
    /// The sum of t³ - t over all groups of t equal values.
    private(set) var tieTerm = 0.0

    init(_ first: [Double], _ second: [Double]) {
        let values = (first.map { ($0, true) } + second.map { ($0, false) }).sorted { $0.0 < $1.0 }
        var start = 0
        while start < values.count {
            let end = values[start...].firstIndex { $0.0 != values[start].0 } ?? values.count
            let count = Double(end - start)
            let rank = Double(start + 1 + end) / 2
            rankSum += rank * Double(values[start..<end].count { $0.1 })
            tieTerm += count * count * count - count
            start = end
        }
    }
}
