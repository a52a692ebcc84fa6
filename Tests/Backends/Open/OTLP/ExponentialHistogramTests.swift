import Foundation
import InstrumentTestKit
import Testing

@testable import InstrumentOTLP

@Suite("Exponential histogram")
struct ExponentialHistogramTests {
    private func limits(_ index: Int, _ scale: Int) -> (lower: Double, upper: Double) {
        let factor = pow(2, pow(2, -Double(scale)))
        return (pow(factor, Double(index)), pow(factor, Double(index + 1)))
    }

    @Test("Every value is in its bucket, at any scale", arguments: [-4, -1, 0, 1, 3, 8])
    func indices(scale: Int) {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let value = exp(Double.random(in: -40...40, using: &generator))
            let (lower, upper) = limits(ExponentialHistogram.index(of: value, scale: scale), scale)
            #expect(value > lower * (1 - 1e-9) && value <= upper * (1 + 1e-9))
        }
    }

    @Test("A power of two is the upper limit of its bucket", arguments: [-3, 0, 2, 8])
    func powers(scale: Int) {
        for exponent in -20...20 {
            let value = pow(2, Double(exponent))
            let index = ExponentialHistogram.index(of: value, scale: scale)
            let above = ExponentialHistogram.index(of: value.nextUp, scale: scale)
            let isLimit = scale >= 0 || exponent % (1 << -scale) == 0
            #expect(above == (isLimit ? index + 1 : index))
        }
    }

    @Test("Counts, sum and extremes are exact, and buckets stay within their number")
    func insertion() {
        var generator = SeededGenerator(seed: 3)
        var histogram = ExponentialHistogram()
        var values: [Double] = []
        for _ in 0..<5000 { values.append(exp(Double.random(in: -20...20, using: &generator))) }
        values += [0, 0, .leastNonzeroMagnitude, .greatestFiniteMagnitude / 1e10]
        for value in values { histogram.insert(value) }
        histogram.insert(.nan)
        #expect(histogram.count == UInt64(values.count) && histogram.zeroCount == 2)
        #expect(histogram.buckets.reduce(0, +) == UInt64(values.count) - 2)
        #expect(histogram.buckets.count <= ExponentialHistogram.maxBuckets)
        #expect(histogram.min == values.min() && histogram.max == values.max())
        // Each bucket has as many values as lie within its limits.
        for (position, count) in histogram.buckets.enumerated() {
            let index = histogram.offset + position
            let own = values.filter { $0 > 0 && ExponentialHistogram.index(of: $0, scale: histogram.scale) == index }
            #expect(own.count == Int(count))
        }
    }

    @Test("A single value has one bucket at the finest scale")
    func single() {
        var histogram = ExponentialHistogram()
        histogram.insert(0.85)
        #expect(histogram.scale == 8 && histogram.buckets == [1] && histogram.sum == 0.85)
    }
}
