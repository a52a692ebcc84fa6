import Instrument
import Testing

@testable import InstrumentProbe

/// dash.js 5.1.1, src/streaming/rules/abr/BolaRule.js.
@Suite("BOLA of dash.js")
struct DashBOLATests {
    /// The test origin's pictures: with 18 s, V p is 3.7541; by its score, rung 1 begins at 8.06 s and rung 2 at
    /// 12.24 s; the level of rung 0 ends at 13.75 s.
    private let ladder = BitrateLadder(
        LadderRung(peakBitrate: 274_000),
        LadderRung(peakBitrate: 912_000),
        LadderRung(peakBitrate: 2_308_000)
    )

    private func rule() -> BOLAEnhancedRule {
        BOLAEnhancedRule(guardsLowBuffer: false, implementation: .dashJS)
    }

    private func at(
        _ level: Double,
        current: Int = 1,
        kilobits: Int = 1500,
        live: AdaptationContext.Live? = nil
    ) -> AdaptationContext {
        context(
            ladder,
            current: current,
            level: level,
            maximum: 18,
            segment: 2,
            throughput: history((4, kilobits)),
            live: live
        )
    }

    private func segment(_ rung: Int, elapsed: Double = 1, isReplacement: Bool = false) -> AdaptationEvent {
        var arrived = download(rung: rung, seconds: 2, received: 1000, total: 1000, elapsed: elapsed)
        arrived.isReplacement = isReplacement
        return .downloaded(arrived)
    }

    @Test("The throughput decides until a segment has come and its duration is buffered")
    func startup() {
        // Line 501; the rung is that of the throughput each time.
        var rule = rule()
        #expect(rule.decide(in: at(18, kilobits: 1500)).rung == 1)
        #expect(rule.decide(in: at(18, kilobits: 400)).rung == 0)
        rule.observe(segment(0), in: at(18))
        #expect(rule.decide(in: at(1.9, kilobits: 3000)).rung == 2)
        #expect(rule.decide(in: at(18, kilobits: 3000)).rung == 2)
        // Steady: 12 s and no placeholder give rung 1, although the throughput carries rung 2.
        #expect(rule.decide(in: at(12, current: 2, kilobits: 3000)).rung == 1)
    }

    @Test("Segments before the first question do not count")
    func events() {
        var rule = rule()
        rule.observe(segment(1), in: at(18))
        _ = rule.decide(in: at(18, kilobits: 1500))
        #expect(rule.decide(in: at(18, kilobits: 3000)).rung == 2)
    }

    /// A steady rule whose placeholder is `placeholder` seconds.
    private func steady(placeholder: Double) -> BOLAEnhancedRule {
        var rule = rule()
        _ = rule.decide(in: at(18))
        rule.observe(segment(1), in: at(18))
        _ = rule.decide(in: at(18))
        rule.observe(.idled(.seconds(placeholder)), in: at(18))
        return rule
    }

    @Test("The placeholder loses a hundredth with each segment")
    func decay() {
        // Lines 165–184. 4.15 s and a placeholder of 4 s are above the 8.06 s of rung 1.
        var rule = steady(placeholder: 4)
        for _ in 0..<2 { rule.observe(segment(1), in: at(4.15)) }
        // 4 × 0.99² = 3.92 s is enough; 4 × 0.99³ = 3.88 s is not.
        var same = rule
        #expect(same.decide(in: at(4.15, current: 0)).rung == 1)
        rule.observe(segment(1), in: at(4.15))
        #expect(rule.decide(in: at(4.15, current: 0)).rung == 0)
    }

    @Test("A segment that replaces another one lengthens the placeholder by its duration")
    func replacement() {
        var rule = steady(placeholder: 2)
        rule.observe(segment(1), in: at(5))
        var replaced = rule
        #expect(rule.decide(in: at(5, current: 0)).rung == 0)
        replaced.observe(segment(1, isReplacement: true), in: at(5))
        #expect(replaced.decide(in: at(5, current: 0)).rung == 1)
    }

    @Test("The placeholder is limited by the level before the request")
    func limit() {
        // Rung 0 ends at 13.75 s: 13.75 − (10 − 2 + 1) = 4.75 s remain of 30.
        var rule = steady(placeholder: 30)
        rule.observe(segment(0), in: at(10, current: 0))
        #expect(rule.decide(in: at(3.3, current: 0)).rung == 0)
        #expect(rule.decide(in: at(3.4, current: 0)).rung == 1)
    }

    @Test("The time to the first byte does not count for the rung that the throughput carries")
    func latency() {
        // src/streaming/controllers/AbrController.js:224.
        let late = ThroughputHistory([
            ThroughputSample(
                bytes: 250_000,
                transferTime: .seconds(1),
                timeToFirstByte: .seconds(1),
                end: MonotonicInstant(nanoseconds: 0)
            )
        ])
        let context = context(ladder, current: 0, level: 18, maximum: 18, segment: 2, throughput: late)
        var (dash, sabre) = (rule(), BOLAEnhancedRule(guardsLowBuffer: false))
        #expect(dash.decide(in: context).rung == 1)
        #expect(sabre.decide(in: context).rung == 0)
    }

    @Test("Near the live edge, the target latency is the buffer that dash.js changes its rule at")
    func live() {
        // src/streaming/models/MediaPlayerModel.js:222, src/streaming/controllers/AbrController.js:953.
        let live = AdaptationContext.Live(latency: .seconds(8), target: .seconds(8))
        var rule = HybridRule.dashJS
        _ = rule.decide(in: at(7.9, live: live))
        #expect(!rule.usesBOLA)
        _ = rule.decide(in: at(8, live: live))
        #expect(rule.usesBOLA)
        _ = rule.decide(in: at(4, live: live))
        #expect(rule.usesBOLA)
        _ = rule.decide(in: at(3.9, live: live))
        #expect(!rule.usesBOLA)
        _ = rule.decide(in: at(8))
        #expect(!rule.usesBOLA)
    }
}
