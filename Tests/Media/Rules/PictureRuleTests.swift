import InstrumentHTTP
import InstrumentManifests
import InstrumentRules
import Testing

@Suite("Rules on the rate and the range of pictures")
struct PictureRuleTests {
    /// The rules that a segment breaks after its multivariant playlist or MPD.
    private func rules(_ text: String, _ path: String, rate: Double?, transfer: Int?) throws -> [String] {
        var run = RuleRun()
        run.observe(try fetched(text, 0, path), as: .root)
        let known = run.findings.count
        let rendition = try #require(run.history.presentation?.renditions.first).id.description
        var facts = SegmentFacts(
            rendition: rendition,
            url: try HTTPURL("http://example.org/0.ts"),
            sequence: 0,
            discontinuity: 0,
            declaredDuration: 2_000_000_000,
            fetched: try fetched("", 0).fetched
        )
        facts.byteCount = 1_000
        var track = SegmentFacts.Track(isVideo: true, codec: "h264", start: 0, end: 2_000_000_000)
        (track.framesPerSecond, track.transfer) = (rate, transfer)
        facts.tracks = [track]
        run.observe(facts)
        return run.findings.dropFirst(known).map { "\($0.rule) \($0.problem.found) \($0.problem.expected)" }
    }

    private func ladder(_ attributes: String) -> String {
        "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=8000000,\(attributes)\nv.m3u8\n"
    }

    private func manifest(_ attributes: String, _ property: String = "") -> String {
        """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" \
        mediaPresentationDuration="PT4S" minBufferTime="PT2S"><Period><AdaptationSet mimeType="video/mp4">\(property)\
        <SegmentTemplate media="$Number$" timescale="1" duration="2"/>\
        <Representation id="v" bandwidth="8000000" \(attributes)/></AdaptationSet></Period></MPD>
        """
    }

    @Test(
        "A declared rate may be rounded, and is otherwise that of the pictures",
        arguments: [
            ("25.000", 25.0, false), ("29.970", 30_000.0 / 1_001, false), ("30", 30_000.0 / 1_001, false),
            ("60", 60_000.0 / 1_001, false), ("50", 25.0, true), ("25", 50.0, true), ("25", 24.0, true),
            ("12", 12.5, true), ("50", nil, false),
        ] as [(String, Double?, Bool)]
    )
    func rates(declared: String, real: Double?, isWrong: Bool) throws {
        let texts = [
            (ladder("FRAME-RATE=\(declared)"), "v.m3u8"), (manifest("frameRate=\"\(declared)\""), "v.mpd"),
            (manifest("frameRate=\"\(declared)000/1000\""), "v.mpd"),
        ]
        for (text, path) in texts where !(path == "v.mpd" && declared.contains(".") && text.contains("/1000")) {
            let found = try rules(text, path, rate: real, transfer: nil)
            #expect(found.map { $0.prefix(19) } == (isWrong ? ["frame-rate-mismatch"] : []), "\(text): \(found)")
        }
    }

    @Test("A rate is shown without digits that say nothing")
    func words() throws {
        let found = try rules(ladder("FRAME-RATE=50.000"), "v.m3u8", rate: 29.97002997, transfer: nil)
        #expect(found == ["frame-rate-mismatch 29.97 frames per second in segment 0 the declared 50.000"])
    }

    @Test(
        "The range of HLS is that of the transfer characteristics, and SDR where the playlist does not say",
        arguments: [
            ("VIDEO-RANGE=PQ", 16, false), ("VIDEO-RANGE=PQ", 1, true), ("VIDEO-RANGE=PQ", 2, true),
            ("VIDEO-RANGE=PQ", 18, true), ("VIDEO-RANGE=HLG", 18, false), ("VIDEO-RANGE=HLG", 14, false),
            ("VIDEO-RANGE=HLG", 16, true), ("VIDEO-RANGE=SDR", 16, true), ("VIDEO-RANGE=SDR", 2, false),
            ("FRAME-RATE=25", 16, true), ("FRAME-RATE=25", 1, false), ("FRAME-RATE=25", nil, false),
            // Dolby Vision has its own metadata.
            ("VIDEO-RANGE=PQ,CODECS=\"dvh1.05.06\"", 2, false),
        ] as [(String, Int?, Bool)]
    )
    func ranges(attributes: String, transfer: Int?, isWrong: Bool) throws {
        let found = try rules(ladder(attributes), "v.m3u8", rate: nil, transfer: transfer)
            .filter { !$0.hasPrefix("codecs") }
        #expect(found.map { $0.prefix(20) } == (isWrong ? ["video-range-mismatch"] : []), "\(found)")
    }

    @Test(
        "The range of an MPD is compared only where the MPD declares one",
        arguments: [(16, 16, false), (16, 1, true), (16, 2, true), (1, 16, true), (1, 6, false), (nil, 16, false)]
            as [(Int?, Int, Bool)]
    )
    func characteristics(declared: Int?, transfer: Int, isWrong: Bool) throws {
        let scheme = "urn:mpeg:mpegB:cicp:TransferCharacteristics"
        let property = declared.map { "<SupplementalProperty schemeIdUri=\"\(scheme)\" value=\"\($0)\"/>" } ?? ""
        let found = try rules(manifest("", property), "v.mpd", rate: nil, transfer: transfer)
        #expect(found.map { $0.prefix(20) } == (isWrong ? ["video-range-mismatch"] : []), "\(found)")
    }
}
