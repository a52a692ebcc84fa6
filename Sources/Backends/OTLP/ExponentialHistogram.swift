#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A distribution in buckets whose limits grow by a constant factor (OpenTelemetry data model, "ExponentialHistogram").
///
/// With scale s the factor is 2^(2^-s); bucket i holds values above factor^i up to and including factor^(i+1). The
/// scale begins at 8 (0.3 %) and shrinks until the buckets are at most ``maxBuckets``. Values of zero and below are
/// counted as zero.
struct ExponentialHistogram: Hashable {
    static let maxBuckets = 160
    private static let firstScale = 8

    private(set) var count: UInt64 = 0
    private(set) var sum: Double = 0
    private(set) var min: Double = .infinity
    private(set) var max: Double = -.infinity
    private(set) var zeroCount: UInt64 = 0
    private(set) var scale = firstScale
    /// The index of the first bucket.
    private(set) var offset = 0
    private(set) var buckets: [UInt64] = []

    mutating func insert(_ value: Double) {
        guard value.isFinite else { return }
        count += 1
        sum += value
        (min, max) = (Swift.min(min, value), Swift.max(max, value))
        guard value > 0 else {
            zeroCount += 1
            return
        }
        var index = Self.index(of: value, scale: scale)
        while !buckets.isEmpty, spread(with: index, last: offset + buckets.count - 1) > Self.maxBuckets {
            halve()
            index = Self.index(of: value, scale: scale)
        }
        if buckets.isEmpty {
            (offset, buckets) = (index, [1])
        } else if index < offset {
            buckets.insert(contentsOf: repeatElement(0, count: offset - index), at: 0)
            offset = index
            buckets[0] += 1
        } else {
            while offset + buckets.count <= index { buckets.append(0) }
            buckets[index - offset] += 1
        }
    }

    private func spread(with index: Int, last: Int) -> Int { Swift.max(last, index) - Swift.min(offset, index) + 1 }

    /// Joins pairs of buckets: bucket i becomes a part of bucket ⌊i / 2⌋.
    private mutating func halve() {
        scale -= 1
        let first = offset >> 1
        var joined = [UInt64](repeating: 0, count: ((offset + buckets.count - 1) >> 1) - first + 1)
        for (position, count) in buckets.enumerated() { joined[((offset + position) >> 1) - first] += count }
        (offset, buckets) = (first, joined)
    }

    /// The bucket of a positive value. A power of two is the upper limit of its bucket, exactly.
    static func index(of value: Double, scale: Int) -> Int {
        let exponent = Int(value.exponent)
        let isPower = value.significand == 1
        if scale <= 0 { return (isPower ? exponent - 1 : exponent) >> -scale }
        if isPower { return (exponent << scale) - 1 }
        let part = Int((log2(value.significand) * Double(1 << scale)).rounded(.up)) - 1
        return (exponent << scale) + Swift.min(Swift.max(part, 0), (1 << scale) - 1)
    }
}
