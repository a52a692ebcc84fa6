import InstrumentManifests
import InstrumentRules
import Testing

@Suite("Rules on low-latency MPDs")
struct LowLatencyManifestTests {
    private func found(latency: String, window: String = "PT30S") throws -> [String] {
        let text = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="dynamic" \
            availabilityStartTime="2026-01-01T00:00:00Z" minimumUpdatePeriod="PT2S" minBufferTime="PT2S" \
            timeShiftBufferDepth="\(window)"><ServiceDescription id="0">\(latency)</ServiceDescription>\
            <Period start="PT0S"><AdaptationSet mimeType="video/mp4"><SegmentTemplate media="$Number$" timescale="1" \
            duration="2"/><Representation id="v" bandwidth="8000000"/></AdaptationSet></Period></MPD>
            """
        var run = RuleRun(rules: [.serviceDescriptionWrong])
        run.observe(try fetched(text, 60, "a.mpd"), as: .root)
        return run.findings.map(\.problem.found)
    }

    @Test("A target latency longer than the window is found")
    func latencyBehindWindow() throws {
        #expect(try found(latency: "<Latency target=\"30000\"/>").isEmpty)
        let words = "Latency@target of 30001 ms in a window of 30 s"
        #expect(try found(latency: "<Latency target=\"30001\"/>") == [words])
        #expect(try found(latency: "<Latency target=\"90000\"/>", window: "PT2M").isEmpty)
    }
}
