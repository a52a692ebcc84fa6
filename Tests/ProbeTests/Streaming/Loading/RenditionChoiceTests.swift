import Instrument
import InstrumentManifests
import Testing

@testable import InstrumentProbe

@Suite("Choice of the rendition")
struct RenditionChoiceTests {
    /// Returns the given decisions, and counts the events that it observes.
    private struct ScriptedRule: AdaptationRule {
        var decision = AdaptationDecision(rung: 1)
        var abandonedFor: Int?
        mutating func decide(in context: AdaptationContext) -> AdaptationDecision { decision }
        mutating func abandonment(of download: SegmentDownload, in context: AdaptationContext) -> Int? { abandonedFor }
    }

    private func choice(_ rule: ScriptedRule, language: String? = nil) -> RenditionChoice {
        RenditionChoice(ProbeConfiguration(profile: .plain(rule: rule), language: language))
    }

    private let download = SegmentDownload(
        rung: 2,
        duration: .seconds(4),
        receivedBytes: 1000,
        totalBytes: nil,
        elapsed: .seconds(1),
        timeToFirstByte: .zero
    )

    @Test("The profile chooses the first rung, and the rule those behind it, brought into the ladder")
    func decide() {
        var choice = choice(ScriptedRule(decision: AdaptationDecision(rung: 9)))
        #expect(choice.decide(in: context(current: nil)) == .rung(0))
        #expect(choice.decide(in: context(current: 0)) == .rung(2))
    }

    @Test("A wait that the rule asks for counts only while the playhead moves and more than that is buffered")
    func wait() {
        var choice = choice(ScriptedRule(decision: AdaptationDecision(rung: 1, waitUntilBuffered: .seconds(10))))
        #expect(choice.decide(in: context(level: 20)) == .wait(untilBuffered: 10_000_000_000))
        #expect(choice.decide(in: context(level: 20, playhead: .stalled)) == .rung(1))
        #expect(choice.decide(in: context(level: 10)) == .rung(1))
    }

    @Test("A rung is left alone for its time, but never the only one that is left")
    func exclusion() throws {
        var choice = choice(ScriptedRule())
        let (manifest, _) = try Loading.manifest()
        let ladder = try #require(manifest.ladder)
        let view = PlaybackView(now: Loading.at(0))
        #expect(choice.exclude(0, of: ladder, for: .seconds(5), now: Loading.instant(0)) == true)
        #expect(choice.exclude(1, of: ladder, for: nil, now: Loading.instant(0)) == false)
        let track = TrackLoading(at: 0)
        #expect(choice.context(ladder, track, in: manifest, nil, view).allowedRungs == [1])
        choice.endExclusions(at: Loading.instant(4))
        #expect(choice.context(ladder, track, in: manifest, nil, view).allowedRungs == [1])
        choice.adopt(LadderChange(rungs: [0: 1], ladder: ladder, renditions: []))
        #expect(choice.context(ladder, track, in: manifest, nil, view).allowedRungs == [0])
        choice.endExclusions(at: Loading.instant(5))
        #expect(choice.context(ladder, track, in: manifest, nil, view).allowedRungs == [0, 1])
    }

    @Test(
        "A download is reconsidered after half a second and then every quarter, until it is abandoned for a lower rung"
    )
    func abandonment() {
        var choice = choice(ScriptedRule(abandonedFor: 2))
        choice.watchDownload(since: Loading.instant(1))
        #expect(choice.takeReconsideration(at: Loading.instant(1.4)) == false)
        #expect(choice.takeReconsideration(at: Loading.instant(1.5)) == true)
        // Rung 2 is the download's own.
        #expect(choice.abandonment(of: download, in: context(current: 2, now: 1.5)) == nil)
        #expect(choice.reconsiderAt == Loading.instant(1.75))
        var lower = self.choice(ScriptedRule(abandonedFor: 0))
        #expect(lower.abandonment(of: download, in: context(current: 2, now: 2)) == 0)
        #expect(lower.reconsiderAt == nil)
    }

    @Test("Idle time lasts from the first full buffer to the next request, and is reported once")
    func idle() {
        var choice = choice(ScriptedRule())
        #expect(choice.takeIdleTime(at: Loading.instant(1)) == nil)
        choice.beginIdling(at: Loading.instant(1))
        choice.beginIdling(at: Loading.instant(2))
        #expect(choice.takeIdleTime(at: Loading.instant(3)) == .seconds(2))
        #expect(choice.takeIdleTime(at: Loading.instant(4)) == nil)
    }

    @Test("Audio keeps its rendition, else its language, else takes the preferred language, else the first")
    func audio() throws {
        var manifest = ManifestLoading(Loading.source, staleAfter: nil)
        let presentation = try Loading.multivariant([400_000], languages: ["en", "de-AT"])
        _ = try manifest.take(presentation, begun: Loading.instant(0))
        let variant = presentation.variants[0]
        try #require(variant.audio.count == 2)
        let (english, german) = (variant.audio[0], variant.audio[1])
        #expect(choice(ScriptedRule()).audio(of: variant, after: nil, in: manifest) == english)
        #expect(choice(ScriptedRule(), language: "DE").audio(of: variant, after: nil, in: manifest) == german)
        #expect(choice(ScriptedRule(), language: "de").audio(of: variant, after: english, in: manifest) == english)
        var inside = variant
        inside.audio = [variant.main]
        #expect(choice(ScriptedRule()).audio(of: inside, after: nil, in: manifest) == nil)
    }

    @Test("Downloads become the throughput that rules see, with their first byte and their transfer apart")
    func throughput() throws {
        var choice = choice(ScriptedRule())
        choice.learn(from: Loading.arrivals(at: 2, rest: 3), begun: Loading.instant(1))
        let (manifest, _) = try Loading.manifest()
        let ladder = try #require(manifest.ladder)
        let context = choice.context(ladder, TrackLoading(at: 0), in: manifest, nil, PlaybackView(now: Loading.at(4)))
        let sample = try #require(context.throughput.samples.first)
        #expect(sample.bytes == 1000 && sample.transferTime == .seconds(1) && sample.timeToFirstByte == .seconds(1))
    }
}
