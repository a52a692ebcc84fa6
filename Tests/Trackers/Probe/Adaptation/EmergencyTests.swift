import Instrument
import Testing

@testable import InstrumentProbe

/// hls.js 1.7.1, src/controller/abr-controller.ts, `_abandonRulesCheck`.
@Suite("hls.js's emergency switch")
struct EmergencyTests {
    /// 3.2 Mbit/s: the rest of 2.8 MB takes 7 s, a segment of rung 1 (1 MB) 2.5 s.
    private let large = download(rung: 2, received: 1_200_000, total: 4_000_000, elapsed: 3)
    private let live = AdaptationContext.Live(latency: .seconds(9), target: .seconds(9))

    private func decision(_ download: SegmentDownload, in context: AdaptationContext) -> Int? {
        var rule = ThroughputRule.hlsJS
        return rule.abandonment(of: download, in: context)
    }

    @Test("A download is aborted if the buffer would be empty before the rest arrives")
    func starvation() {
        // 1.33 Mbit/s: the rest takes 9 s, a segment of rung 1 6 s: too long for the buffer, so that rung 0 remains.
        let slow = download(rung: 2, received: 500_000, total: 2_000_000, elapsed: 3)
        #expect(decision(slow, in: context(level: 4)) == 0)
        #expect(decision(slow, in: context(level: 8.9)) == 0)
        #expect(decision(slow, in: context(level: 9)) == nil)
        #expect(decision(slow, in: context(level: 4, playhead: .paused)) == nil)
        // Half of the duration has not passed (line 302).
        let early = download(rung: 2, received: 300_000, total: 2_000_000, elapsed: 2)
        #expect(decision(early, in: context(level: 1)) == nil)
        // The rest comes in 0.5 s.
        let nearly = download(rung: 2, received: 1_800_000, total: 2_000_000, elapsed: 4.5)
        #expect(decision(nearly, in: context(level: 0.4)) == nil)
    }

    @Test("A download is not aborted for the lowest rung if no rung lies between")
    func nothingBetween() {
        // Line 341: the loop does not run, and its time stays infinite.
        let second = download(rung: 1, received: 100_000, total: 1_000_000, elapsed: 3)
        #expect(decision(second, in: context(level: 1)) == nil)
    }

    @Test("The first segment is never aborted, because the media element knows no media before")
    func firstSegment() {
        // Lines 285–290: `readyState` is 0.
        #expect(decision(large, in: context(level: 0, playhead: .starting, index: 0)) == nil)
        #expect(decision(large, in: context(level: 0, playhead: .stalled, index: 1)) != nil)
    }

    @Test("A rung without a playlist costs two requests")
    func playlists() {
        // 2.67 Mbit/s: the rest takes 6 s, a segment of rung 1 3 s, and 0.1 s to the first byte, twice with a playlist.
        let half = download(rung: 2, received: 1_000_000, total: 3_000_000, elapsed: 3)
        var known = context(level: 3.15, live: live)
        #expect(decision(half, in: known) == 1)
        known.rungsWithoutPlaylist = [0, 1]
        #expect(decision(half, in: known) == 0)
    }

    @Test("A rest of more than twice the new segment's time leads to the lowest rung")
    func lowest() {
        // Lines 429–461: 7 s are more than twice 2.5 s.
        #expect(decision(large, in: context(level: 3, live: live)) == 0)
        // 2.67 Mbit/s: the rest takes 6 s, a segment of rung 1 3.1 s with 0.1 s to the first byte.
        let half = download(rung: 2, received: 1_000_000, total: 3_000_000, elapsed: 3)
        #expect(decision(half, in: context(level: 3.2, live: live)) == 1)
    }

    @Test("A rest of at most twice that time leads to the best rung that the link carries in time")
    func best() {
        let half = download(rung: 2, received: 1_000_000, total: 3_000_000, elapsed: 3)
        // Lines 392–403: at rung 1's bitrate, rung 1 takes 4.1 s of the 3.2 s buffered, and rung 0 2.1 s.
        #expect(decision(half, in: context(level: 3.2)) == 0)
        #expect(decision(half, in: context(level: 4.2)) == 1)
        #expect(decision(half, in: context(level: 3.2, live: live)) == 1)
    }

    @Test("Without a byte, the estimate of earlier downloads counts")
    func silence() {
        let silent = download(rung: 2, received: 0, total: nil, elapsed: 3, firstByte: nil)
        #expect(decision(silent, in: context(level: 1, throughput: history((4, 1000)))) == 0)
        #expect(decision(silent, in: context(level: 1)) == nil)
    }

    @Test("Nothing is aborted if even the new segment would take more than ten times its duration")
    func unreasonable() {
        let dead = download(rung: 2, received: 10_000, total: 2_000_000, elapsed: 3)
        #expect(decision(dead, in: context(level: 1)) == nil)
    }

    @Test("The size that the server announced counts, not the declared bitrate")
    func announcedSize() {
        // src/loader/fragment.ts:251–271. 3.2 Mbit/s: of 2 MB declared, 0.8 MB are left; of 1.3 MB announced, 0.1 MB.
        let unknown = download(rung: 2, received: 1_200_000, total: nil, elapsed: 3)
        let small = download(rung: 2, received: 1_200_000, total: 1_300_000, elapsed: 3)
        let ladder = BitrateLadder(
            LadderRung(peakBitrate: 300_000),
            LadderRung(peakBitrate: 600_000),
            LadderRung(peakBitrate: 4_000_000)
        )
        #expect(decision(unknown, in: context(ladder, level: 1)) != nil)
        #expect(decision(small, in: context(ladder, level: 1)) == nil)
    }
}

@Suite("hls.js's estimate after an emergency switch")
struct EmergencyEstimateTests {
    /// Five rungs; the link carries 3.2 Mbit/s, so that the candidate below rung 4 is rung 3 (3 Mbit/s).
    private let ladder = BitrateLadder(
        LadderRung(peakBitrate: 500_000),
        LadderRung(peakBitrate: 1_000_000),
        LadderRung(peakBitrate: 2_000_000),
        LadderRung(peakBitrate: 3_000_000),
        LadderRung(peakBitrate: 8_000_000)
    )

    private func rungAfterwards(_ download: SegmentDownload, level: Double, before: ThroughputHistory) -> [Int?] {
        var rule = ThroughputRule.hlsJS
        let first = rule.abandonment(
            of: download,
            in: context(ladder, level: level, throughput: before, live: live, now: 5)
        )
        let next = rule.decide(in: context(ladder, current: 4, level: 20, throughput: before, now: 6)).rung
        return [first, next]
    }

    private let live = AdaptationContext.Live(latency: .seconds(9), target: .seconds(9))

    @Test("The estimate is the candidate's bitrate, before the best rung is looked for, if samples would allow more")
    func candidate() {
        // Lines 388–391. The rest takes 6 s, rung 3 3.75 s: at most twice.
        let slow = download(rung: 4, received: 1_200_000, total: 3_600_000, elapsed: 3)
        #expect(rungAfterwards(slow, level: 3.9, before: history((30, 20_000))) == [3, 2])
        // Without fast samples, the estimate stays: 3.2 Mbit/s × 0.95 carry rung 3.
        #expect(rungAfterwards(slow, level: 3.9, before: ThroughputHistory()) == [3, 0])
    }

    @Test("After a switch to the lowest rung, the estimate is its bitrate, whatever the samples allow")
    func lowest() {
        // Line 461. The rest takes 12 s.
        let slow = download(rung: 4, received: 1_200_000, total: 6_000_000, elapsed: 3)
        #expect(rungAfterwards(slow, level: 3.9, before: history((30, 20_000))) == [0, 0])
    }

    @Test("A sample after the switch counts alone")
    func laterSamples() {
        var rule = ThroughputRule.hlsJS
        let slow = download(rung: 4, received: 1_200_000, total: 6_000_000, elapsed: 3)
        let before = history((30, 20_000))
        _ = rule.abandonment(of: slow, in: context(ladder, level: 4, throughput: before, now: 5))
        var after = before
        for sample in history((4, 10_000)).ending(at: 7).samples { after.append(sample) }
        #expect(rule.decide(in: context(ladder, current: 0, level: 20, throughput: after, now: 8)).rung == 3)
    }

    @Test("After the switch, no earlier time to the first byte is expected, and a very long one alone does not count")
    func latencyAfterwards() {
        var rule = ThroughputRule.hlsJS
        let slow = download(rung: 4, received: 2_000_000, total: 6_000_000, elapsed: 5)
        let late = { (firstByte: Double, end: Double) in
            ThroughputSample(
                bytes: 250_000,
                transferTime: .milliseconds(100),
                timeToFirstByte: .seconds(firstByte),
                end: MonotonicInstant(nanoseconds: Int64(end * 1e9))
            )
        }
        let before = ThroughputHistory([late(3, 1), late(3, 2), late(3, 3)])
        _ = rule.abandonment(of: slow, in: context(ladder, level: 1, throughput: before, now: 7))
        let next = { (firstByte: Double) in
            var (rule, after) = (rule, before)
            after.append(late(firstByte, 12))
            return rule.decide(in: context(ladder, current: 0, level: 20, throughput: after, now: 12)).rung
        }
        // src/utils/ewma-bandwidth-estimator.ts, `getEstimateTTFB`: the weight √2·e^(−t²/2) reaches 0.001 up to 3.8 s;
        // then 2 Mbit in 0.1 s. Behind 4 s, the default of 0.1 s counts, and 2 Mbit took 4 s.
        #expect(next(3.7) == 4)
        #expect(next(4) == 0)
    }
}
