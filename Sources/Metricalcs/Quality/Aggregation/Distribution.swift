internal import Instrument

/// A mergeable distribution of integers with weights: exact count, sum, minimum and maximum, and quantiles within 0.4
/// %.
///
/// Values fall into bins whose width is at most 1/128 of their lower bound; values below 256 have a bin each. Bins,
/// counts and sums are integers, so that a merge is exact: the order in which parts are merged does not change a bit,
/// and a merge of parts equals the distribution of the whole. Sums and counts saturate at the ends of their ranges.
///
/// Memory grows with the number of occupied bins, at most 14,848.
public struct Distribution: Hashable, Sendable {
    /// The sum of all weights.
    public private(set) var count = 0
    /// The sum of all values times their weights.
    public private(set) var sum: Int128 = 0
    /// The smallest value; nil if the distribution is empty.
    public private(set) var minimum: Int?
    /// The greatest value; nil if the distribution is empty.
    public private(set) var maximum: Int?
    private var bins: [Int32: Int] = [:]

    /// Creates an empty distribution.
    package init() {}

    /// Whether the distribution has no values.
    package var isEmpty: Bool { count == 0 }

    /// Adds a value with a weight; a weight below 1 adds nothing.
    package mutating func record(_ value: Int, count weight: Int = 1) {
        guard weight > 0 else { return }
        count = count.saturatingAdd(weight)
        sum = sum.saturatingAdd(Int128(value) * Int128(weight))
        minimum = min(minimum ?? value, value)
        maximum = max(maximum ?? value, value)
        bins[Self.bin(of: value), default: 0].add(weight)
    }

    /// Adds all values of another distribution, each weight multiplied by `weight`.
    package mutating func merge(_ other: Distribution, weight: Int = 1) {
        guard weight > 0, let low = other.minimum, let high = other.maximum else { return }
        count = count.saturatingAdd(other.count.saturatingMultiply(weight))
        sum = sum.saturatingAdd(other.sum.saturatingMultiply(Int128(weight)))
        minimum = min(minimum ?? low, low)
        maximum = max(maximum ?? high, high)
        for (bin, weightOfBin) in other.bins { bins[bin, default: 0].add(weightOfBin.saturatingMultiply(weight)) }
    }

    /// The mean; nil if the distribution is empty.
    public var mean: Double? { count > 0 ? Double(sum) / Double(count) : nil }

    /// The value below which the share `share` of the weight lies, within 0.4 %; nil if the distribution is empty.
    ///
    /// - Parameter share: from 0 (the minimum) to 1 (the maximum).
    public func quantile(_ share: Double) -> Int? {
        guard let minimum, let maximum, !share.isNaN else { return nil }
        if share <= 0 { return minimum }
        if share >= 1 { return maximum }
        let rank = max(1, Int(exactly: (Double(count) * share).rounded(.up)) ?? count)
        var passed = 0
        for (bin, weight) in bins.sorted(by: { $0.key < $1.key }) {
            passed = passed.saturatingAdd(weight)
            if passed >= rank { return max(minimum, min(maximum, Self.middle(of: bin))) }
        }
        return maximum
    }

    /// The occupied bins in ascending order: lower and upper bound, both inclusive, and weight. For histograms.
    package var histogram: [Bin] {
        bins.sorted { $0.key < $1.key }.map { Bin(bounds: Self.bounds(of: $0.key), count: $0.value) }
    }

    /// A range of values and the weight in it.
    package struct Bin: Hashable, Sendable {
        /// The smallest and the greatest value of the bin.
        package var bounds: ClosedRange<Int>
        /// The weight.
        package var count: Int
    }
}

extension Distribution {
    /// The bits of a value that choose its bin.
    private static let precision = 7

    /// Negative values have the complements of the bins of their complements.
    private static func bin(of value: Int) -> Int32 {
        value < 0 ? ~bin(ofNonnegative: UInt64(bitPattern: Int64(~value))) : bin(ofNonnegative: UInt64(value))
    }

    private static func bin(ofNonnegative value: UInt64) -> Int32 {
        let shift = max(0, 64 - value.leadingZeroBitCount - precision - 1)
        return Int32(truncatingIfNeeded: UInt64(shift) << UInt64(precision) + value >> UInt64(shift))
    }

    private static func bounds(of bin: Int32) -> ClosedRange<Int> {
        if bin < 0 {
            let mirrored = bounds(of: ~bin)
            return ~mirrored.upperBound...(~mirrored.lowerBound)
        }
        let shift = max(0, Int(bin >> Int32(precision)) - 1)
        let low = Int(bin) - shift << precision
        return (low << shift)...((low << shift) + (1 << shift - 1))
    }

    private static func middle(of bin: Int32) -> Int {
        let bounds = bounds(of: bin)
        return bounds.lowerBound + (bounds.upperBound - bounds.lowerBound) / 2
    }
}

extension Distribution {
    /// The distribution as text that ``init(encoded:)`` reads: `1;minimum;maximum;sum;bin:weight,…`, bins in ascending
    /// order. Equal distributions give equal texts.
    package var encoded: String {
        guard let minimum, let maximum else { return "1;;;0;" }
        let bins = bins.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
        return "1;\(minimum);\(maximum);\(sum);\(bins)"
    }

    /// Reads ``encoded``; nil if the text is not the encoding of a distribution.
    package init?(encoded: String) {
        let parts = encoded.split(separator: ";", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == "1", let sum = Int128(parts[3]) else { return nil }
        if parts[1].isEmpty {
            guard parts[2].isEmpty, sum == 0, parts[4].isEmpty else { return nil }
            return
        }
        guard let minimum = Int(parts[1]), let maximum = Int(parts[2]), minimum <= maximum else { return nil }
        for part in parts[4].split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.split(separator: ":", omittingEmptySubsequences: false)
            guard pair.count == 2, let bin = Int32(pair[0]), let weight = Int(pair[1]), weight > 0,
                bins[bin] == nil, bin >= Self.bin(of: minimum), bin <= Self.bin(of: maximum)
            else { return nil }
            bins[bin] = weight
            count = count.saturatingAdd(weight)
        }
        guard bins[Self.bin(of: minimum)] != nil, bins[Self.bin(of: maximum)] != nil else { return nil }
        (self.sum, self.minimum, self.maximum) = (sum, minimum, maximum)
    }
}

extension Int {
    /// Adds, and stops at the ends of the range.
    mutating func add(_ other: Int) { self = saturatingAdd(other) }
}
