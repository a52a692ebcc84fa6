import Instrument
import InstrumentHTTP
import InstrumentManifests
import InstrumentRules
import Testing

@Suite("Rules on MPDs")
struct ManifestRuleTests {
    /// A live MPD that begins ten minutes before the tests' time and is published at a second of it.
    private func manifest(_ second: Int, update: String = "PT2S", clock: String = "", _ periods: String) -> String {
        let time = "2026-01-01T00:0\(second / 60):\(second % 60 < 10 ? "0" : "")\(second % 60)Z"
        return """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" profiles="p" minBufferTime="PT2S" \
            availabilityStartTime="2025-12-31T23:50:00Z" publishTime="\(time)" minimumUpdatePeriod="\(update)">\
            \(periods)\(clock)</MPD>
            """
    }

    /// A set with segments of two seconds.
    private func set(_ kind: String = "video", from first: Int, count: Int, more: String = "") -> String {
        """
        <AdaptationSet mimeType="\(kind)/mp4"><SegmentTemplate media="$Time$.m4s" timescale="1">\
        <SegmentTimeline><S t="\(first)" d="2" r="\(count - 1)"/>\(more)</SegmentTimeline></SegmentTemplate>\
        <Representation id="\(kind)" bandwidth="1000" codecs="avc1.4D400C"/></AdaptationSet>
        """
    }

    private func broken(_ texts: [String], every seconds: Int = 2) throws -> [String] {
        try RulesTests.broken(texts, every: seconds, at: "live.mpd")
    }

    /// The end of the listed segments at a second of the tests' time, in seconds after the MPD's begin.
    private func edge(_ second: Int) -> Int { 600 + second / 2 * 2 }

    private func period(_ content: String, _ attributes: String = "id=\"0\" start=\"PT0S\"") -> String {
        "<Period \(attributes)>\(content)</Period>"
    }

    @Test("Each timeline of a period is checked, also if the MPD is one line")
    func oneLine() throws {
        let gap = "<S t=\"598\" d=\"2\"/>"
        let text = manifest(0, period(set(from: 500, count: 50) + set("audio", from: 500, count: 40, more: gap)))
        #expect(!text.contains("\n"))
        #expect(try broken([text]) == ["timeline-gap"])
    }

    @Test("A gap between subtitles is no fault")
    func subtitles() throws {
        let sets = set(from: 560, count: 20) + set("text", from: 560, count: 2, more: "<S t=\"596\" d=\"2\"/>")
        #expect(try broken([manifest(0, period(sets))]) == [])
    }

    @Test("A timeline that does not grow is stale beside one that grows")
    func oneTimeline() throws {
        let texts = stride(from: 0, to: 12, by: 2).map { second in
            manifest(
                second,
                period(set(from: 560, count: (edge(second) - 560) / 2) + set("audio", from: 560, count: 20))
            )
        }
        #expect(try broken(texts) == ["mpd-stale"])
        let growing = stride(from: 0, to: 12, by: 2).map { second in
            let count = (edge(second) - 560) / 2
            return manifest(second, period(set(from: 560, count: count) + set("audio", from: 560, count: count)))
        }
        #expect(try broken(growing) == [])
    }

    @Test("A live MPD that is published less often than a segment is made is not stale before its time")
    func rareUpdates() throws {
        // Segments of two seconds, five of them at a time.
        let texts = stride(from: 0, to: 60, by: 2).map { second in
            let published = second / 10 * 10
            return manifest(published, update: "PT9S", period(set(from: 560, count: (edge(published) - 560) / 2)))
        }
        #expect(try broken(texts) == [])
        #expect(try broken([String](repeating: texts[0], count: 12)) == ["mpd-stale"])
    }

    @Test("A period that is announced for later neither hides a stale MPD nor makes one stale")
    func announcedPeriod() throws {
        let later = period(set(from: 0, count: 15), "id=\"ad\" start=\"PT700S\"")
        let early = period(set(from: 0, count: 15), "id=\"early\"")
        let texts = stride(from: 0, to: 20, by: 2).map { second in
            let current = period(set(from: 560, count: (edge(second) - 560) / 2))
            return manifest(second, current + (second < 10 ? early : later))
        }
        #expect(try broken(texts) == [])
        let frozen = stride(from: 0, to: 20, by: 2).map { second in
            manifest(second, period(set(from: 560, count: 20)) + later)
        }
        #expect(try broken(frozen) == ["mpd-stale"])
    }

    @Test("An advertisement whose segments are all listed at its start is complete")
    func advertisement() throws {
        let before = period(set(from: 560, count: 20))
        let ad = period(set(from: 0, count: 15), "id=\"ad\" start=\"PT600S\" duration=\"PT30S\"")
        #expect(try broken(stride(from: 0, to: 28, by: 2).map { manifest($0, before + ad) }) == [])
    }

    @Test("A timeline that reaches into the future has a wrong clock")
    func future() throws {
        #expect(try broken([manifest(0, period(set(from: 560, count: 60)))]) == ["availability-time-wrong"])
    }

    @Test(
        "A timeline that counts from 1970 lacks its offset, and is no matter of clocks",
        arguments: [560, 1_767_225_590]
    )
    func timelineOfAnotherOrigin(first: Int) throws {
        var run = RuleRun()
        run.observe(try fetched(manifest(0, period(set(from: first, count: 60))), 0, "live.mpd"), as: .root)
        let advice = try #require(run.findings.first { $0.rule == "availability-time-wrong" }?.problem.advice)
        #expect(advice.contains("presentationTimeOffset") == (first > 1_000))
        #expect(advice.contains("clocks") == (first < 1_000))
    }

    /// The rules that an MPD breaks after a clock has answered.
    private func broken(clock answer: ClockReading.Answer, serverTime: Int? = nil, _ text: String) throws -> [String] {
        var run = RuleRun()
        let url = try HTTPURL("http://time.example/now")
        var fetched = try fetched(text, 0, "live.mpd")
        run.observe(ClockReading(url: url, answer: answer, moment: fetched.fetched.wallTime))
        fetched.serverTime = serverTime.map {
            fetched.fetched.wallTime.advanced(nanoseconds: Int64($0) * 1_000_000_000)
        }
        run.observe(fetched, as: .root)
        return run.findings.map(\.rule.description)
    }

    @Test("The clock of an MPD decides which segments are announced too early")
    func availability() throws {
        let now = WallTime(milliseconds: 1_767_225_600_000)
        let late = ClockReading.Answer.time(now.advanced(nanoseconds: 60_000_000_000))
        // A minute ahead of this machine, the clock agrees with the server.
        let ahead = manifest(0, period(set(from: 600, count: 30)))
        #expect(try broken(clock: late, serverTime: 60, ahead) == [])
        #expect(try broken(clock: .time(now), serverTime: 60, ahead) == ["availability-time-wrong"])
        #expect(try broken([ahead]) == ["availability-time-wrong"])
    }

    @Test(
        "The chunks of a low-latency segment are as short as its early availability says",
        arguments: [
            // The offset of segments of two seconds, and the number of their chunks.
            ("1.5", 4, nil), ("1.5", 3, nil), ("1.5", 2, "2 chunks of about 1 s in segment 0"), ("1.9", 20, nil),
            ("1.9", 1, "one chunk of about 2 s in segment 0"), ("INF", 1, nil), ("1.5", 0, nil),
        ] as [(String, Int, String?)]
    )
    func chunks(offset: String, count: Int, finding: String?) throws {
        let text = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="dynamic" \
            availabilityStartTime="2026-01-01T00:00:00Z" minimumUpdatePeriod="PT2S" minBufferTime="PT2S">\
            <Period start="PT0S"><AdaptationSet mimeType="video/mp4"><SegmentTemplate media="$Number$" timescale="1" \
            duration="2" availabilityTimeOffset="\(offset)" availabilityTimeComplete="false"/>\
            <Representation id="v" bandwidth="8000000"/></AdaptationSet></Period></MPD>
            """
        var run = RuleRun(rules: [.availabilityOffsetWrong])
        run.observe(try fetched(text, 0, "a.mpd"), as: .root)
        let name = try #require(run.history.presentation?.renditions.first).id.description
        var facts = SegmentFacts(
            rendition: name,
            url: try HTTPURL("http://example.org/0"),
            sequence: 0,
            discontinuity: 0,
            declaredDuration: 2_000_000_000,
            fetched: try fetched("", 0).fetched
        )
        facts.chunkCount = count
        run.observe(facts)
        #expect(run.findings.map(\.problem.found) == (finding.map { [$0] } ?? []))
    }

    @Test("A clock that disagrees with server and machine, or does not answer, is wrong")
    func clocks() throws {
        let text = manifest(0, period(set(from: 400, count: 50)))
        let now = WallTime(milliseconds: 1_767_225_600_000)
        let fast = ClockReading.Answer.time(now.advanced(nanoseconds: 9_000_000_000))
        #expect(try broken(clock: fast, text) == ["utc-timing-wrong"])
        #expect(try broken(clock: fast, serverTime: 0, text) == ["utc-timing-wrong"])
        #expect(try broken(clock: fast, serverTime: 8, text) == [])
        #expect(try broken(clock: .time(now), serverTime: -60, text) == [])
        #expect(try broken(clock: .failure("status 404"), text) == ["utc-timing-wrong"])
    }
}
