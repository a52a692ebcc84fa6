import InstrumentCheck
import InstrumentHTTP
import InstrumentRules
import Testing

/// The borders of periods and presentations: what is legal, and what is found (docs/streams.md).
@Suite("Borders of periods")
struct PeriodBorderTests {
    private static func manifest(_ duration: Int, _ periods: String) -> String {
        """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" \
        mediaPresentationDuration="PT\(duration)S" minBufferTime="PT2S">\(periods)</MPD>
        """
    }

    private func broken(_ duration: Int, _ periods: String) throws -> [String] {
        try RulesTests.broken([Self.manifest(duration, periods)], at: "v.mpd")
    }

    /// A period whose timeline begins at a second and has segments of two seconds.
    private static func period(_ attributes: String, from first: Int = 0, count: Int) -> String {
        """
        <Period \(attributes)><AdaptationSet mimeType="video/mp4"><SegmentTemplate media="$Time$.m4s" timescale="1">\
        <SegmentTimeline><S t="\(first)" d="2" r="\(count - 1)"/></SegmentTimeline></SegmentTemplate>\
        <Representation id="v" bandwidth="1000" codecs="avc1.4D400C"/></AdaptationSet></Period>
        """
    }

    @Test(
        "A period begins where the one before it ends",
        arguments: [(4, false), (6, true), (2, true)]
    )
    func neighbours(start: Int, isWrong: Bool) throws {
        let first = Self.period("start=\"PT0S\" duration=\"PT4S\"", count: 2)
        let second = Self.period("start=\"PT\(start)S\" duration=\"PT4S\"", count: 2)
        #expect(try broken(start + 4, first + second) == (isWrong ? ["period-boundary"] : []))
    }

    @Test(
        "A timeline begins with its period, or up to a segment after it",
        arguments: [(0, false), (1, false), (2, false), (3, true)]
    )
    func beginnings(first: Int, isWrong: Bool) throws {
        let found = try broken(first + 6, Self.period("", from: first, count: 3))
        #expect(found == (isWrong ? ["period-boundary"] : []))
    }

    @Test(
        "The last segment ends with the presentation, up to a second before it, or up to a segment behind it",
        arguments: [(6, false), (5, false), (4, false), (3, true), (7, false), (8, true), (9, true)]
    )
    func ends(duration: Int, isWrong: Bool) throws {
        #expect(try broken(duration, Self.period("", count: 3)) == (isWrong ? ["period-boundary"] : []))
    }

    @Test("A period of which no segment is shown, as without presentationTimeOffset, is found")
    func withoutOffset() throws {
        let first = Self.period("duration=\"PT2S\"", count: 1)
        #expect(try broken(4, first + Self.period("duration=\"PT2S\"", from: 2, count: 1)) == ["period-boundary"])
        #expect(try broken(4, first + Self.period("duration=\"PT2S\"", count: 1)).isEmpty)
    }

    @Test("A period that lasts without media is found, unless its media is elsewhere, which has another rule")
    func emptyPeriod() throws {
        let first = Self.period("duration=\"PT4S\"", count: 2)
        #expect(try broken(8, first + "<Period duration=\"PT4S\"/>") == ["period-boundary"])
        #expect(try broken(8, "<Period duration=\"PT4S\"/>" + first) == ["period-boundary"])
        let link = "<Period duration=\"PT4S\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" xlink:href=\"gone.xml\"/>"
        #expect(try broken(12, first + link + first) == ["remote-element-missing"])
    }

    @Test("A track that ends before the last period is one finding", arguments: [(1, true), (2, false), (4, true)])
    func shortTrack(count: Int, isWrong: Bool) async throws {
        let sound = Self.period("", count: count).replacing("video", with: "audio").replacing(
            "id=\"v\"",
            with: "id=\"a\""
        )
        let set = sound.dropFirst("<Period >".count).dropLast("</Period>".count)
        let last = Self.period("duration=\"PT4S\"", count: 2).replacing("</Period>", with: set + "</Period>")
        let text = Self.manifest(8, Self.period("duration=\"PT4S\"", count: 2) + last)
        let report = try await RuleTableTests.check("vod/dash/timeline.mpd") { response in
            if response.url.path.hasSuffix(".mpd") { response.body = Array(text.utf8) }
        }
        let found = report.findings.map(\.rule.description).filter {
            ["period-boundary", "rendition-lengths-differ"].contains($0)
        }
        #expect(found == (isWrong ? ["period-boundary"] : []), "\(report.findings.map(\.message))")
    }
}
