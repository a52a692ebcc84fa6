import Instrument
import InstrumentHTTP
import InstrumentManifests
import InstrumentRules
import Testing

@Suite("Rules on channels, sampling rates and changes of the encoding")
struct AudioRuleTests {
    private func sound(
        _ number: Int,
        of rendition: String,
        channels: Int? = 2,
        rate: Int? = 48_000,
        codec: String = "aac"
    ) throws -> SegmentFacts {
        var facts = SegmentFacts(
            rendition: rendition,
            url: try HTTPURL("http://example.org/\(number)"),
            sequence: Int64(number),
            discontinuity: 0,
            declaredDuration: 2_000_000_000,
            fetched: try fetched("", number).fetched
        )
        let start = Int64(number) * 2_000_000_000
        var track = SegmentFacts.Track(isVideo: false, codec: codec, start: start, end: start + 2_000_000_000)
        (track.channelCount, track.sampleRate) = (channels, rate)
        facts.tracks = [track]
        return facts
    }

    private func findings(_ text: String, _ path: String, _ segment: (String) throws -> SegmentFacts) throws -> [String]
    {
        var run = RuleRun(rules: [.audioConfigurationMismatch, .playlistAttributeInvalid])
        run.observe(try fetched(text, 0, path), as: .root)
        let audio = run.history.presentation?.renditions.first { $0.kind == .audio }
        run.observe(try segment(try #require(audio).id.description))
        return run.findings.map { "\($0.problem.found); \($0.problem.expected)" }
    }

    private func playlist(_ attributes: String, codecs: String = "avc1.42c00a,mp4a.40.2") -> String {
        "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"x\",\(attributes),URI=\"a.m3u8\"\n"
            + "#EXT-X-STREAM-INF:BANDWIDTH=100,CODECS=\"\(codecs)\",AUDIO=\"a\"\nv.m3u8\n"
    }

    @Test(
        "CHANNELS and SAMPLE-RATE are compared with the sound, and a mix of objects counts no channels",
        arguments: [
            ("CHANNELS=\"2\"", 2, nil), ("CHANNELS=\"6\"", 6, nil), ("CHANNELS=\"16/JOC\"", 6, nil),
            ("CHANNELS=\"2/-/BINAURAL\"", 2, nil), ("SAMPLE-RATE=48000", 2, nil), ("SAMPLE-RATE=96000", 2, nil),
            ("CHANNELS=\"6\"", 2, "2 channels in segment 0; 6 channels, as CHANNELS=\"6\" declares"),
            ("CHANNELS=\"1\"", 2, "2 channels in segment 0; 1 channel, as CHANNELS=\"1\" declares"),
            (
                "CHANNELS=\"6/-/BINAURAL\"", 2,
                "2 channels in segment 0; 6 channels, as CHANNELS=\"6/-/BINAURAL\" declares"
            ),
            ("SAMPLE-RATE=44100", 2, "a sampling rate of 48000 Hz in segment 0; the declared 44100 Hz"),
            (
                "CHANNELS=\"stereo\"", 2,
                "`CHANNELS=stereo` in EXT-X-MEDIA; a number of channels above 0, perhaps with parameters, such as `6` or `16/JOC`"
            ),
        ] as [(String, Int, String?)]
    )
    func playlists(attributes: String, channels: Int, finding: String?) throws {
        let found = try findings(playlist(attributes), "a.m3u8") { try sound(0, of: $0, channels: channels) }
        #expect(found == (finding.map { [$0] } ?? []))
    }

    @Test("What a decoder adds, and what is in other substreams, is no difference")
    func hidden() throws {
        let stereo = playlist("CHANNELS=\"2\"", codecs: "avc1.42c00a,mp4a.40.29")
        #expect(try findings(stereo, "a.m3u8") { try sound(0, of: $0, channels: 1, rate: 48_000) }.isEmpty)
        let implied = playlist("CHANNELS=\"2\"")
        #expect(try findings(implied, "a.m3u8") { try sound(0, of: $0, channels: 1, rate: 24_000) }.isEmpty)
        #expect(try findings(implied, "a.m3u8") { try sound(0, of: $0, channels: 1) }.count == 1)
        let eight = playlist("CHANNELS=\"8\"", codecs: "avc1.42c00a,ec-3")
        #expect(try findings(eight, "a.m3u8") { try sound(0, of: $0, channels: 6, codec: "eac3") }.isEmpty)
        #expect(try findings(implied, "a.m3u8") { try sound(0, of: $0, channels: nil, rate: nil) }.isEmpty)
    }

    private func manifest(_ schemes: [(String, String)], _ attributes: String = "") -> String {
        let elements = schemes.map { "<AudioChannelConfiguration schemeIdUri=\"\($0.0)\" value=\"\($0.1)\"/>" }
        return """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" \
            mediaPresentationDuration="PT4S" minBufferTime="PT2S"><Period><AdaptationSet mimeType="audio/mp4">\
            <SegmentTemplate media="$Number$" timescale="1" duration="2"/>\
            <Representation id="a" bandwidth="8000000" codecs="mp4a.40.2"\(attributes)>\(elements.joined())\
            </Representation></AdaptationSet></Period></MPD>
            """
    }

    @Test(
        "The channels of each scheme are compared with the sound",
        arguments: [
            ("urn:mpeg:dash:23003:3:audio_channel_configuration:2011", "6", 6),
            ("urn:mpeg:dash:23003:3:audio_channel_configuration:2011", "7", 8),
            ("urn:mpeg:mpegB:cicp:ChannelConfiguration", "1", 1), ("urn:mpeg:mpegB:cicp:ChannelConfiguration", "2", 2),
            ("urn:mpeg:mpegB:cicp:ChannelConfiguration", "6", 6), ("urn:mpeg:mpegB:cicp:ChannelConfiguration", "7", 8),
            ("urn:mpeg:mpegB:cicp:ChannelConfiguration", "9", 3), ("urn:mpeg:mpegB:cicp:ChannelConfiguration", "12", 8),
            ("urn:mpeg:mpegB:cicp:ChannelConfiguration", "13", 24),
            ("urn:mpeg:mpegB:cicp:ChannelConfiguration", "19", 12),
            ("tag:dolby.com,2014:dash:audio_channel_configuration:2011", "A000", 2),
            ("tag:dolby.com,2014:dash:audio_channel_configuration:2011", "F801", 6),
            ("urn:dolby:dash:audio_channel_configuration:2011", "fa01", 8),
            ("urn:dolby:dash:audio_channel_configuration:2011", "4000", 1),
            ("urn:dts:dash:audio_channel_configuration:2012", "6", 6),
            ("tag:dts.com,2014:dash:audio_channel_configuration:2012", "2", 2),
            ("urn:mpeg:dash:outputChannelPositionList:2012", "2 0 1 4 5 3", 6),
        ]
    )
    func schemes(scheme: String, value: String, channels: Int) throws {
        let text = manifest([(scheme, value)])
        #expect(try findings(text, "a.mpd") { try sound(0, of: $0, channels: channels) }.isEmpty)
        let other = try findings(text, "a.mpd") { try sound(0, of: $0, channels: channels + 1) }
        let expected = "\(channels) channel\(channels == 1 ? "" : "s"), as value=\"\(value)\" declares"
        #expect(other == ["\(channels + 1) channels in segment 0; \(expected)"])
        // One scheme that fits is enough, and one that is not known says nothing.
        let both = manifest([(scheme, value), ("urn:mpeg:mpegB:cicp:ChannelConfiguration", "10"), ("urn:x", "99")])
        #expect(try findings(both, "a.mpd") { try sound(0, of: $0, channels: channels) }.isEmpty)
    }

    @Test(
        "A value that its scheme does not have is named",
        arguments: [
            ("urn:mpeg:mpegB:cicp:ChannelConfiguration", "0"), ("urn:mpeg:mpegB:cicp:ChannelConfiguration", "stereo"),
            ("urn:mpeg:mpegB:cicp:ChannelConfiguration", "99"),
            ("urn:dolby:dash:audio_channel_configuration:2011", "2"),
            ("urn:dolby:dash:audio_channel_configuration:2011", "0000"),
            ("urn:mpeg:dash:23003:3:audio_channel_configuration:2011", ""),
            ("urn:mpeg:dash:outputChannelPositionList:2012", "L R"),
        ]
    )
    func values(scheme: String, value: String) throws {
        let found = try findings(manifest([(scheme, value)]), "a.mpd") { try sound(0, of: $0) }
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("`value=\"\(value)\"` in `AudioChannelConfiguration`; ") == true, "\(found)")
    }

    @Test("The sampling rate of an MPD may be that of the core of a replicated band, or its double")
    func rates() throws {
        func found(_ attribute: String, _ rate: Int) throws -> [String] {
            try findings(manifest([], " audioSamplingRate=\"\(attribute)\""), "a.mpd") {
                try sound(0, of: $0, rate: rate)
            }
        }
        #expect(try found("48000", 48_000).isEmpty && found("48000", 24_000).isEmpty && found("24000", 48_000).isEmpty)
        #expect(try found("24000 48000", 48_000).isEmpty && found("", 48_000).isEmpty)
        #expect(try found("44100", 48_000).count == 1)
    }

    @Test("A change of size, channels or sampling rate is found once, and is legal behind a discontinuity")
    func changes() throws {
        var run = RuleRun(rules: [.encodingChanged])
        run.observe(try fetched(playlist("CHANNELS=\"2\""), 0, "a.m3u8"), as: .root)
        let rendition = try #require(run.history.presentation?.renditions.first { $0.kind == .audio }).id.description
        func segment(_ number: Int, _ width: Int, _ channels: Int, _ rate: Int, cut: Int64 = 0) throws {
            var facts = try sound(number, of: rendition, channels: channels, rate: rate)
            var picture = SegmentFacts.Track(isVideo: true, codec: "h264", start: 0, end: 2_000_000_000)
            picture.size = Resolution(width: width, height: 90)
            facts.tracks.append(picture)
            (facts.discontinuity, facts.byteCount) = (cut, 1000)
            run.observe(facts)
        }
        try segment(0, 160, 2, 48_000)
        try segment(1, 320, 2, 48_000)
        try segment(2, 320, 6, 48_000)
        try segment(3, 320, 6, 44_100)
        try segment(4, 320, 6, 44_100)
        try segment(5, 160, 2, 48_000, cut: 1)
        #expect(
            run.findings.map { "\($0.problem.found); \($0.problem.expected)" } == [
                "320×90 in segment 1; 160×90 as in segment 0, or EXT-X-DISCONTINUITY before it",
                "6 channels in segment 2; 2 channels as in segment 1, or EXT-X-DISCONTINUITY before it",
                "44100 Hz in segment 3; 48000 Hz as in segment 2, or EXT-X-DISCONTINUITY before it",
            ]
        )
    }
}
