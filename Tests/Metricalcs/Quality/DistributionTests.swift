import Instrument
import InstrumentQuality
import InstrumentTestKit
import Testing

@Suite("Distribution")
struct DistributionTests {
    @Test("A quantile lies within 0.4 % of the exact one", arguments: [0.01, 0.25, 0.5, 0.9, 0.99, 0.999])
    func quantiles(share: Double) {
        var generator = SeededGenerator(seed: 3)
        var values: [Int] = []
        var distribution = Distribution()
        for _ in 0..<20_000 {
            let value = Int.random(in: 0...Int.random(in: 1...1_000_000_000, using: &generator), using: &generator)
            values.append(value)
            distribution.record(value)
        }
        values.sort()
        let exact = values[Int((20_000 * share).rounded(.up)) - 1]
        let found = distribution.quantile(share) ?? 0
        #expect(abs(Double(found - exact)) <= Double(exact) * 0.004 + 0.5)
        #expect(distribution.quantile(0) == values.first)
        #expect(distribution.quantile(1) == values.last)
        #expect(distribution.sum == values.reduce(Int128(0)) { $0 + Int128($1) })
    }

    @Test("Values below 256 and their negatives have exact quantiles")
    func small() {
        var distribution = Distribution()
        for value in -255...255 { distribution.record(value) }
        #expect(distribution.quantile(0.5) == 0)
        #expect(distribution.mean == 0)
        #expect(distribution.histogram.map(\.bounds.lowerBound) == Array(-255...255))
    }

    @Test(
        "Bins tile the integers: each value lies in its bin",
        arguments: [0, 1, 255, 256, 511, 512, 1_000_003, Int.max, Int.max - 1, -1, -256, -257, Int.min, Int.min + 1]
    )
    func bins(value: Int) {
        var distribution = Distribution()
        distribution.record(value)
        let bounds = distribution.histogram[0].bounds
        #expect(bounds.contains(value))
        #expect(bounds.upperBound - bounds.lowerBound <= abs(value / 128))
        if bounds.upperBound < Int.max {
            distribution.record(bounds.upperBound + 1)
            #expect(distribution.histogram.count == 2)
            #expect(distribution.histogram[1].bounds.lowerBound == bounds.upperBound + 1)
        }
    }

    @Test("A weight is that many values")
    func weights() {
        var (weighted, repeated) = (Distribution(), Distribution())
        weighted.record(7, count: 3)
        weighted.record(1000, count: 2)
        weighted.record(5, count: 0)
        for value in [7, 1000, 7, 1000, 7] { repeated.record(value) }
        #expect(weighted == repeated)
        var doubled = Distribution()
        doubled.merge(repeated, weight: 2)
        repeated.merge(repeated)
        #expect(doubled == repeated)
    }

    @Test("Counts and sums saturate, and a merge remains independent of the order")
    func saturation() {
        var (left, right) = (Distribution(), Distribution())
        left.record(.max, count: .max)
        right.record(.max, count: .max)
        var (one, other) = (left, right)
        one.merge(right)
        other.merge(left)
        #expect(one == other)
        #expect(one.count == .max)
        #expect(one.quantile(1.0.nextDown) != nil)
    }

    @Test("The encoding of a distribution reads back, and damaged text does not")
    func encoding() {
        var generator = SeededGenerator(seed: 5)
        var distribution = Distribution()
        #expect(Distribution(encoded: distribution.encoded) == distribution)
        for _ in 0..<500 { distribution.record(Int.random(in: -1_000_000...1_000_000_000, using: &generator)) }
        #expect(Distribution(encoded: distribution.encoded) == distribution)
        for text in [
            "", "1;;;0", "2;;;0;", "1;5;3;8;5:1", "1;5;5;5;", "1;5;5;5;5:0", "1;5;5;5;5:1,5:1", "1;5;5;5;9:1",
            "1;a;5;5;5:1",
        ] {
            #expect(Distribution(encoded: text) == nil, "\(text)")
        }
    }

    @Test("An empty distribution has no mean and no quantile")
    func empty() {
        #expect(Distribution().mean == nil)
        #expect(Distribution().quantile(0.5) == nil)
    }
}

@Suite("Aggregates")
struct AggregateTests {
    @Test("An aggregate weighs sessions, pools ratios and adds labels")
    func aggregate() {
        // 1 of 10 recorded: 3 s of stalls in 63 s; 1 of 1: 0 in 10 s.
        let sampled = sessions(Golden.check.map { ($0.0, $0.1, $0.2.merged(["sampleWeight": 10, "bitrate": 5])) })[0]
        let plain = sessions([(0, .mediaRequest, [:]), (500, .start, ["bitrate": 7]), (10_000, .end, [:])])[0]
        var aggregate = QualityAggregate(.instrument)
        aggregate.add(sampled)
        aggregate.add(plain)
        #expect(aggregate.sessionCount == 11)
        #expect(aggregate.recordedCount == 2)
        #expect(aggregate.summaries["PlayTime"]?.total == 610_000)
        #expect(aggregate.summaries["NumRebuffers"]?.total == 10)
        #expect(aggregate.summaries["StartTime"]?.mean == 20_500.0 / 11)
        #expect(aggregate.summaries["RebufferRatio"]?.pooled == 30_000.0 / 640_000)
        #expect(aggregate.summaries["RebufferRatio"]?.quantile(1) == 0.047619)
        #expect(aggregate.summaries["TimeInQuality"]?.labels == ["5": 600_000, "7": 10_000])
    }

    @Test("Concurrent plays are intervals: one viewer after another is one play, and a session of no length is a play")
    func concurrentPlays() {
        func session(_ start: Int64, _ seconds: Int) -> QualitySession {
            var viewing = Viewing(wallTime: start * 1000)
            viewing.add(0, .start)
            viewing.add(seconds * 1000, .end)
            return sessions(of: viewing.events)[0]
        }
        var plays = ConcurrentPlays()
        for start in [0, 10, 20] as [Int64] { plays.add(session(start, 10)) }
        #expect(plays.peak == 1)
        #expect(plays.series.map(\.time) == [0, 30_000] && plays.series.map(\.plays) == [1, 0])
        plays.add(session(29, 2))
        plays.add(session(300, 0))
        #expect(plays.series.map(\.time) == [0, 29_000, 30_000, 31_000, 300_000, 300_001])
        #expect(plays.series.map(\.plays) == [1, 2, 1, 0, 1, 0])
        #expect(plays.peak == 2)
        var reversed = ConcurrentPlays()
        let mixed: [(Int64, Int)] = [(300, 0), (29, 2), (20, 10), (10, 10), (0, 10)]
        for (start, length) in mixed { reversed.add(session(start, length)) }
        #expect(reversed == plays)
    }
}
