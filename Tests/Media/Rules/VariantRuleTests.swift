import InstrumentRules
import Testing

@Suite("Rules on the variants of a ladder")
struct VariantRuleTests {
    /// Playlists on demand of segments with these durations, with a discontinuity before some of them.
    private func onDemand(_ durations: [Int], discontinuities: Set<Int>) -> [String] {
        let segments = durations.enumerated().map { place, duration in
            (discontinuities.contains(place) ? "#EXT-X-DISCONTINUITY\n" : "") + "#EXTINF:\(duration),\n\(place).ts\n"
        }
        let head = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        return [head + segments.joined() + "#EXT-X-ENDLIST\n"]
    }

    @Test(
        "All variants have a score, or none has",
        arguments: [
            ([",SCORE=1", ",SCORE=2"], nil), (["", ""], nil), ([",SCORE=1", "", ""], 5), (["", ",SCORE=1"], 3),
            // A name in small letters has another rule.
            ([",SCORE=1", ",score=1"], nil),
        ] as [([String], Int?)]
    )
    func scores(attributes: [String], line: Int?) throws {
        var run = RuleRun(rules: [.scoreMissing])
        let tags = attributes.enumerated().map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)00000\($1)\n\($0).m3u8\n" }
        let keyframes = "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100,URI=\"i.m3u8\"\n"
        run.observe(try fetched("#EXTM3U\n#EXT-X-VERSION:7\n\(tags.joined())\(keyframes)", 0, "m.m3u8"), as: .root)
        #expect(run.findings.map(\.problem.line) == (line.map { [$0] } ?? []))
        let (count, all) = (attributes.filter(\.isEmpty).count, attributes.count)
        #expect(run.findings.allSatisfy { $0.problem.found == "\(count) of \(all) variants without SCORE" })
    }

    @Test("A variant may have another number of segments before a discontinuity")
    func discontinuities() throws {
        let (long, short) = ([6, 6, 6, 6, 6, 6, 6], [5, 5, 5, 3, 6, 6, 6, 6])
        let variants = [
            "a": onDemand(long, discontinuities: [3]), "b": onDemand(short, discontinuities: [4]),
        ]
        #expect(try broken(variants: variants) == [])
        let later = onDemand([6, 6, 6, 2, 4, 6, 6, 6], discontinuities: [4])
        #expect(try broken(variants: ["a": onDemand(long, discontinuities: [3]), "b": later]) == [])
        let wrong = ["a": onDemand(long, discontinuities: [3]), "b": onDemand(short, discontinuities: [])]
        #expect(try broken(variants: wrong) == ["variant-discontinuities-differ"])
    }

    @Test("Dates that go back after an advertisement match the segments of the same discontinuity")
    func datedAdvertisements() throws {
        func text(_ durations: [Int]) -> [String] {
            let ads = durations.enumerated().map { "#EXTINF:\($1),\nad\($0).ts\n" }.joined()
            let date = "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:"
            return [
                "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:6\n\(date)00Z\n#EXTINF:6,\n0.ts\n"
                    + "#EXT-X-DISCONTINUITY\n\(ads)#EXT-X-DISCONTINUITY\n\(date)06Z\n"
                    + (1..<5).map { "#EXTINF:6,\n\($0).ts\n" }.joined() + "#EXT-X-ENDLIST\n"
            ]
        }
        #expect(try broken(variants: ["a": text([6, 6, 6]), "b": text([5, 5, 5, 3])]) == [])
    }

    @Test("Media sequence numbers of variants need not be alike")
    func offset() throws {
        let variants = ["a": (10..<20).map { live($0) }, "b": (5_000..<5_010).map { live($0) }]
        #expect(try broken(variants: variants) == [])
    }

    @Test("Segments of other lengths do not drift apart")
    func lengths() throws {
        // Two segments of three seconds for each segment of six.
        let halves = (0..<30).map { round in live(100 + 2 * round, count: 8) { "#EXTINF:3,\n\($0).ts" } }
        #expect(try broken(variants: ["a": (10..<40).map { live($0) }, "b": halves]) == [])
    }

    @Test("A variant that falls behind by three segments is found, without dates as well")
    func drift() throws {
        // Six segments of seven.
        let slow = (0..<30).map { live(5_000 + $0 - $0 / 7) }
        let steady = (10..<40).map { live($0) }
        #expect(try broken(variants: ["a": steady, "b": slow]).contains("variant-lags"))
        let early = ["a": Array(steady.prefix(14)), "b": Array(slow.prefix(14))]
        #expect(try !broken(variants: early).contains("variant-lags"))
    }

    private func groups(_ first: String, _ second: String) throws -> [String] {
        let text = """
            #EXTM3U
            #EXT-X-VERSION:13
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="English",URI="a.m3u8",\(first)
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="high",NAME="English",URI="b.m3u8",\(second)
            #EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO="low"
            v0.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2000,AUDIO="high"
            v1.m3u8

            """
        return try broken([text])
    }

    @Test(
        "Members of one name have the same attributes but those of the encoding",
        arguments: [
            ("LANGUAGE=\"en\"", "LANGUAGE=\"de\"", false), ("LANGUAGE=\"en\"", "DEFAULT=NO", false),
            ("CHANNELS=\"2\"", "CHANNELS=\"6\"", true), ("DEFAULT=NO", "AUTOSELECT=NO", true),
            ("BIT-DEPTH=16,SAMPLE-RATE=48000", "STABLE-RENDITION-ID=\"x\",INSTREAM-ID=\"1\"", true),
            ("AUTOSELECT=YES", "AUTOSELECT=NO", false), ("CHARACTERISTICS=\"a\"", "CHARACTERISTICS=\"b\"", false),
        ]
    )
    func members(first: String, second: String, areAlike: Bool) throws {
        #expect(try groups(first, second) == (areAlike ? [] : ["rendition-group-members-differ"]))
    }

    @Test("A stream identifier in a group that is no group of captions needs version 13")
    func streamIdentifier() throws {
        let text =
            "#EXTM3U\n#EXT-X-VERSION:12\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"n\",INSTREAM-ID=\"1\"\n"
            + "#EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO=\"g\"\nv.m3u8\n"
        #expect(try broken([text]) == ["version-too-low"])
    }
}
