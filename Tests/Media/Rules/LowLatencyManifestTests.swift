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

    @Test(
        "A description that contradicts itself is found in a recording, too, whose window means nothing",
        arguments: [
            ("<Latency min=\"3000\" target=\"2000\"/>", "Latency@min of 3000 ms above Latency@target of 2000 ms"),
            ("<PlaybackRate min=\"1.1\"/>", "PlaybackRate@min of `1.1`"),
            (
                "<OperatingBandwidth min=\"9\" max=\"8\"/>",
                "OperatingBandwidth@min of 9 above OperatingBandwidth@max of 8"
            ),
            (
                "<OperatingBandwidth target=\"9\" max=\"8\"/>",
                "OperatingBandwidth@target of 9 above OperatingBandwidth@max of 8"
            ),
            (
                "<OperatingQuality min=\"3\" target=\"2\"/>",
                "OperatingQuality@min of 3 above OperatingQuality@target of 2"
            ),
            ("<OperatingBandwidth min=\"8\" target=\"8\" max=\"8\"/>", nil), ("<Latency target=\"60000\"/>", nil),
        ] as [(String, String?)]
    )
    func recordings(content: String, words: String?) throws {
        for type in ["static", "dynamic"] where type == "static" || !content.contains("60000") {
            let text = """
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" \
                type="\(type)" availabilityStartTime="2026-01-01T00:00:00Z" mediaPresentationDuration="PT30S" \
                minBufferTime="PT2S" timeShiftBufferDepth="PT30S"><ServiceDescription>\(content)</ServiceDescription>\
                <Period start="PT0S"><AdaptationSet mimeType="video/mp4"><SegmentTemplate media="$Number$" \
                timescale="1" duration="2"/><Representation id="v" bandwidth="8000000"/></AdaptationSet></Period></MPD>
                """
            var run = RuleRun(rules: [.serviceDescriptionWrong])
            run.observe(try fetched(text, 10, "a.mpd"), as: .root)
            #expect(run.findings.map(\.problem.found) == (words.map { [$0] } ?? []), "\(type)")
        }
    }

    @Test(
        "An update period is that of a live MPD",
        arguments: [
            (" type=\"static\" minimumUpdatePeriod=\"PT2S\"", "`minimumUpdatePeriod=\"PT2S\"` of type `static`"),
            (
                " minimumUpdatePeriod=\"PT0S\"",
                "`minimumUpdatePeriod=\"PT0S\"` in an MPD without a type, which is static"
            ),
            (" type=\"static\"", nil), (" type=\"dynamic\" minimumUpdatePeriod=\"PT2S\"", nil),
            // A type that does not exist has another rule.
            (" type=\"live\" minimumUpdatePeriod=\"PT2S\"", nil),
        ] as [(String, String?)]
    )
    func updatePeriods(attributes: String, words: String?) throws {
        var run = RuleRun(rules: [.mpdTypeContradicted])
        let text = "<MPD\(attributes) mediaPresentationDuration=\"PT4S\"><Period/></MPD>"
        run.observe(try fetched(text, 0, "a.mpd"), as: .root)
        #expect(run.findings.map(\.problem.found) == (words.map { [$0] } ?? []))
    }

    @Test(
        "A producer reference far from the clock of the presentation is found",
        arguments: [
            // The media of tick 900 is that of ten seconds after the start of the period.
            ("2026-01-01T00:01:10Z", "encoder", "900", nil), ("2026-01-01T00:59:00Z", "encoder", "900", nil),
            ("2036-01-01T00:00:00Z", "encoder", "900", "after"), ("1970-01-01T00:00:00Z", "encoder", "900", "before"),
            // The time of a capture may be that of a recording.
            ("1970-01-01T00:00:00Z", "captured", "900", nil),
            ("2026-01-01T00:01:10Z", "encoder", "900000", "before"),
        ] as [(String, String, String, String?)]
    )
    func producerClock(time: String, type: String, ticks: String, place: String?) throws {
        let reference =
            "<ProducerReferenceTime id=\"0\" type=\"\(type)\" wallClockTime=\"\(time)\" presentationTime=\"\(ticks)\"/>"
        let text = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="dynamic" \
            availabilityStartTime="2026-01-01T00:00:00Z" minimumUpdatePeriod="PT2S" minBufferTime="PT2S" \
            timeShiftBufferDepth="PT30S"><Period start="PT1M"><AdaptationSet mimeType="video/mp4">\(reference)\
            <SegmentTemplate media="$Number$" timescale="90" presentationTimeOffset="0" duration="180"/>\
            <Representation id="v" bandwidth="8000000"/></AdaptationSet></Period></MPD>
            """
        var run = RuleRun(rules: [.producerReferenceWrong])
        run.observe(try fetched(text, 120, "a.mpd"), as: .root)
        #expect(run.findings.count == (place == nil ? 0 : 1))
        #expect(run.findings.allSatisfy { $0.problem.found.contains(" s \(place ?? "") the time of its media") })
    }
}
