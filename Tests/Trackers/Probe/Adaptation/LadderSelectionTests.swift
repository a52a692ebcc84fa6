import Instrument
import InstrumentHTTP
import InstrumentManifests
import Testing

@testable import InstrumentProbe

/// hls.js 1.7.1, src/controller/level-controller.ts:217–223 and src/utils/rendition-helper.ts, `getStartCodecTier`.
@Suite("Variants in the ladder of hls.js")
struct LadderSelectionTests {
    private func presentation(_ lines: [String]) throws -> Presentation {
        let streams = lines.enumerated().map { "#EXT-X-STREAM-INF:\($1)\nv\($0).m3u8\n" }.joined()
        return try Presentation(
            parsing: Array("#EXTM3U\n\(streams)".utf8),
            at: HTTPURL("http://origin.example/master.m3u8"),
            now: WallTime(milliseconds: 0)
        )
    }

    /// The bitrates in the ladder, kbit/s.
    private func ladder(_ lines: [String], _ selection: LadderSelection = .hlsJS) throws -> [Int64] {
        let presentation = try presentation(lines)
        return selection.places(in: presentation).map { presentation.variants[$0].peakBitrate / 1000 }
    }

    private func stream(_ kilobits: Int, _ codecs: String, lines: Int? = nil) -> String {
        let size = lines.map { ",RESOLUTION=\($0 * 16 / 9)x\($0)" } ?? ""
        return "BANDWIDTH=\(kilobits)000,CODECS=\"\(codecs)\"\(size)"
    }

    @Test("A variant without a picture is left out if others have one")
    func audioOnly() throws {
        let lines = [
            stream(64, "mp4a.40.2"), stream(400, "avc1.42c01e,mp4a.40.2", lines: 180),
            stream(900, "avc1.42c01e,mp4a.40.2", lines: 360),
        ]
        #expect(try ladder(lines) == [400, 900])
        #expect(try ladder(lines, LadderSelection()) == [64, 400, 900])
        #expect(try ladder([lines[0], stream(128, "mp4a.40.2")]) == [64, 128])
        // HlsMediaPeriod.java:599–640.
        #expect(try ladder(lines, PlayerProfile.exoPlayer.ladderSelection) == [400, 900])
    }

    @Test("The ladder has one kind of codecs: the most efficient whose lowest variant the first listed bitrate carries")
    func codecs() throws {
        let avc = [stream(500, "avc1.42c01e,mp4a.40.2"), stream(2000, "avc1.42c01e,mp4a.40.2")]
        let av1 = [stream(300, "av01.0.04M.08,mp4a.40.2"), stream(1200, "av01.0.04M.08,mp4a.40.2")]
        #expect(try ladder(avc + av1) == [300, 1200])
        #expect(try ladder(av1 + avc) == [300, 1200])
        // Its lowest variant is above the first listed bitrate.
        let large = [stream(600, "av01.0.04M.08,mp4a.40.2"), stream(1200, "av01.0.04M.08,mp4a.40.2")]
        #expect(try ladder(avc + large) == [500, 2000])
        #expect(try ladder(avc + large, LadderSelection()) == [500, 600, 1200, 2000])
        // Pictures of more than 1080 lines only.
        let huge = [stream(400, "av01.0.04M.08,mp4a.40.2", lines: 2160)]
        #expect(try ladder([stream(500, "avc1.42c01e,mp4a.40.2", lines: 360)] + huge) == [500])
    }

    @Test("Without declared codecs, all variants are in the ladder")
    func undeclared() throws {
        #expect(try ladder(["BANDWIDTH=400000", "BANDWIDTH=900000"]) == [400, 900])
    }

    @Test("hls.js passes over higher rungs with fewer frames per second, and lower rungs with more")
    func frameRates() {
        // src/controller/abr-controller.ts:934.
        let ladder = BitrateLadder(
            LadderRung(peakBitrate: 500_000, frameRate: 50),
            LadderRung(peakBitrate: 1_000_000, frameRate: 25),
            LadderRung(peakBitrate: 2_000_000, frameRate: 50),
            LadderRung(peakBitrate: 4_000_000, frameRate: 25)
        )
        var rule = ThroughputRule.hlsJS
        let decide = { (rule: inout ThroughputRule, current: Int, kilobits: Int) in
            rule.decide(in: context(ladder, current: current, level: 20, throughput: history((4, kilobits)))).rung
        }
        #expect(decide(&rule, 2, 20_000) == 2)
        #expect(decide(&rule, 1, 20_000) == 3)
        #expect(decide(&rule, 3, 1_200) == 1)
    }
}
