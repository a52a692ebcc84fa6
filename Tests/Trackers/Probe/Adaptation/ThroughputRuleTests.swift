import Instrument
import Testing

@testable import InstrumentProbe

@Suite("Throughput estimates")
struct ThroughputEstimatorTests {
    @Test("The estimate is the smaller of two moving averages with a corrected start")
    func movingAverages() throws {
        let estimator = ThroughputEstimator(.movingAverages(fastHalfLife: .seconds(2), slowHalfLife: .seconds(4)))
        // One sample is the estimate.
        #expect(abs(try #require(estimator.bitrate(of: history((3, 1000)))) - 1e6) < 1)
        // 2 s of 4 Mbit/s, then 2 s of 1: fast ½ × (½ × 4) + ½ × 1 = 1.5, ÷ (1 − ¼) = 2; slow with α = 2^−½:
        // α (1 − α) 4 + (1 − α) 1 = 1.12132, ÷ (1 − ½) = 2.24264.
        let falling = history((2, 4000), (2, 1000))
        #expect(abs(try #require(estimator.bitrate(of: falling)) - 2e6) < 1)
        // The slow average limits an increase: 1 × α (1 − α) + 4 (1 − α) = 1.378680, ÷ ½ = 2.757359.
        let rising = history((2, 1000), (2, 4000))
        #expect(abs(try #require(estimator.bitrate(of: rising)) - 2_757_359.31) < 1)
    }

    @Test("Media3's estimate is a median weighted by square roots of bytes, with a total weight of 2000")
    func percentile() throws {
        let estimator = ThroughputEstimator.exoPlayer
        // 250 kB in 1 s: too few bytes for an estimate. Then 1 MB in 4 s.
        #expect(estimator.bitrate(of: history((1, 2000))) == nil)
        // Weights 500 and 1000: half of 1500 is reached with the larger sample, in order of value 2000, 2000.
        #expect(estimator.bitrate(of: history((1, 2000), (4, 2000))) == 2e6)
        // Weights 1000 (8 Mbit/s), 1000 (2), 1000 (4): the oldest is left out, of 2 and 4 the median is 2.
        #expect(estimator.bitrate(of: history((1, 8000), (4, 2000), (2, 4000))) == 2e6)
        // With 500 of the oldest still in: 500 (8), 500 (2), 1000 (4): 4.
        #expect(estimator.bitrate(of: history((1, 8000), (1, 2000), (2, 4000))) == 4e6)
    }

    @Test("The harmonic mean of 1 and 4 is 1.6, the mean 2.5; only the latest samples count")
    func means() {
        let samples = history((1, 9000), (1, 1000), (1, 4000))
        #expect(abs((ThroughputEstimator(.harmonicMean(last: 2)).bitrate(of: samples) ?? 0) - 1.6e6) < 1)
        #expect(ThroughputEstimator(.mean(last: 2)).bitrate(of: samples) == 2.5e6)
    }

    @Test("Shaka's estimate ignores small samples, and is nil for too few bytes")
    func shaka() {
        #expect(ThroughputEstimator.shaka.bitrate(of: history((0.1, 1000))) == nil)
        #expect(ThroughputEstimator.shaka.bitrate(of: history((1, 1000))) == nil)
        #expect(ThroughputEstimator.shaka.bitrate(of: history((2, 1000))) != nil)
    }

    @Test("The time to the first byte counts as configured, and a time of zero does not trap")
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
        "Media3's rule uses 0.7 of the bandwidth, rises with 10 s buffered, and falls with less than 25 s",
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
        "Media3's rule ignores the buffer at first, applies the rate, and needs ¾ of the media near the live edge"
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
        "The hls.js rule uses 0.95 to stay and 0.7 to rise, and only rungs that arrive in time",
        arguments: [
            // 0.7 × 2900 = 2030 carries rung 1; its 4 s take 3.94 s of 10.
            (0, 10.0, 2900, 1), (0, 10.0, 2800, 0), (1, 10.0, 2110, 1), (1, 10.0, 2100, 0),
            // 2 s buffered: the present rung takes 8 ÷ 2.755 = 2.9 s and the lower one 4 ÷ 2.755 = 1.45 s.
            (1, 2.0, 2900, 0),
            // Nothing buffered: a stall of up to 4 s is accepted, so rung 1 in 2.9 s.
            (1, 0.0, 2900, 1),
        ]
    )
    func hlsJS(current: Int, level: Double, kilobits: Int, expected: Int) {
        var rule = ThroughputRule.hlsJS
        let decision = rule.decide(in: context(current: current, level: level, throughput: history((4, kilobits))))
        #expect(decision.rung == expected)
    }

    @Test("dash.js trusts its initial estimate whole, and measurements by nine tenths")
    func initialFraction() {
        var rule = HybridRule.dashJS
        #expect(rule.decide(in: context(current: nil, playhead: .starting, estimate: 2_000_000)).rung == 1)
        let decide = { (throughput: ThroughputHistory) in
            var rule = HybridRule.dashJS
            return rule.decide(in: context(current: nil, playhead: .starting, throughput: throughput)).rung
        }
        #expect(decide(history((4, 2000))) == 0)
        #expect(decide(history((4, 2230))) == 1)
    }

    @Test("dash.js leaves the time to the first byte out of the throughput")
    func deadTime() {
        let sample = ThroughputSample(
            bytes: 500_000,
            transferTime: .seconds(2),
            timeToFirstByte: .seconds(2),
            end: MonotonicInstant(nanoseconds: 0)
        )
        let bitrate = ThroughputEstimator.dashJS.bitrate(of: ThroughputHistory([sample])) ?? 0
        #expect(abs(bitrate - 2_000_000) < 1)
    }

    /// Shaka's rule after a decision at 1 s, and its decision with a sample of `kilobits` that ends at `sampled`.
    private func shaka(_ kilobits: Int, sampled: Double, now: Double) -> Int {
        var rule = ThroughputRule.shaka
        _ = rule.decide(in: context(current: 1, throughput: history((4, 2110)).ending(at: 1), now: 1))
        let later = history((4, kilobits)).ending(at: sampled)
        return rule.decide(in: context(current: 1, throughput: later, now: now)).rung
    }

    @Test("Shaka decides 8 s after a decision, whether the decision changed the rung or not")
    func shakaDecisions() {
        // lib/abr/simple_abr_manager.js:317, 522; lib/util/player_configuration.js:310.
        #expect(shaka(1000, sampled: 8.9, now: 8.9) == 1)
        #expect(shaka(1000, sampled: 9, now: 9) == 0)
    }

    @Test("Shaka does not decide without a new sample, however long its buffer was full")
    func shakaSamples() {
        // lib/abr/simple_abr_manager.js:371: `segmentDownloaded` suggests streams, nothing else does.
        #expect(shaka(1000, sampled: 8.9, now: 20) == 1)
    }

    @Test("Shaka's rule uses 0.95 of the bandwidth")
    func shakaFraction() {
        // lib/util/player_configuration.js: `bandwidthDowngradeTarget`.
        #expect([2110, 2100].map { shaka($0, sampled: 9, now: 9) } == [1, 0])
    }

    @Test("Sabre's rule aborts a download of 1.8 times its duration if the lower rung is smaller than the rest")
    func slowAbandonment() {
        var rule = ThroughputRule(abandonment: .sabre)
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

    @Test("The dash.js rule aborts by progress, below the stable buffer, and without a safety factor")
    func progressAbandonment() {
        var rule = ThroughputRule(abandonment: .dashJS)
        let ask = { (rule: inout ThroughputRule, download: SegmentDownload, level: Double) in
            rule.abandonment(of: download, in: context(level: level))
        }
        // 1.6 Mbit/s: 10 s for the whole; rung 0 is 0.5 MB, less than the 1.8 that are left.
        let slow = download(rung: 2, received: 200_000, total: 2_000_000, elapsed: 1)
        #expect(ask(&rule, slow, 18) == 0)
        #expect(ask(&rule, slow, 18.1) == nil)
        // Not before half a second of bytes; a silence afterwards changes nothing.
        let early = download(rung: 2, received: 100_000, total: 2_000_000, elapsed: 3, lastByte: 0.5)
        #expect(ask(&rule, early, 4) == nil)
        let silent = download(rung: 2, received: 200_000, total: 2_000_000, elapsed: 9, lastByte: 1)
        #expect(ask(&rule, silent, 4) == 0)
        // 2.1 Mbit/s carries rung 1 whole, which is 1 MB.
        let middle = download(rung: 2, received: 262_500, total: 2_000_000, elapsed: 1)
        #expect(ask(&rule, middle, 4) == 1)
        // 3 Mbit/s: 5.3 s for the whole, less than 7.2.
        #expect(ask(&rule, download(rung: 2, received: 375_000, total: 2_000_000, elapsed: 1), 4) == nil)
        // The same, where 100 kB came with the first byte: 2.2 Mbit/s behind it, 7.3 s for the whole.
        let head = download(rung: 2, received: 375_000, first: 100_000, total: 2_000_000, elapsed: 1)
        #expect(ask(&rule, head, 4) == 1)
        #expect(ask(&rule, download(rung: 2, received: 0, total: nil, elapsed: 9), 4) == nil)
        // A response of unknown length: AbandonRequestsRule.js:83 compares with `bytesTotal`.
        #expect(ask(&rule, download(rung: 2, received: 200_000, total: nil, elapsed: 1), 4) == nil)
        // Near the live edge, the target latency is the stable level (MediaPlayerModel.js:222).
        let live = AdaptationContext.Live(latency: .seconds(8), target: .seconds(8))
        #expect(rule.abandonment(of: slow, in: context(level: 8, live: live)) == 0)
        #expect(rule.abandonment(of: slow, in: context(level: 8.1, live: live)) == nil)
    }

    @Test(
        "After an aborted download, the dash.js rule chooses no higher rung for 10 s, and does not abort the segment again"
    )
    func pauseAfterAbandonment() {
        var rule = Self.running
        let slow = download(rung: 2, received: 200_000, total: 2_000_000, elapsed: 1)
        #expect(rule.abandonment(of: slow, in: context(level: 4, index: 5)) == 0)
        rule.observe(.abandoned(slow, for: 0), in: context(level: 4, index: 5, now: 1))
        let again = download(rung: 1, received: 100_000, total: 1_000_000, elapsed: 2)
        #expect(rule.abandonment(of: again, in: context(level: 4, index: 5, now: 2)) == nil)
        #expect(rule.abandonment(of: again, in: context(level: 4, index: 6, now: 2)) == 0)
        let fast = history((4, 6000))
        #expect(rule.decide(in: context(current: 0, level: 8, throughput: fast, now: 10.9)).rung == 0)
        #expect(rule.decide(in: context(current: 0, level: 8, throughput: fast, now: 11)).rung == 2)
        // The throughput rule is silent in the pause (src/streaming/rules/abr/ThroughputRule.js:69); the insufficient
        // buffer rule is not: 0.7 × 1500 × 5 ÷ 4.
        rule.observe(.abandoned(slow, for: 0), in: context(level: 4, index: 7, now: 20))
        let falling = history((4, 1500))
        #expect(rule.decide(in: context(current: 1, level: 8, throughput: falling, now: 21)).rung == 1)
        #expect(rule.decide(in: context(current: 1, level: 5, throughput: falling, now: 21)).rung == 0)
    }

    /// dash.js's rule after the two segments of the start, which a low buffer does not limit.
    private static var running: HybridRule {
        var rule = HybridRule.dashJS
        for _ in 0..<2 { rule.observe(arrived, in: context()) }
        return rule
    }

    private static let arrived = AdaptationEvent.downloaded(download(rung: 0, received: 1, total: 1, elapsed: 1))

    @Test("Up to 0.3 s of buffer, the dash.js rule takes the lowest rung, except before the start and after a seek")
    func emptyBuffer() {
        let fast = history((4, 60_000))
        let decide = { (level: Double, playhead: AdaptationContext.Playhead) in
            var rule = Self.running
            return rule.decide(in: context(current: 2, level: level, playhead: playhead, throughput: fast)).rung
        }
        #expect(decide(0.3, .playing) == 0)
        #expect(decide(0.4, .playing) == 2)
        #expect(decide(0, .starting) == 2)
        var rule = Self.running
        rule.observe(.seeked, in: context())
        let rungs = (0..<3).map { _ in
            defer { rule.observe(Self.arrived, in: context()) }
            return rule.decide(in: context(current: 2, playhead: .seeking, throughput: fast)).rung
        }
        #expect(rungs == [2, 2, 0])
    }

    @Test("Shaka aborts the running segment at each change of the stream, whatever is left of it")
    func decisionsInDownloads() {
        // lib/media/streaming_engine.js:663 and 1771, lib/media/segment_prefetch.js:522: the change clears the map of
        // prefetched segments, which each segment goes through.
        let first = download(rung: 0, received: 499_000, total: 500_000, elapsed: 0.2)
        let fast = history((0.2, 10_000))
        for level in [0.0, 1.5, 9] {
            var rule = ThroughputRule.shaka
            #expect(rule.abandonmentGrace == .milliseconds(100))
            #expect(rule.abandonment(of: first, in: context(current: 0, level: level, throughput: fast)) == 2)
        }
        // No decision before 128 kB.
        var early = ThroughputRule.shaka
        #expect(early.abandonment(of: first, in: context(level: 9, throughput: history((0.1, 10_000)))) == nil)
        var slow = ThroughputRule.shaka
        let large = download(rung: 2, received: 1_990_000, total: 2_000_000, elapsed: 1)
        #expect(slow.abandonment(of: large, in: context(current: 2, throughput: history((1.1, 1000)))) == 0)
    }

    @Test("hls.js expects the usual time to the first byte, and compares average bitrates with two segments buffered")
    func expectedLatency() {
        let late = ThroughputSample(
            bytes: 500_000,
            transferTime: .seconds(1),
            timeToFirstByte: .milliseconds(500),
            end: MonotonicInstant(nanoseconds: 0)
        )
        let throughput = ThroughputHistory([late])
        #expect(abs(ThroughputEstimator.hlsJS.usualLatency(of: throughput) - 0.5) < 1e-9)
        #expect(ThroughputEstimator.hlsJS.usualLatency(of: ThroughputHistory()) == 0.1)
        // The whole time to the first byte is usual.
        #expect(abs((ThroughputEstimator.hlsJS.bitrate(of: throughput) ?? 0) - 4e6) < 1)
        // 50 kB in no time: 100 MB/s.
        let cached = ThroughputSample(
            bytes: 50_000,
            transferTime: .zero,
            timeToFirstByte: .zero,
            end: MonotonicInstant(nanoseconds: 0)
        )
        #expect(abs((ThroughputEstimator.hlsJS.bitrate(of: ThroughputHistory([cached])) ?? 0) - 8e8) < 1)
        // 4 Mbit/s × 0.7 carries rung 1 in 2.86 s; with the latency 3.36 s.
        var rule = ThroughputRule.hlsJS
        #expect(rule.decide(in: context(current: 0, level: 3.4, segment: 2 * 2, throughput: throughput)).rung == 1)
        // A playlist costs the latency once more.
        var unknown = context(current: 0, level: 3.4, segment: 2 * 2, throughput: throughput)
        unknown.rungsWithoutPlaylist = [1, 2]
        #expect(rule.decide(in: unknown).rung == 0)
        unknown.bufferLevel = .seconds(3.9)
        #expect(rule.decide(in: unknown).rung == 1)
        let ladder = BitrateLadder(
            LadderRung(peakBitrate: 1_000_000),
            LadderRung(peakBitrate: 5_000_000, averageBitrate: 2_000_000)
        )
        #expect(rule.decide(in: context(ladder, current: 0, level: 8, throughput: throughput)).rung == 1)
        #expect(rule.decide(in: context(ladder, current: 0, level: 7.9, throughput: throughput)).rung == 0)
    }

    @Test("A fixed rule chooses an allowed rung")
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
