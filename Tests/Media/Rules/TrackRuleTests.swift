import Instrument
import InstrumentHTTP
import InstrumentManifests
import InstrumentRules
import Testing

@Suite("Rules on tracks, subtitles and whole renditions")
struct TrackRuleTests {
    private func track(_ isVideo: Bool, _ number: Int, codec: String? = nil) -> SegmentFacts.Track {
        let start = Int64(number) * 2_000_000_000
        let name = codec ?? (isVideo ? "h264" : "aac")
        return SegmentFacts.Track(isVideo: isVideo, codec: name, start: start, end: start + 2_000_000_000)
    }

    /// A segment with pictures (`v`) and sound (`a`).
    private func facts(
        _ number: Int,
        _ tracks: String,
        rendition: String = "main",
        _ change: (inout SegmentFacts) -> Void = { _ in }
    ) throws -> SegmentFacts {
        var facts = SegmentFacts(
            rendition: rendition,
            url: try HTTPURL("http://example.org/\(rendition)/\(number)"),
            sequence: Int64(number),
            discontinuity: 0,
            declaredDuration: 2_000_000_000,
            fetched: try fetched("", number).fetched
        )
        facts.byteCount = 1_000
        facts.position = Int64(number) * 2_000_000_000
        facts.tracks = tracks.map { track($0 == "v", number) }
        change(&facts)
        return facts
    }

    private func rules(_ segments: [SegmentFacts], after texts: [(String, RuleRun.Role)] = []) throws -> [String] {
        var run = RuleRun()
        for (text, role) in texts { run.observe(try fetched(text, 0, "a"), as: role) }
        let known = run.findings.count
        for segment in segments { run.observe(segment) }
        return run.findings.dropFirst(known).map { "\($0.rule) \($0.problem.found)" }
    }

    @Test("A track that vanishes or appears within a discontinuity is a change, and one behind a discontinuity is none")
    func changes() throws {
        let appeared = "tracks-changed pictures (h264) and sound (aac) in segment 1"
        #expect(try rules([facts(0, "v"), facts(1, "va")]) == [appeared])
        // What vanishes and returns is one fault, and another one is another.
        let found = try rules([facts(0, "va"), facts(1, "v"), facts(2, "v"), facts(3, "va"), facts(4, "a")])
        #expect(
            found == ["tracks-changed pictures (h264) in segment 1", "tracks-changed sound (aac) in segment 4"]
        )
        let later = try facts(2, "va") { $0.discontinuity = 1 }
        let behind = try rules([facts(0, "va"), facts(1, "v") { $0.discontinuity = 1 }, later])
        #expect(behind == ["tracks-changed pictures (h264) and sound (aac) in segment 2"])
        #expect(try rules([facts(0, "va"), facts(1, "v") { $0.discontinuity = 1 }]).isEmpty)
        // A segment between that could not be fetched does not hide the change.
        #expect(try rules([facts(0, "va"), facts(3, "a")]) == ["tracks-changed sound (aac) in segment 3"])
        let other = try facts(1, "v") { $0.tracks = [track(true, 1, codec: "hevc")] }
        #expect(try rules([facts(0, "v"), other]) == ["tracks-changed pictures (hevc) in segment 1"])
    }

    @Test("A track may end a little before the others in a short last segment")
    func tail() throws {
        func last(_ duration: Int64) throws -> SegmentFacts {
            try facts(1, "v") { ($0.isLast, $0.declaredDuration) = (true, duration) }
        }
        func changes(_ duration: Int64) throws -> [String] {
            try rules([facts(0, "va"), last(duration)]).filter { $0.hasPrefix("tracks-changed") }
        }
        #expect(try changes(500_000_000).isEmpty)
        #expect(try changes(2_000_000_000) == ["tracks-changed pictures (h264) in segment 1"])
    }

    @Test(
        "A track that CODECS declares, and that no segment has, is missing",
        arguments: [
            ("avc1.42c00b,mp4a.40.2", "v", "sound"), ("avc1.42c00b,mp4a.40.2", "a", "pictures"),
            ("avc1.42c00b,mp4a.40.2", "va", nil), ("avc1.42c00b", "v", nil), ("mp4a.40.2", "a", nil),
            ("avc1.42c00b", "a", "pictures"),
        ]
    )
    func declared(codecs: String, tracks: String, missing: String?) throws {
        let ladder = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=8000000,CODECS=\"\(codecs)\"\nv.m3u8\n"
        let segments = try (0..<3).map { try facts($0, tracks, rendition: "main/0") }
        let found = try rules(segments, after: [(ladder, .root)]).filter { $0.hasPrefix("track-missing") }
        #expect(found == (missing.map { name in (0..<3).map { "track-missing no \(name) in segment \($0)" } } ?? []))
    }

    @Test("A track of the container without frames is missing, except in a playlist of keyframes")
    func containers() throws {
        let empty = try facts(0, "v") { $0.declaredKinds = [.video, .audio] }
        #expect(try rules([empty]) == ["track-missing no sound in segment 0"])
        var keyframe = empty
        keyframe.isKeyframeOnly = true
        #expect(try rules([keyframe]).isEmpty)
    }

    @Test(
        "A resolution is that of the pictures, or the one to which the shape of their samples stretches them",
        arguments: [
            (1280, 720, nil, false), (640, 360, nil, true), (960, 720, 4.0 / 3.0, false), (960, 720, 1.0, true),
            (1280, 540, 0.75, false),
        ] as [(Int, Int, Double?, Bool)]
    )
    func resolution(width: Int, height: Int, aspect: Double?, isWrong: Bool) throws {
        let ladder = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=8000000,RESOLUTION=1280x720\nv.m3u8\n"
        let segment = try facts(0, "va", rendition: "main/0") { facts in
            facts.tracks[0].size = Resolution(width: width, height: height)
            facts.tracks[0].sampleAspect = aspect
        }
        let found = try rules([segment], after: [(ladder, .root)])
        #expect(found == (isWrong ? ["resolution-mismatch \(width)×\(height) in segment 0"] : []))
    }

    @Test("A keyframe is missing only where the playlist promises one")
    func keyframes() throws {
        let segment = try facts(0, "v") { $0.tracks[0].startsWithKeyframe = false }
        #expect(try rules([segment]).isEmpty)
        let promise = live(0, head: "#EXT-X-INDEPENDENT-SEGMENTS\n")
        let found = ["keyframe-missing another frame at the start of segment 0"]
        #expect(try rules([segment], after: [(promise, .root)]) == found)
        var keyframe = segment
        keyframe.isKeyframeOnly = true
        #expect(try rules([keyframe]) == found)
        let sound = try facts(0, "a") { $0.isKeyframeOnly = true }
        #expect(try rules([sound]) == ["keyframe-missing no picture at the start of segment 0"])
    }

    @Test(
        "A keyframe is promised by startWithSAP 1 and 2 alone",
        arguments: [("1", true), ("2", true), ("3", false), (nil, false)]
    )
    func accessPoints(type: String?, isPromised: Bool) throws {
        let attribute = type.map { " startWithSAP=\"\($0)\"" } ?? ""
        let text = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" \
            mediaPresentationDuration="PT4S" minBufferTime="PT2S"><Period><AdaptationSet mimeType="video/mp4"\(attribute)>\
            <SegmentTemplate media="$Number$" timescale="1" duration="2"/>\
            <Representation id="v" bandwidth="8000000"/></AdaptationSet></Period></MPD>
            """
        var run = RuleRun()
        run.observe(try fetched(text, 0, "a.mpd"), as: .root)
        let name = try #require(run.history.presentation?.renditions.first).id.description
        let known = run.findings.count
        run.observe(try facts(0, "v", rendition: name) { $0.tracks[0].startsWithKeyframe = false })
        #expect(run.findings.dropFirst(known).map(\.rule) == (isPromised ? ["keyframe-missing"] : []))
    }

    @Test("Keyframes alone may be as far apart, and as short, as their playlist says")
    func keyframePlaylist() throws {
        func keyframe(_ number: Int) throws -> SegmentFacts {
            try facts(number, "v") { facts in
                facts.isKeyframeOnly = true
                facts.tracks[0].end = facts.tracks[0].start + 40_000_000
            }
        }
        #expect(try rules([keyframe(0), keyframe(1)]).isEmpty)
    }

    @Test(
        "Cues are compared with the media beside them, over a wrap of timestamps",
        arguments: [
            // The start of the media of segment 0, and of the cue of segment 1, in seconds of the container.
            (1.4, 3.4, false), (1.4, 13.4, true), (1.4, 2.0, false), (100, 3.4, true), (95_443, 1.5, false),
        ]
    )
    func cues(media: Double, cue: Double, isWrong: Bool) throws {
        func nanoseconds(_ seconds: Double) -> Int64 { Int64(seconds * 1_000_000_000) }
        let picture = try facts(0, "v") { facts in
            facts.tracks[0].start = nanoseconds(media)
            facts.tracks[0].end = nanoseconds(media + 2)
            facts.wrap = 95_443_717_688_889
        }
        let text = try facts(1, "", rendition: "subtitles/en") { facts in
            facts.subtitles = SegmentFacts.Subtitles(cueCount: 1, defect: nil)
            facts.subtitles?.times = nanoseconds(cue)..<nanoseconds(cue + 1)
        }
        #expect(try rules([picture, text]).map { $0.prefix(20) } == (isWrong ? ["subtitle-times-wrong"] : []))
    }

    @Test(
        "Cues that span half of a timeline that wraps, or more, may be anywhere on it",
        arguments: [
            // The time from the start of the first cue to the end of the last one, in nanoseconds, and whether the
            // timeline wraps.
            (1_000_000_000, true, true), (Self.half - 1, true, true), (Self.half, true, false),
            (Self.half + 10_000_000_000, true, false), (Self.half + 10_000_000_000, false, true),
        ]
    )
    func longCues(span: Int64, wraps: Bool, isWrong: Bool) throws {
        let picture = try facts(0, "v") { facts in
            (facts.tracks[0].start, facts.tracks[0].end) = (1_400_000_000, 3_400_000_000)
            if wraps { facts.wrap = 2 * Self.half }
        }
        let text = try facts(1, "", rendition: "subtitles/en") { facts in
            facts.subtitles = SegmentFacts.Subtitles(cueCount: 2, defect: nil)
            facts.subtitles?.hasTimestampMap = true
            // Ten seconds behind the media.
            facts.subtitles?.times = 15_400_000_000..<15_400_000_000 + span
        }
        #expect(try rules([picture, text]).map { $0.prefix(20) } == (isWrong ? ["subtitle-times-wrong"] : []))
    }

    @Test("Missing packets are a finding of their segment, beside missing frames", arguments: [0, 1, 7])
    func packetGaps(count: Int) throws {
        let lost = try facts(0, "v") { facts in
            facts.packetGaps = count
            facts.tracks[0].largestGap = 1_000_000_000
        }
        let words = count == 0 ? [] : ["packets missing in \(count) \(count == 1 ? "place" : "places") of segment 0"]
        let found = try rules([lost]).map { $0.replacing("frames-missing ", with: "") }
        #expect(found == ["pictures without frames for 1 s in segment 0"] + words, "\(found)")
    }

    /// Half of the 2^33 ticks of 90 kHz that MPEG-2 timestamps have, in nanoseconds.
    private static let half: Int64 = 47_721_858_844_444

    @Test(
        "A cue that begins behind the end of the presentation is found once",
        arguments: [
            // The starts of the first and the latest cue in a presentation of 2 s that begins at 10 s.
            (10.5, 11.5, true, false), (10.5, 12.4, true, false), (10.5, 13.0, true, true), (10.5, 13.0, false, false),
            // Cues that are all elsewhere have another finding.
            (15, 16, true, true),
        ]
    )
    func endOfCues(first: Double, latest: Double, isLast: Bool, isWrong: Bool) throws {
        func nanoseconds(_ seconds: Double) -> Int64 { Int64(seconds * 1_000_000_000) }
        let picture = try facts(0, "v") { facts in
            facts.tracks[0].start = nanoseconds(10)
            facts.tracks[0].end = nanoseconds(12)
        }
        let text = try facts(0, "", rendition: "subtitles/en") { facts in
            facts.isLast = isLast
            facts.subtitles = SegmentFacts.Subtitles(cueCount: 2, defect: nil)
            facts.subtitles?.times = nanoseconds(first)..<nanoseconds(latest + 1)
            facts.subtitles?.latestStart = nanoseconds(latest)
        }
        let found = try rules([picture, text])
        #expect(found.count == (isWrong ? 1 : 0), "\(found)")
        let isAtEnd = first < 12
        #expect(found.allSatisfy { $0.contains("1 s behind the end of the presentation") == isAtEnd }, "\(found)")
    }

    @Test("Cues that are shown at no time of their segment are found", arguments: [0, 2])
    func outside(count: Int) throws {
        let text = try facts(1, "") { facts in
            facts.subtitles = SegmentFacts.Subtitles(cueCount: 5, defect: nil)
            facts.subtitles?.outsideCount = count
        }
        #expect(try rules([text]) == (count > 0 ? ["subtitle-times-wrong 2 of 5 cues outside segment 1"] : []))
    }

    @Test(
        "Timestamps that renditions do not share are found once for each rendition",
        arguments: [(0, nil), (0.9, nil), (5, "5 s later"), (-5, "5 s earlier")] as [(Double, String?)]
    )
    func renditionTimes(shift: Double, words: String?) throws {
        func segment(_ number: Int, _ rendition: String, _ shift: Double) throws -> SegmentFacts {
            try facts(number, "v", rendition: rendition) { facts in
                facts.position = Int64(number) * 2_000_000_000
                facts.tracks[0].start = facts.position + Int64(shift * 1e9)
                facts.tracks[0].end = facts.tracks[0].start + 2_000_000_000
            }
        }
        let segments = try [
            segment(0, "a", 10), segment(1, "a", 10), segment(0, "b", 10 + shift), segment(1, "b", 10 + shift),
        ]
        let found = try rules(segments)
        #expect(found == words.map { ["rendition-times-differ timestamps \($0) than those of a"] } ?? [], "\(found)")
    }

    @Test("A rendition is too short if it ends more than half a segment before the longest")
    func lengths() throws {
        func rules(_ durations: [Double]) throws -> [String] {
            var run = RuleRun()
            let summaries = try durations.enumerated().map { place, seconds in
                let url = try HTTPURL("http://example.org/\(place)")
                var summary = RenditionSummary(rendition: "\(place)", url: url, role: .media)
                summary.duration = Int64(seconds * 1_000_000_000)
                summary.targetDuration = 6_000_000_000
                return summary
            }
            run.observe(summaries)
            return run.findings.map { "\($0.rule) \($0.resource)" }
        }
        #expect(try rules([60, 58, 60.1]).isEmpty)
        #expect(try rules([60, 54, 60]) == ["rendition-lengths-differ http://example.org/1"])
    }
    @Test(
        "Subtitles end with the media, or less than a segment before",
        arguments: [(60, false), (54, false), (53.9, true), (10, true), (70, false)]
    )
    func subtitleLengths(seconds: Double, isShort: Bool) throws {
        func run(_ texts: [(String, RuleRun.Role)]) throws -> [String] {
            var run = RuleRun(rules: [.renditionLengthsDiffer])
            for (text, role) in texts { run.observe(try fetched(text, 0, "a.mpd"), as: role) }
            let roles: [(RenditionSummary.Role, Double)] = [(.media, 60), (.subtitles, seconds), (.keyframes, 6)]
            let summaries = try roles.map { role, seconds in
                let url = try HTTPURL("http://example.org/\(role)")
                var summary = RenditionSummary(rendition: "\(role)", url: url, role: role)
                (summary.duration, summary.targetDuration) = (Int64(seconds * 1_000_000_000), 6_000_000_000)
                return summary
            }
            run.observe(summaries)
            return run.findings.map { "\($0.resource): \($0.problem.expected), \($0.problem.advice)" }
        }
        let words = "60 s, as in media, List segments without cues up to the end of the media."
        #expect(try run([]) == (isShort ? ["http://example.org/subtitles: \(words)"] : []))
        // Subtitles of an MPD may have gaps, also at the end.
        let manifest = "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"><Period/></MPD>"
        #expect(try run([(manifest, .root)]).isEmpty)
    }

    @Test(
        "A segment that ends early is one finding, whatever follows from it",
        arguments: [
            // The end of the pictures and of the sound of segment 1 of 2 s, and whether its bytes were cut.
            (3.0, 4.0, false, ["segment-duration-mismatch media of 1 s in segment 1"]),
            (3.0, 3.0, false, ["segment-duration-mismatch media of 1 s in segment 1"]),
            (3.0, 4.0, true, ["segment-truncated 1000 bytes in segment 1, which end inside a packet, box or frame"]),
            // The sound alone ends early.
            (4.0, 3.0, false, ["tracks-apart sound and pictures that end 1 s apart in segment 1"]),
            (4.0, 4.0, false, []),
        ] as [(Double, Double, Bool, [String])]
    )
    func earlyEnd(pictures: Double, sound: Double, isCut: Bool, expected: [String]) throws {
        let early = try facts(1, "va") { facts in
            facts.tracks[0].end = Int64(pictures * 1e9)
            facts.tracks[1].end = Int64(sound * 1e9)
            facts.isTruncated = isCut
        }
        #expect(try rules([facts(0, "va"), early, facts(2, "va")]) == expected)
        // A jump is one beside a segment that ends early, too.
        let later = try facts(2, "va") { facts in
            for place in 0..<2 {
                facts.tracks[place].start += 7_000_000_000
                facts.tracks[place].end += 7_000_000_000
            }
        }
        let found = try rules([facts(0, "va"), early, later])
        #expect(
            found.count == expected.count + 1 && found.last?.hasPrefix("discontinuity-unmarked a jump forward") == true
        )
    }

    @Test("A segment that alone is at another time, or has another encoding, is one finding")
    func straySegment() throws {
        func moved(_ number: Int, by seconds: Int64) throws -> SegmentFacts {
            try facts(number, "va") { facts in
                for place in 0..<2 {
                    facts.tracks[place].start += seconds * 1_000_000_000
                    facts.tracks[place].end += seconds * 1_000_000_000
                }
            }
        }
        let jump = "discontinuity-unmarked a jump forward by 50 s before segment 1"
        #expect(try rules([facts(0, "va"), moved(1, by: 50), facts(2, "va"), facts(3, "va")]) == [jump])
        // Media that continue at another time, and return, jump twice.
        let twice = try rules([facts(0, "va"), moved(1, by: 50), moved(2, by: 50), facts(3, "va")])
        #expect(twice == [jump, "discontinuity-unmarked a jump back by 50 s before segment 3"])
        func sized(_ number: Int, _ height: Int) throws -> SegmentFacts {
            try facts(number, "va") { $0.tracks[0].size = Resolution(width: 320, height: height) }
        }
        let change = "encoding-changed 320×200 in segment 1"
        let stray = try rules([sized(0, 180), sized(1, 200), sized(2, 180), sized(3, 180)])
        #expect(stray == [change], "\(stray)")
        #expect(try rules([sized(0, 180), sized(1, 200), sized(2, 240)]).count == 2)
    }

    @Test("Times in another unit are one finding, and a jump inside a segment is one, too")
    func units() throws {
        func segment(_ number: Int, _ change: (inout SegmentFacts.Track) -> Void) throws -> SegmentFacts {
            try facts(number, "v") { change(&$0.tracks[0]) }
        }
        // Each frame is a hundred times as far from the next one as it should be.
        let scaled = try (0..<3).map { number in
            try segment(number) { track in
                track.start *= 100
                track.end = track.start + 200_000_000_000
                track.largestGap = 4_000_000_000
            }
        }
        let words = scaled.map { "segment-duration-mismatch media of 200 s in segment \($0.sequence)" }
        #expect(try rules(scaled) == words)
        let jump = try segment(1) { track in
            track.end += 50_000_000_000
            track.largestGap = 50_000_000_000
        }
        let expected = ["frames-missing pictures without frames for 50 s in segment 1"]
        #expect(try rules([segment(0) { _ in }, jump]) == expected)
        // A segment that is too long beside a gap of another length has both.
        let both = try segment(1) { track in
            track.end += 2_000_000_000
            track.largestGap = 500_000_000
        }
        #expect(Set(try rules([both]).map { $0.prefix(14) }) == ["segment-durati", "frames-missing"])
    }
}
