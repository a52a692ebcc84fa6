import Instrument
import Testing

@testable import InstrumentProbe

@Suite("Throughput estimates")
struct ThroughputEstimatorTests {
    @Test("A moving average from zero, corrected for that; the smaller of two")
    func movingAverages() throws {
        let estimator = ThroughputEstimator(.movingAverages(fastHalfLife: .seconds(2), slowHalfLife: .seconds(4)))
        // One sample is the estimate.
        #expect(abs(try #require(estimator.bitrate(of: history((3, 1000)))) - 1e6) < 1)
        // 2 s of 4 Mbit/s, then 2 s of 1: fast ½ × (½ × 4) + ½ × 1 = 1.5, ÷ (1 − ¼) = 2; slow with α = 2^−½:
        // α (1 − α) 4 + (1 − α) 1 = 1.12132, ÷ (1 − ½) = 2.24264.
        let falling = history((2, 4000), (2, 1000))
        #expect(abs(try #require(estimator.bitrate(of: falling)) - 2e6) < 1)
        // Upwards the slow one holds back: 1 × α (1 − α) + 4 (1 − α) = 1.378680, ÷ ½ = 2.757359.
        let rising = history((2, 1000), (2, 4000))
        #expect(abs(try #require(estimator.bitrate(of: rising)) - 2_757_359.31) < 1)
    }

    @Test("Media3's median by square roots of bytes, the oldest weight left out beyond 2000")
    func percentile() throws {
        let estimator = ThroughputEstimator.exoPlayer
        // 250 kB in 1 s: too little to go by. Then 1 MB in 4 s.
        #expect(estimator.bitrate(of: history((1, 2000))) == nil)
        // Weights 500 and 1000: half of 1500 is reached with the larger sample, in order of value 2000, 2000.
        #expect(estimator.bitrate(of: history((1, 2000), (4, 2000))) == 2e6)
        // Weights 1000 (8 Mbit/s), 1000 (2), 1000 (4): the oldest is left out, of 2 and 4 the median is 2.
        #expect(estimator.bitrate(of: history((1, 8000), (4, 2000), (2, 4000))) == 2e6)
        // With 500 of the oldest still in: 500 (8), 500 (2), 1000 (4): 4.
        #expect(estimator.bitrate(of: history((1, 8000), (1, 2000), (2, 4000))) == 4e6)
    }

    @Test("The harmonic mean of 1 and 4 is 1.6, the mean 2.5; only the latest count")
    func means() {
        let samples = history((1, 9000), (1, 1000), (1, 4000))
        #expect(abs((ThroughputEstimator(.harmonicMean(last: 2)).bitrate(of: samples) ?? 0) - 1.6e6) < 1)
        #expect(ThroughputEstimator(.mean(last: 2)).bitrate(of: samples) == 2.5e6)
    }

    @Test("Small samples are left out, and too few bytes are no estimate, as Shaka has it")
    func shaka() {
        #expect(ThroughputEstimator.shaka.bitrate(of: history((0.1, 1000))) == nil)
        #expect(ThroughputEstimator.shaka.bitrate(of: history((1, 1000))) == nil)
        #expect(ThroughputEstimator.shaka.bitrate(of: history((2, 1000))) != nil)
    }

    @Test("The wait for the first byte counts or does not; no time at all is no division by zero")
    func times() {
        let sample = ThroughputSample(
            bytes: 125_000,
            transferTime: .seconds(1),
            timeToFirstByte: .seconds(1),
            end: MonotonicInstant(nanoseconds: 0)
        )
        let samples = ThroughputHistory([sample])
        #expect(ThroughputEstimator(.mean(last: 1)).bitrate(of: samples) == 5e5)
        #expect(ThroughputEstimator(.mean(last: 1), time: .transfer).bitrate(of: samples) == 1e6)
        let instant = ThroughputSample(
            bytes: .max,
            transferTime: .zero,
            timeToFirstByte: .seconds(-1),
            end: MonotonicInstant(nanoseconds: 0)
        )
        for estimator in [ThroughputEstimator.hlsJS, .shaka, .dashJS, .exoPlayer, .sabre] {
            let bitrate = estimator.bitrate(of: ThroughputHistory([instant, instant])) ?? 1
            #expect(bitrate.isFinite && bitrate > 0)
            #expect(estimator.bitrate(of: ThroughputHistory()) == nil)
        }
        var full = ThroughputHistory()
        for _ in 0..<300 { full.append(sample) }
        full.append(ThroughputSample(bytes: 0, transferTime: .zero, timeToFirstByte: .zero, end: sample.end))
        #expect(full.samples.count == ThroughputHistory.capacity)
    }
}

@Suite("Throughput rule")
struct ThroughputRuleTests {
    @Test(
        "Media3: 0.7 of the bandwidth; up with 10 s buffered, down with less than 25 s",
        arguments: [
            (1, 20.0, 3000, 1), (1, 20.0, 5800, 2), (1, 9.9, 5800, 1), (2, 24.9, 3000, 1), (2, 25.0, 3000, 2),
            (0, 10.0, 2860, 1), (0, 10.0, 2850, 0),
        ]
    )
    func exoPlayer(current: Int, level: Double, kilobits: Int, expected: Int) {
        var rule = ThroughputRule.exoPlayer
        let decision = rule.decide(in: context(current: current, level: level, throughput: history((4, kilobits))))
        #expect(decision == AdaptationDecision(rung: expected))
    }

    @Test(
        "Media3: the first choice ignores the buffer, the rate counts, and near the live edge ¾ of what there is will do"
    )
    func exoPlayerMore() {
        var rule = ThroughputRule.exoPlayer
        #expect(rule.decide(in: context(current: nil, estimate: 2_900_000)).rung == 1)
        #expect(rule.decide(in: context(current: nil)).rung == 0)
        #expect(rule.decide(in: context(current: 1, level: 12, throughput: history((4, 5800)), rate: 2)).rung == 1)
        // (12 − 4) × ¾ = 6 s.
        let live = AdaptationContext.Live(latency: .seconds(12), target: .seconds(12))
        #expect(rule.decide(in: context(current: 0, level: 6, throughput: history((4, 5800)), live: live)).rung == 2)
        #expect(rule.decide(in: context(current: 0, level: 5.9, throughput: history((4, 5800)), live: live)).rung == 0)
    }

    @Test(
        "hls.js: 0.95 to stay and 0.7 to go up, and in time",
        arguments: [
            // 0.7 × 2900 = 2030 carries rung 1; its 4 s take 3.94 s of 10.
            (0, 10.0, 2900, 1), (0, 10.0, 2800, 0), (1, 10.0, 2110, 1), (1, 10.0, 2100, 0),
            // 2 s buffered: the present rung takes 8 ÷ 2.755 = 2.9 s and the lower one 4 ÷ 2.755 = 1.45 s.
            (1, 2.0, 2900, 0),
            // Nothing buffered: a stall of up to 4 s is put up with, so rung 1 in 2.9 s.
            (1, 0.0, 2900, 1),
        ]
    )
    func hlsJS(current: Int, level: Double, kilobits: Int, expected: Int) {
        var rule = ThroughputRule.hlsJS
        let decision = rule.decide(in: context(current: current, level: level, throughput: history((4, kilobits))))
        #expect(decision.rung == expected)
    }

    @Test("Shaka: 0.95 of the bandwidth, and 8 s between changes")
    func shaka() {
        var rule = ThroughputRule.shaka
        #expect(rule.decide(in: context(current: 0, throughput: history((4, 2110)), now: 1)).rung == 1)
        #expect(rule.decide(in: context(current: 1, throughput: history((4, 1000)), now: 8.9)).rung == 1)
        #expect(rule.decide(in: context(current: 1, throughput: history((4, 1000)), now: 9)).rung == 0)
    }

    @Test("dash.js gives up what takes 1.8 times its duration, if the other is less than what is left")
    func slowAbandonment() {
        var rule = ThroughputRule(abandonment: .dashJS)
        // 2 MB in all, 0.2 MB in 1 s: 10 s for the whole, 1.6 Mbit/s: rung 0 is 0.5 MB, less than 1.8.
        #expect(
            rule.abandonment(of: download(rung: 2, received: 200_000, total: 2_000_000, elapsed: 1), in: context()) == 0
        )
        #expect(
            rule.abandonment(of: download(rung: 2, received: 200_000, total: 2_000_000, elapsed: 0.49), in: context())
                == nil
        )
        // 3 Mbit/s: 5.3 s for the whole, which is less than 7.2.
        #expect(
            rule.abandonment(of: download(rung: 2, received: 375_000, total: 2_000_000, elapsed: 1), in: context())
                == nil
        )
        // Only 0.4 MB are left.
        #expect(
            rule.abandonment(of: download(rung: 2, received: 1_600_000, total: 2_000_000, elapsed: 8), in: context())
                == nil
        )
        // Nothing lower, nothing arrived, no first byte.
        #expect(
            rule.abandonment(of: download(rung: 0, received: 1, total: 2_000_000, elapsed: 99), in: context()) == nil
        )
        #expect(rule.abandonment(of: download(rung: 2, received: 0, total: nil, elapsed: 9), in: context()) == nil)
        #expect(
            rule.abandonment(of: download(rung: 2, received: 9, total: nil, elapsed: 9, firstByte: nil), in: context())
                == nil
        )
    }

    @Test("hls.js gives up what would let the buffer run dry, if the other comes in time")
    func starvingAbandonment() {
        var rule = ThroughputRule.hlsJS
        let slow = download(rung: 2, received: 500_000, total: 2_000_000, elapsed: 3)
        // 167 kB/s: the rest takes 9 s; rung 0 at 0.8 of that 3.75 s, rung 1 7.5 s.
        #expect(rule.abandonment(of: slow, in: context(level: 4)) == 0)
        #expect(rule.abandonment(of: slow, in: context(level: 7.6)) == 1)
        #expect(rule.abandonment(of: slow, in: context(level: 8)) == nil)
        #expect(rule.abandonment(of: slow, in: context(level: 4, playhead: .paused)) == nil)
        let early = download(rung: 2, received: 300_000, total: 2_000_000, elapsed: 2)
        #expect(rule.abandonment(of: early, in: context(level: 1)) == nil)
        // The rest comes in 0.5 s.
        let nearly = download(rung: 2, received: 1_800_000, total: 2_000_000, elapsed: 4.5)
        #expect(rule.abandonment(of: nearly, in: context(level: 0.4)) == nil)
    }

    @Test("Fixed rules keep to what is allowed")
    func fixed() {
        let capped = AdaptationConstraints(maximumBitrate: 2_000_000, excluded: [0])
        var (lowest, highest, first, third) = (
            FixedRule(.lowest), FixedRule(.highest), FixedRule(.rung(0)), FixedRule(.rung(2))
        )
        #expect(lowest.decide(in: context()).rung == 0 && highest.decide(in: context()).rung == 2)
        #expect(third.decide(in: context()).rung == 2)
        #expect(lowest.decide(in: context(constraints: capped)).rung == 1)
        #expect(highest.decide(in: context(constraints: capped)).rung == 1)
        #expect(first.decide(in: context(constraints: capped)).rung == 1)
        #expect(third.decide(in: context(constraints: capped)).rung == 1)
    }
}
