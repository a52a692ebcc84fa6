import Testing

@testable import InstrumentReport

/// Expected values: SciPy 1.16, `mannwhitneyu` and `fisher_exact`.
@Suite("Statistics of a comparison")
struct StatisticsTests {
    @Test("Small samples without equal values have the exact p-value")
    func exact() throws {
        let test = try #require(RankTest([19, 22, 16, 29, 24], [20, 11, 17, 12]))
        #expect(test.u == 17)
        #expect(abs(test.p - 0.1111111111111111) < 1e-12)
        #expect(abs(test.superiority - 0.85) < 1e-12)
        let apart = try #require(RankTest([1, 2, 3], [4, 5, 6]))
        #expect(apart.u == 0)
        #expect(abs(apart.p - 0.1) < 1e-12)
    }

    @Test("Large samples and samples with equal values have the corrected normal approximation")
    func normal() throws {
        let ties = try #require(RankTest([1, 1, 2, 3, 3, 3, 10], [2, 3, 4, 4, 5, 9, 9, 9]))
        #expect(ties.u == 13)
        #expect(abs(ties.p - 0.08835973681189323) < 1e-12)
        let shifted = try #require(RankTest((0..<25).map(Double.init), (0..<30).map { Double($0) + 5 }))
        #expect(shifted.u == 200)
        #expect(abs(shifted.p - 0.003171029571544905) < 1e-12)
    }

    @Test("Equal values alone are no difference, and an empty sample is no test")
    func degenerate() throws {
        #expect(try #require(RankTest([5, 5, 5, 5], [5, 5, 5])).p == 1)
        #expect(RankTest([], [1]) == nil && RankTest([1], []) == nil)
    }

    @Test("Exchanging the samples exchanges the direction and keeps the p-value")
    func symmetric() throws {
        let (first, second): ([Double], [Double]) = ([1, 4, 6, 8], [2, 3, 5, 7, 9])
        let (one, other) = (try #require(RankTest(first, second)), try #require(RankTest(second, first)))
        #expect(abs(one.p - other.p) < 1e-12)
        #expect(abs(one.superiority + other.superiority - 1) < 1e-12)
    }

    @Test("Shares have the p-value of Fisher's exact test")
    func shares() throws {
        #expect(abs(try #require(ShareTest(8, of: 10, 1, of: 6)).p - 0.034965034965034975) < 1e-9)
        #expect(abs(try #require(ShareTest(3, of: 100, 15, of: 100)).p - 0.00519222290141669) < 1e-9)
        #expect(try #require(ShareTest(0, of: 10, 0, of: 10)).p == 1)
        #expect(ShareTest(0, of: 0, 0, of: 10) == nil)
    }

    @Test("Holm's correction multiplies the smallest p-value by the number of tests, and never falls")
    func holm() {
        let adjusted = HolmCorrection.adjust([0.01, 0.04, nil, 0.03])
        #expect(adjusted.map { $0.map { ($0 * 1000).rounded() } } == [30, 60, nil, 60])
        #expect(HolmCorrection.adjust([0.9, 0.8]) == [1, 1])
    }

    @Test(
        "Every value is in one bin, whose bounds contain it",
        arguments: [[0.0], [0, 0, 0], [1e9, 0.001], (0..<500).map { Double($0) / 7 }]
    )
    func histogram(values: [Double]) {
        for measure in Measure.charted {
            let histogram = Histogram(
                measure,
                values.map { WeightedValue(value: $0, weight: 1) },
                values.map { WeightedValue(value: $0 * 2, weight: 1) }
            )
            #expect(histogram.bins.reduce(0) { $0 + $1.count } == values.count)
            #expect(histogram.bins.reduce(0) { $0 + $1.otherCount } == values.count)
            for bin in histogram.bins {
                let inside = values.filter { $0 >= bin.low - 1e-9 && $0 < (bin.high ?? .infinity) - 1e-9 }
                #expect(abs(inside.count - bin.count) <= 1)
            }
        }
    }
}
