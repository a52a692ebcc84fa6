import Instrument
import Testing

@testable import InstrumentProbe

@Suite("BOLA")
struct BOLATests {
    /// Big Buck Bunny with 25 s of buffer and γp = 5: V p = 22 ÷ (ln(6000 ÷ 230) + 5) = 2.66298.
    private func paper() throws -> BOLAParameters {
        let bitrates = bunny.map { Double($0.peakBitrate) }
        return try #require(BOLAParameters(bitrates: bitrates, buffer: .seconds(25), segment: .seconds(3)))
    }

    @Test("BOLA has the thresholds of dash.js's documentation: 5 and 10 s for 1000, 2500, 5000 kbit/s and 18 s")
    func documentedFigure() throws {
        // dashif.org, "BolaRule", and figure 1 of MMSys 2018. The map has two parameters, V and γp; they follow from
        // the capacity and the first threshold, and the second is then given: 9.88 s, drawn as 10.
        let bitrates = [1_000_000.0, 2_500_000, 5_000_000]
        let top = 1.6094379124341003
        let crossing = -0.610860487916
        let gammaP = (18 * crossing - 5 * top) / (5 - 18)
        let parameters = try #require(
            BOLAParameters(bitrates: bitrates, buffer: .seconds(18), segment: .zero, gammaP: gammaP)
        )
        #expect(abs(parameters.minimumLevel(1) - 5) < 1e-6)
        #expect(abs(parameters.minimumLevel(2) - 10) < 0.12)
        #expect(abs(parameters.maximumLevel(2) - 18) < 1e-6)
        #expect([0, 4.9, 5.1, 9.8, 9.9, 17].map { parameters.rung(level: $0) } == [0, 0, 1, 1, 2, 2])
    }

    @Test("BOLA has independently computed thresholds for Big Buck Bunny with 25 s")
    func thresholds() throws {
        let parameters = try paper()
        let up = [0, 11.1073, 12.0783, 13.0524, 14.0262, 14.9976, 15.9692, 16.9416, 18.0997, 19.0945]
        let top = [13.3149, 14.2843, 15.2574, 16.2327, 17.2045, 18.1755, 19.148, 20.1202, 21.5288, 22]
        for rung in bunny.indices {
            #expect(abs(parameters.minimumLevel(rung) - up[rung]) < 1e-4)
            #expect(abs(parameters.maximumLevel(rung) - top[rung]) < 1e-4)
        }
        let levels: [Double] = [0, 5, 10, 12, 13, 14, 15, 16, 17, 18, 19, 19.5, 22, 30]
        #expect(levels.map { parameters.rung(level: $0) } == [0, 0, 0, 1, 2, 3, 5, 6, 7, 7, 8, 9, 9, 9])
    }

    @Test("With dash.js's parameters, the lowest rung is fetched up to 10 s and the highest up to 30 s")
    func dashJS() throws {
        let bitrates = bunny.map { Double($0.peakBitrate) }
        let parameters = try #require(
            BOLAParameters(bitrates: bitrates, minimum: .seconds(10), target: .seconds(30))
        )
        #expect(abs(parameters.scale - 6.132269) < 1e-6 && abs(parameters.gammaP - 1.630718) < 1e-6)
        #expect(abs(parameters.maximumLevel(0) - 10) < 1e-9 && abs(parameters.maximumLevel(9) - 30) < 1e-9)
        #expect([0, 5, 8, 10, 12, 15, 20, 25].map { parameters.rung(level: $0) } == [0, 1, 2, 3, 4, 5, 7, 9])
    }

    @Test("In dash.js, the levels of a rung are larger by V p than its score says")
    func levelsOfDashJS() throws {
        // src/streaming/rules/abr/BolaRule.js:313 has the −1 of the utilities, 329 and 431 do not: with 18 s and the
        // test origin's ladder, V p = 8 ÷ ln(2308 ÷ 274) = 3.7541, the levels 13.75 and 18.27 s instead of 10 and
        // 14.51.
        let bitrates = [274_000.0, 912_000, 2_308_000]
        let parameters = { (offset: Double) in
            BOLAParameters(bitrates: bitrates, minimum: .seconds(10), target: .seconds(18), levelOffset: offset)
        }
        let (paper, dash) = (try #require(parameters(0)), try #require(parameters(1)))
        #expect(abs(dash.scale - 3.7541) < 1e-4)
        #expect(abs(paper.maximumLevel(0) - 10) < 1e-9 && abs(dash.maximumLevel(0) - 13.7541) < 1e-4)
        #expect(abs(paper.maximumLevel(1) - 14.5139) < 1e-3 && abs(dash.maximumLevel(1) - 18.2677) < 1e-3)
        #expect(abs(dash.minimumLevel(1) - paper.minimumLevel(1) - dash.scale) < 1e-9)
        #expect(paper.minimumLevel(0) == 0 && dash.minimumLevel(0) == 0)
        for level in [0, 5, 9, 12, 16, 20.0] {
            #expect(paper.rung(level: level) == dash.rung(level: level))
            #expect(abs(paper.score(1, level: level) - dash.score(1, level: level)) < 1e-9)
        }
    }

    @Test("There are no parameters for fewer than two rungs or invalid numbers")
    func degenerate() {
        for bitrates in [[], [1], [5, 5], [0, 1], [-1, 1], [.nan, 1], [1, .nan], [1, .infinity]] as [[Double]] {
            #expect(BOLAParameters(bitrates: bitrates, buffer: .seconds(25), segment: .seconds(3)) == nil)
            #expect(BOLAParameters(bitrates: bitrates, minimum: .zero, target: .zero) == nil)
        }
        let tiny = BOLAParameters(bitrates: [1, 2], buffer: .zero, segment: .seconds(9), gammaP: .nan)
        #expect(tiny?.rung(level: 0) == 0 && tiny?.rung(level: .infinity) != nil && tiny?.rung(level: .nan) == 0)
        #expect(tiny?.score(7, level: 0) == -.infinity && tiny?.maximumLevel(-1) == 0 && tiny?.minimumLevel(7) == 0)
    }

    @Test("BOLA-FINITE follows the buffer, U goes one rung above the throughput, O waits at the throughput's rung")
    func variants() {
        // With 100 segments behind and before, V is that of 25 s. 16.5 s give rung 6 (2056), 1.5 Mbit/s carries rung 5.
        func decide(_ variant: BOLARule.Variant, current: Int, level: Double = 16.5, kilobits: Int = 1500)
            -> AdaptationDecision
        {
            var rule = BOLARule(variant: variant)
            return rule.decide(
                in: context(
                    bunny,
                    current: current,
                    level: level,
                    maximum: 25,
                    segment: 3,
                    index: 100,
                    remaining: 99,
                    throughput: history((3, kilobits))
                )
            )
        }
        #expect(decide(.finite, current: 5) == AdaptationDecision(rung: 6))
        #expect(decide(.oscillation, current: 5) == AdaptationDecision(rung: 5))
        #expect(decide(.utility, current: 5) == AdaptationDecision(rung: 6))
        #expect(decide(.utility, current: 2, kilobits: 500) == AdaptationDecision(rung: 3))
        // The current rung already exceeds the throughput, and stays.
        #expect(decide(.oscillation, current: 5, kilobits: 500) == AdaptationDecision(rung: 5))
        // A lower choice needs no check.
        #expect(decide(.oscillation, current: 9, kilobits: 300) == AdaptationDecision(rung: 6))
        // 500 kbit/s carry rung 2, whose level ends at 15.2574 s.
        let waiting = decide(.oscillation, current: 0, kilobits: 500)
        #expect(waiting.rung == 2 && abs((waiting.waitUntilBuffered?.seconds ?? 0) - 15.2574) < 1e-3)
        // The buffer must have room for a segment.
        #expect(decide(.finite, current: 9, level: 23) == AdaptationDecision(rung: 9, waitUntilBuffered: .seconds(22)))
    }

    @Test("V is smaller at the beginning and the end, where 9 s count as a full buffer")
    func finite() {
        var rule = BOLARule(variant: .finite)
        // (9 − 3) ÷ 8.2615 = 0.72626: the first threshold is 0.72626 × (5 − 0.829) = 3.029 s.
        let first = { (level: Double, index: Int, remaining: Int) in
            context(bunny, current: 0, level: level, maximum: 25, segment: 3, index: index, remaining: remaining)
        }
        #expect(rule.decide(in: first(3, 1, 198)).rung == 0)
        #expect(rule.decide(in: first(3.1, 1, 198)).rung == 1)
        #expect(rule.decide(in: first(3.1, 190, 2)).rung == 1)
        #expect(rule.decide(in: first(3.1, 100, 99)).rung == 0)
    }

    @Test("BOLA-E starts with the throughput's rung, and its placeholder keeps that rung")
    func placeholder() {
        var rule = BOLAEnhancedRule(fraction: 1, guardsLowBuffer: false, estimator: .sabre)
        #expect(rule.decide(in: context(bunny, current: nil, segment: 3)).rung == 0)
        #expect(rule.decide(in: context(bunny, current: nil, segment: 3, estimate: 700_000)).rung == 3)
        let fast = history((3, 2500))
        #expect(rule.decide(in: context(bunny, current: 0, level: 3, segment: 3, throughput: fast)).rung == 6)
        // The level alone would give rung 0; a seek resets the placeholder, and a stall removes it.
        #expect(rule.decide(in: context(bunny, current: 6, level: 3, segment: 3, throughput: fast)).rung == 6)
        var stalled = rule
        #expect(
            stalled.decide(in: context(bunny, current: 6, level: 0, playhead: .stalled, segment: 3, throughput: fast))
                .rung == 0
        )
        rule.observe(.seeked, in: context(bunny, segment: 3))
        #expect(rule.decide(in: context(bunny, current: 6, segment: 3, throughput: history((3, 500)))).rung == 2)
    }

    @Test("The placeholder grows while nothing is fetched, and shrinks with the chosen rung")
    func placeholderBounds() {
        let slow = history((3, 240))
        var rule = BOLAEnhancedRule(fraction: 1, guardsLowBuffer: false, estimator: .sabre)
        _ = rule.decide(in: context(bunny, current: 0, level: 3, segment: 3, throughput: slow))
        rule.observe(.idled(.seconds(12)), in: context(bunny, segment: 3))
        // 3 + 12 s give rung 5, of which the throughput lets it have none: it stays at 0, which ends at 10 s; the
        // placeholder is used up to 7 s, so nothing waits.
        #expect(
            rule.decide(in: context(bunny, current: 0, level: 3, segment: 3, throughput: slow))
                == AdaptationDecision(rung: 0)
        )
        // A segment at the lowest rung allows for no more than 10 s with the level before it: 10 − (6 + 2).
        let arrived = download(rung: 0, seconds: 3, received: 1, total: 1, elapsed: 2)
        rule.observe(.downloaded(arrived), in: context(bunny, current: 0, level: 6, segment: 3))
        let fast = history((3, 9000))
        #expect(rule.decide(in: context(bunny, current: 0, level: 6, segment: 3, throughput: fast)).rung == 2)
        // Aborted for rung 1, which begins at 10 − 0.829 × 6.13 = 4.9 s.
        var low = rule
        low.observe(.idled(.seconds(30)), in: context(bunny, segment: 3))
        low.observe(.abandoned(arrived, for: 1), in: context(bunny, level: 2, segment: 3))
        #expect(low.decide(in: context(bunny, current: 0, level: 2, segment: 3, throughput: fast)).rung == 1)
    }

    @Test("BOLA-E waits above a rung's level, but not at the highest, and fetches less when the buffer is low")
    func guards() {
        let fast = history((3, 9000))
        var rule = BOLAEnhancedRule(fraction: 1, estimator: .sabre)
        _ = rule.decide(in: context(bunny, current: 0, level: 20, segment: 3, throughput: history((3, 500))))
        let wait = rule.decide(in: context(bunny, current: 2, level: 20, segment: 3, throughput: history((3, 500))))
        // Rung 2 ends at 6.13227 × (0.72949 + 1.63072) = 14.4735 s.
        #expect(wait.rung == 2 && abs((wait.waitUntilBuffered?.seconds ?? 0) - 14.4735) < 1e-3)
        #expect(
            rule.decide(in: context(bunny, current: 9, level: 60, segment: 3, throughput: fast))
                == AdaptationDecision(rung: 9)
        )
        // 0.3 s of 9 Mbit/s × 0.81 are 2.187 Mbit: 477 and no more, 688 × 3 s would be 2.064: rung 3.
        var low = BOLAEnhancedRule(fraction: 1, estimator: .sabre)
        #expect(low.decide(in: context(bunny, current: 0, level: 0.3, segment: 3, throughput: fast)).rung == 9)
        #expect(low.decide(in: context(bunny, current: 9, level: 0.3, segment: 3, throughput: fast)).rung == 3)
    }

    @Test("BOLA-E aborts a download if a lower rung has a better score and is smaller than the rest")
    func abandonment() {
        var rule = BOLAEnhancedRule(fraction: 1, guardsLowBuffer: false, estimator: .sabre)
        let slow = download(rung: 9, seconds: 3, received: 100_000, total: 2_250_000, elapsed: 1.1, firstByte: 0.1)
        #expect(rule.abandonment(of: slow, in: context(bunny, current: 9, level: 2, segment: 3)) == nil)
        _ = rule.decide(in: context(bunny, current: 9, level: 2, segment: 3, throughput: history((3, 240))))
        #expect(rule.abandonment(of: slow, in: context(bunny, current: 9, level: 2, segment: 3)) == 0)
        let late = download(rung: 9, seconds: 3, received: 2_200_000, total: 2_250_000, elapsed: 3, firstByte: 0.1)
        #expect(rule.abandonment(of: late, in: context(bunny, current: 9, level: 2, segment: 3)) == nil)
        #expect(rule.abandonment(of: slow, in: context(bunny, current: 9, level: 29, segment: 3)) == nil)
    }

    @Test("The hybrid rule uses the throughput below its threshold and BOLA above, with hysteresis")
    func hybrid() {
        var rule = HybridRule(
            switching: .hysteresis(on: .seconds(18), off: .seconds(9)),
            throughput: ThroughputRule(estimator: .sabre, fraction: 0.9),
            bola: BOLAEnhancedRule(fraction: 1, guardsLowBuffer: false, estimator: .sabre)
        )
        let slow = history((3, 1000))
        let ask = { (level: Double, rule: inout HybridRule) in
            rule.decide(in: context(bunny, current: 3, level: level, segment: 3, throughput: slow)).rung
        }
        // 0.9 × 1000 carries 688; BOLA lets the throughput carry 991.
        #expect(ask(17.9, &rule) == 3 && !rule.usesBOLA)
        #expect(ask(18, &rule) == 4 && rule.usesBOLA)
        #expect(ask(9, &rule) == 2 && rule.usesBOLA)
        #expect(ask(8.9, &rule) == 3 && !rule.usesBOLA)
        _ = ask(18, &rule)
        rule.observe(.seeked, in: context(bunny))
        #expect(!rule.usesBOLA)
    }

    @Test("The hybrid rule of the paper changes at 10 s, and only to the higher choice")
    func comparing() {
        var rule = HybridRule(
            throughput: ThroughputRule(estimator: .sabre, fraction: 0.9),
            bola: BOLAEnhancedRule(fraction: 1, guardsLowBuffer: false, estimator: .sabre)
        )
        let fast = history((3, 9000))
        // At the start both use the throughput; BOLA is chosen only above 10 s.
        #expect(rule.decide(in: context(bunny, current: 0, level: 10, segment: 3, throughput: fast)).rung == 9)
        #expect(!rule.usesBOLA)
        _ = rule.decide(in: context(bunny, current: 9, level: 10.1, segment: 3, throughput: fast))
        #expect(rule.usesBOLA)
        // In a stall the placeholder is gone, BOLA gives the lowest, the throughput more: back.
        let stalled = rule.decide(
            in: context(bunny, current: 9, level: 0, playhead: .stalled, segment: 3, throughput: fast)
        )
        #expect(stalled.rung == 9 && !rule.usesBOLA)
    }

    @Test("dash.js's insufficient buffer rule limits the bitrate to 0.7 × throughput × level ÷ duration")
    func lowBuffer() {
        let limit = LowBufferLimit.dashJS
        let ask = { limit.highestRung(estimator: .dashJS, in: $0) }
        // 0.7 × 4 Mbit/s × 3 s ÷ 4 s = 2.1 Mbit/s.
        #expect(ask(context(level: 3, throughput: history((4, 4000)))) == 1)
        #expect(ask(context(level: 2.8, throughput: history((4, 4000)))) == 0)
        #expect(ask(context(level: 3)) == nil)
        #expect(ask(context(level: 3, playhead: .stalled)) == 0)
        let low = context(current: 2, level: 3, throughput: history((4, 5000)))
        var rule = HybridRule(throughput: ThroughputRule(fraction: 1), lowBuffer: limit)
        // Two segments arrive first, which may be one at two rungs; after a seek, two others.
        let arrived = AdaptationEvent.downloaded(download(rung: 0, received: 1, total: 1, elapsed: 1))
        let rungs = [arrived, arrived, .seeked, arrived, arrived].map { event in
            rule.observe(event, in: low)
            return rule.decide(in: low).rung
        }
        #expect(rungs == [2, 1, 2, 2, 1])
        // Not in low latency (src/streaming/rules/abr/InsufficientBufferRule.js).
        for isLowLatency in [false, true] {
            let live = AdaptationContext.Live(latency: .seconds(3), target: .seconds(3), isLowLatency: isLowLatency)
            var rule = HybridRule(throughput: ThroughputRule(fraction: 1), lowBuffer: limit)
            for _ in 0..<2 { rule.observe(arrived, in: low) }
            let decision = rule.decide(in: context(current: 2, level: 3, throughput: history((4, 5000)), live: live))
            #expect(decision.rung == (isLowLatency ? 2 : 1))
        }
    }
}
