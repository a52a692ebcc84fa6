import Instrument
import InstrumentProbe
import Testing

/// Copies of the examples in the probe's documentation comments.
@Suite("Examples of the documentation")
struct DocumentationExampleTests {
    @Test("The example of PlayerProfile changes the rule and the constraints of a named profile")
    func playerProfile() {
        var profile = PlayerProfile.hlsJS
        profile.rule = BOLARule()
        profile.constraints.maximumHeight = 720

        #expect(profile.rule is BOLARule && profile.constraints.maximumHeight == 720)
        #expect(profile != .hlsJS && profile.buffer == PlayerProfile.hlsJS.buffer)
    }

    @Test("The example of AdaptationRule takes the lowest rung while the buffer is low")
    func adaptationRule() throws {
        struct Cautious: AdaptationRule {
            mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
                let isLow = context.bufferLevel < .seconds(5)
                return AdaptationDecision(rung: isLow ? context.lowestAllowedRung : context.highestAllowedRung)
            }
        }

        var rule = Cautious()
        let ladder = try #require(BitrateLadder([LadderRung(peakBitrate: 1), LadderRung(peakBitrate: 2)]))
        for (level, rung) in [(Duration.seconds(4), 0), (.seconds(5), 1)] {
            let context = AdaptationContext(
                ladder: ladder,
                bufferLevel: level,
                segment: AdaptationContext.Segment(duration: .seconds(2)),
                now: MonotonicInstant(nanoseconds: 0)
            )
            #expect(rule.decide(in: context).rung == rung)
        }
    }

    @Test("The example of ProbeFleet starts all probes and waits for their outcomes")
    func fleet() async {
        let probes = ["/nowhere/a.mp4", "/nowhere/b.mp4"].map { Probe(MediaSource($0)) }

        let fleet = ProbeFleet(probes, spacing: .milliseconds(20))
        fleet.start()
        let outcomes = await fleet.waitUntilFinished()

        #expect(outcomes.count == 2)
        for case .failed(let error) in outcomes { #expect(error.code == .notFound) }
    }
}

@Suite("Open codes")
struct OpenCodeTests {
    @Test("A code made from a text equals the probe's own code of that text, and any other text makes another code")
    func errors() {
        #expect(ProbeError.Code("notFound") == .notFound)
        let own = ProbeError.Code("quotaExceeded")
        #expect(own != .notFound && own.description == "quotaExceeded")
        #expect(Set([own, ProbeError.Code("quotaExceeded")]).count == 1)
    }

    @Test("A warning kind made from a text equals the probe's own kind of that text")
    func warnings() {
        #expect(StreamWarning.Kind("timestampJump") == .timestampJump)
        #expect(StreamWarning.Kind("subtitlesMissing").description == "subtitlesMissing")
    }
}
