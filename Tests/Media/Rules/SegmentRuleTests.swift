import Instrument
import InstrumentHTTP
import InstrumentManifests
import InstrumentRules
import Testing

@Suite("Rules on segments")
struct SegmentRuleTests {
    private func facts(
        _ number: Int,
        seconds: Double = 6,
        bytes: Int? = 1_000,
        _ change: (inout SegmentFacts) -> Void = { _ in }
    ) throws -> SegmentFacts {
        var facts = SegmentFacts(
            rendition: "v",
            url: try HTTPURL("http://example.org/\(number).ts"),
            sequence: Int64(number),
            discontinuity: 0,
            declaredDuration: Int64(seconds * 1_000_000_000),
            fetched: try fetched("", number).fetched
        )
        facts.byteCount = bytes
        change(&facts)
        return facts
    }

    /// A run that knows a ladder of one variant with a bandwidth, and its playlist of segments of six seconds.
    private func ladder(_ bandwidth: Int) throws -> (run: RuleRun, rendition: String) {
        var run = RuleRun()
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\(bandwidth)\nv.m3u8\n"
        run.observe(try fetched(text, 0, "master.m3u8"), as: .root)
        let rendition = try #require(run.history.presentation?.renditions.first).id.description
        run.observe(try fetched(live(10), 0, "v.m3u8"), as: .rendition(rendition))
        return (run, rendition)
    }

    @Test(
        "The bandwidth is exceeded by segments of half a target duration or more",
        arguments: [
            // The durations of consecutive segments and their sizes in kilobytes; 8,000 kbit/s are declared.
            ([6.0, 1.0], [5_800, 1_500], false), ([6.0, 3.0], [5_800, 4_000], true),
            ([2.0, 2.0], [3_000, 3_000], true),
            ([6.0, 2.0], [6_500, 4_000], true), ([9.0], [9_500], false), ([9.0], [11_000], true),
            ([1.0], [3_000], false),
        ]
    )
    func peak(seconds: [Double], kilobytes: [Int], isExceeded: Bool) throws {
        var (run, rendition) = try ladder(8_000_000)
        for (place, pair) in zip(seconds, kilobytes).enumerated() {
            run.observe(try facts(10 + place, seconds: pair.0, bytes: pair.1 * 1_000) { $0.rendition = rendition })
        }
        #expect(run.findings.map(\.rule) == (isExceeded ? ["bandwidth-exceeded"] : []))
    }

    /// A run that knows an MPD with one period of ten seconds.
    private func manifest() throws -> RuleRun {
        var run = RuleRun()
        let text = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" \
            mediaPresentationDuration="PT10S" minBufferTime="PT0S"><Period><AdaptationSet mimeType="video/mp4">\
            <SegmentTemplate media="$Number$" timescale="1"><SegmentTimeline><S t="0" d="6" r="1"/></SegmentTimeline>\
            </SegmentTemplate><Representation id="v" bandwidth="8000000"/></AdaptationSet></Period></MPD>
            """
        run.observe(try fetched(text, 0, "main.mpd"), as: .root)
        return run
    }

    @Test(
        "Media outside the period of its segment is neither too long nor at a wrong time",
        arguments: [
            // Start and end of the media, and the durations that are outside the period.
            (6.0, 12.0, 0.0, 2.0, false), (6, 10, 0, 2, false), (6, 12, 0, 0, true), (6, 14, 0, 2, true),
            (6, 8, 0, 2, true), (4, 10, 2, 0, false), (6, 10, 2, 0, false), (4, 10, 0, 0, true), (2, 10, 2, 0, true),
            (8, 12, 2, 2, true),
        ]
    )
    func boundary(start: Double, end: Double, before: Double, after: Double, isWrong: Bool) throws {
        func nanoseconds(_ seconds: Double) -> Int64 { Int64(seconds * 1_000_000_000) }
        var run = try manifest()
        let known = run.findings.count
        let segment = try facts(1, seconds: 4) { facts in
            facts.declaredMediaTime = nanoseconds(6)
            (facts.trimmedStart, facts.trimmedEnd) = (nanoseconds(before), nanoseconds(after))
            let media = (nanoseconds(start), nanoseconds(end))
            facts.tracks = [SegmentFacts.Track(isVideo: true, codec: "h264", start: media.0, end: media.1)]
        }
        run.observe(segment)
        #expect(run.findings.dropFirst(known).map(\.rule) == (isWrong ? ["segment-timeline-mismatch"] : []))
    }

    @Test(
        "The bandwidth of a segment counts for its media outside the period, and by its own period",
        arguments: [
            (6_000, nil, 2.0, false), (6_000, nil, 0.0, true), (6_000, 16_000_000, 0, false),
            (3_000, 4_000_000, 0, true),
        ]
    )
    func boundaryBandwidth(kilobytes: Int, bandwidth: Int64?, after: Double, isExceeded: Bool) throws {
        var run = try manifest()
        let rendition = try #require(run.history.presentation?.renditions.first).id.description
        let known = run.findings.count
        let segment = try facts(1, seconds: 4, bytes: kilobytes * 1_000) { facts in
            facts.rendition = rendition
            facts.declaredBandwidth = bandwidth
            facts.trimmedEnd = Int64(after * 1_000_000_000)
        }
        run.observe(segment)
        #expect(run.findings.dropFirst(known).map(\.rule) == (isExceeded ? ["bandwidth-exceeded"] : []))
    }

    @Test(
        "A segment that is missing breaks the rule that says why",
        arguments: [
            (false, SegmentFacts.Place.oldest, 404, "segment-unavailable"),
            (false, .inside, 410, "segment-unavailable"), (true, .oldest, 404, "expired-segment-listed"),
            (true, .inside, 404, "segment-unavailable"), (true, .oldest, 503, "segment-unavailable"),
        ]
    )
    func missing(isLive: Bool, place: SegmentFacts.Place, status: Int, rule: String) throws {
        var run = RuleRun()
        run.observe(
            try facts(10, bytes: nil) { facts in
                (facts.isLive, facts.place, facts.failure) = (isLive, place, .status(status))
            }
        )
        #expect(run.findings.map(\.rule.description) == [rule])
    }

    @Test(
        "Media that browsers refuse is an error, and a track that they leave out a warning",
        arguments: [(true, "browsers-refuse", Rule.Severity.error), (false, "browsers-drop-track", .warning)]
    )
    func browsers(isWhole: Bool, rule: String, severity: Rule.Severity) throws {
        var run = RuleRun()
        let refusal = SegmentFacts.Refusal(
            found: "the transport stream has DTS audio",
            expected: "AAC, MP3 or AC-3",
            remedy: "encode the track again",
            isWhole: isWhole
        )
        run.observe(try facts(10) { $0.refusal = refusal })
        let finding = try #require(run.findings.first)
        #expect(run.findings.count == 1 && finding.rule.description == rule && finding.severity == severity)
        let message =
            "Expected AAC, MP3 or AC-3; found in segment 10 that the transport stream has DTS audio. "
            + "Encode the track again."
        #expect(finding.message == message)
    }

    @Test("A rule that every segment breaks hides no other rule, and counts on")
    func manyFindings() throws {
        var run = RuleRun()
        for number in 0..<5_000 {
            run.observe(try facts(number) { $0.failure = .status(500) })
        }
        #expect(run.findings.count == 100)
        #expect(run.omittedFindings == 4_900)
        #expect(run.sums["segment-unavailable"]?.count == 5_000)
        #expect(run.sums["segment-unavailable"]?.latest.resource == "http://example.org/4999.ts")
        run.observe(try facts(5_000) { $0.failure = .unreadable("a page") })
        #expect(run.findings.last?.rule == "segment-unreadable")
    }
}
