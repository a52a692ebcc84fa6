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

    @Test("The profile chooses the first rung and the rule the following rungs, limited to the ladder")
    func decide() {
        var choice = choice(ScriptedRule(decision: AdaptationDecision(rung: 9)))
        #expect(choice.decide(in: context(current: nil), firstListed: 0) == .rung(0))
        #expect(choice.decide(in: context(current: 0), firstListed: 0) == .rung(2))
    }

    @Test("A rule's wait applies only while the playhead moves and the buffer level is above it")
    func wait() {
        var choice = choice(ScriptedRule(decision: AdaptationDecision(rung: 1, waitUntilBuffered: .seconds(10))))
        #expect(choice.decide(in: context(level: 20), firstListed: 0) == .wait(untilBuffered: 10_000_000_000))
        #expect(choice.decide(in: context(level: 20, playhead: .stalled), firstListed: 0) == .rung(1))
        #expect(choice.decide(in: context(level: 10), firstListed: 0) == .rung(1))
    }

    @Test("The next lower rung that is not excluded follows, and below the lowest one the highest")
    func nextLower() throws {
        let ladder = BitrateLadder(
            LadderRung(peakBitrate: 100_000),
            LadderRung(peakBitrate: 200_000),
            LadderRung(peakBitrate: 300_000)
        )
        var choice = choice(ScriptedRule())
        let rungs = Array(ladder.indices)
        #expect((0...2).map { choice.nextLower(than: $0, among: rungs, of: ladder) } == [2, 0, 1])
        #expect(choice.nextLower(than: 2, among: [0, 2], of: ladder) == 0)
        _ = choice.exclude(1, of: ladder, for: nil, now: Loading.instant(0))
        #expect(choice.nextLower(than: 2, among: rungs, of: ladder) == 0)
        _ = choice.exclude(2, of: ladder, for: nil, now: Loading.instant(0))
        #expect(choice.nextLower(than: 0, among: rungs, of: ladder) == nil)
    }

    @Test("Audio that failed is replaced by other audio in the same language, if there is any")
    func excludedAudio() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="one",LANGUAGE="en",URI="one.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="deux",LANGUAGE="fr",URI="deux.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="three",LANGUAGE="en",URI="three.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=400000,AUDIO="a"
            v.m3u8
            """
        let presentation = try Presentation(
            parsing: Array(text.utf8),
            at: Loading.url("master.m3u8"),
            now: WallTime(milliseconds: 0)
        )
        var manifest = ManifestLoading(Loading.source, staleAfter: nil)
        _ = try manifest.take(presentation, begun: Loading.instant(0))
        let variant = presentation.variants[0]
        var choice = choice(ScriptedRule())
        #expect(choice.audio(of: variant, after: nil, in: manifest) == variant.audio[0])
        let end = Loading.instant(30)
        let failed = choice.exclude(audio: variant.audio[0], of: variant, in: manifest, until: end)
        #expect(failed && choice.audio(of: variant, after: variant.audio[0], in: manifest) == variant.audio[2])
        let again = choice.exclude(audio: variant.audio[2], of: variant, in: manifest, until: end)
        let french = choice.exclude(audio: variant.audio[1], of: variant, in: manifest, until: end)
        #expect(!again && !french)
        choice.endExclusions(at: end)
        #expect(choice.audio(of: variant, after: variant.audio[0], in: manifest) == variant.audio[0])
    }

    @Test("A rung is excluded for its time, except the last remaining rung")
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
        "A download is reconsidered after half a second and then every 100 ms, until it is abandoned for another rung"
    )
    func abandonment() {
        var choice = choice(ScriptedRule(abandonedFor: 2))
        choice.watchDownload(since: Loading.instant(1))
        #expect(choice.takeReconsideration(at: Loading.instant(1.4)) == false)
        #expect(choice.takeReconsideration(at: Loading.instant(1.5)) == true)
        // Rung 2 is the download's rung.
        #expect(choice.abandonment(of: download, in: context(current: 2, now: 1.5)) == nil)
        #expect(choice.reconsiderAt == Loading.instant(1.6))
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

    @Test("Rules see the throughput of downloads, with separate times of first byte and transfer")
    func throughput() throws {
        var choice = choice(ScriptedRule())
        choice.learn(from: Loading.arrivals(at: 2, rest: 3), of: .main, number: 1, begun: Loading.instant(1))
        let (manifest, _) = try Loading.manifest()
        let ladder = try #require(manifest.ladder)
        let context = choice.context(ladder, TrackLoading(at: 0), in: manifest, nil, PlaybackView(now: Loading.at(4)))
        let sample = try #require(context.throughput.samples.first)
        #expect(sample.bytes == 1000 && sample.transferTime == .seconds(1) && sample.timeToFirstByte == .seconds(1))
    }

    @Test("Only the downloads that the profile samples count for the throughput")
    func sampling() throws {
        let (manifest, _) = try Loading.manifest()
        let ladder = try #require(manifest.ladder)
        for (audio, abandoned) in [(true, false), (false, true), (true, true), (false, false)] {
            var profile = PlayerProfile.plain()
            profile.sampling = DownloadSampling(includesAudio: audio, includesAbandoned: abandoned)
            var choice = RenditionChoice(ProbeConfiguration(profile: profile))
            let arrivals = Loading.arrivals(at: 2, rest: 3)
            choice.learn(from: arrivals, of: .main, number: 1, begun: Loading.instant(1))
            choice.learn(from: arrivals, of: .audio, number: 1, begun: Loading.instant(1))
            let end = Loading.instant(3)
            choice.learn(from: arrivals, of: .main, number: 2, begun: Loading.instant(1), .abandoned(end))
            let view = PlaybackView(now: Loading.at(4))
            let context = choice.context(ladder, TrackLoading(at: 0), in: manifest, nil, view)
            #expect(context.throughput.samples.count == 1 + (audio ? 1 : 0) + (abandoned ? 1 : 0))
        }
    }

    @Test("A sample includes the time that the player reads its segment")
    func firstProcessing() throws {
        let (manifest, _) = try Loading.manifest()
        let ladder = try #require(manifest.ladder)
        var choice = RenditionChoice(ProbeConfiguration(profile: .plain()))
        for number in 1...2 {
            choice.learn(
                from: Loading.arrivals(at: 2, rest: 3),
                of: .main,
                number: number,
                begun: Loading.instant(1),
                processing: number == 1 ? .milliseconds(100) : .zero
            )
        }
        let view = PlaybackView(now: Loading.at(4))
        let samples = choice.context(ladder, TrackLoading(at: 0), in: manifest, nil, view).throughput.samples
        #expect(samples.map(\.transferTime) == [.milliseconds(1100), .seconds(1)])
    }

    @Test("Parts of a running download are samples, each once, and short ones come from a cache")
    func parts() throws {
        let (manifest, _) = try Loading.manifest()
        let ladder = try #require(manifest.ladder)
        var profile = PlayerProfile.plain()
        profile.sampling = Shaka.Sampling(
            parts: TransferParts(time: .milliseconds(100), bytes: 16_000),
            cacheTime: .milliseconds(5)
        )
        var choice = RenditionChoice(ProbeConfiguration(profile: profile))
        let begun = Loading.instant(1)
        var arrivals = ArrivalLog()
        // 20 kB after 60 ms, 20 kB after 120 ms: together the first part. 10 kB after 230 ms are too few.
        for (size, seconds) in [(20_000, 1.06), (20_000, 1.12), (10_000, 1.23)] {
            arrivals.add(size, at: Loading.instant(seconds))
            choice.learn(from: arrivals, of: .main, number: 1, begun: begun, .running)
        }
        var samples: [ThroughputSample] {
            let view = PlaybackView(now: Loading.at(4))
            return choice.context(ladder, TrackLoading(at: 0), in: manifest, nil, view).throughput.samples
        }
        #expect(samples.map(\.bytes) == [40_000])
        #expect(samples.map(\.totalTime) == [.milliseconds(120)])
        #expect(samples.map(\.timeToFirstByte) == [.milliseconds(60)])
        arrivals.add(1000, at: Loading.instant(1.3))
        choice.learn(from: arrivals, of: .main, number: 1, begun: begun)
        #expect(samples.map(\.bytes) == [40_000, 11_000])
        #expect(samples.map(\.totalTime) == [.milliseconds(120), .milliseconds(180)])
        // The next download; 4 ms are a cache.
        var fast = ArrivalLog()
        fast.add(50_000, at: Loading.instant(2.004))
        choice.learn(from: fast, of: .main, number: 2, begun: Loading.instant(2))
        #expect(samples.count == 2)
        // What remains of an abandoned download is no sample.
        var slow = ArrivalLog()
        slow.add(9000, at: Loading.instant(3.5))
        choice.learn(from: slow, of: .main, number: 3, begun: Loading.instant(3), .abandoned(Loading.instant(4)))
        #expect(samples.count == 2)
    }
}
