#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Fisher's exact test of two shares, two-sided: the sum of the probabilities of all tables that are at most as
/// probable as the one that was observed. Source: R. A. Fisher, "The Logic of Inductive Inference" (1935).
package struct ShareTest: Hashable, Sendable {
    /// The two-sided p-value.
    package let p: Double

    /// Compares `hits` of `count` with `otherHits` of `otherCount`; nil if a count is not positive or less than its
    /// hits.
    package init?(_ hits: Int, of count: Int, _ otherHits: Int, of otherCount: Int) {
        guard count > 0, otherCount > 0, (0...count).contains(hits), (0...otherCount).contains(otherHits) else {
            return nil
        }
        let all = hits + otherHits
        let logarithm = { (x: Int) in
            Self.logChoose(count, x) + Self.logChoose(otherCount, all - x) - Self.logChoose(count + otherCount, all)
        }
        let observed = logarithm(hits)
        var sum = 0.0
        for x in max(0, all - otherCount)...min(count, all) {
            let probability = logarithm(x)
            // Equal probabilities may differ in their last digits.
            if probability <= observed + 1e-7 { sum += exp(probability) }
        }
        p = min(1, sum)
    }

    private static func logChoose(_ n: Int, _ k: Int) -> Double {
        logFactorial(n) - logFactorial(k) - logFactorial(n - k)
    }

    private static func logFactorial(_ n: Int) -> Double { lgamma(Double(n) + 1) }
}
