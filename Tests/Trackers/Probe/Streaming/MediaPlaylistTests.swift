import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Tags of media playlists in playback", .ownThread)
struct MediaPlaylistTests {
    private static func file(_ folder: String, _ name: String) -> [UInt8]? {
        (try? Fixtures.data(folder + "/" + name)).map { [UInt8]($0) }
    }

    @Test("Playback starts where the media playlist says, unless the multivariant playlist says otherwise")
    func startOffset() async throws {
        for (master, expected) in [("", "media5.ts"), ("#EXT-X-START:TIME-OFFSET=4\n", "media2.ts")] {
            let ladder = LongLadder(bitrates: [400_000], count: 12)
            let clock = VirtualClock()
            let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { path in
                guard let bytes = ladder.resource(path), path.hasSuffix("m3u8") else { return ladder.resource(path) }
                let tag = path.hasSuffix("media.m3u8") ? "#EXT-X-START:TIME-OFFSET=10\n" : master
                let text = String(decoding: bytes, as: UTF8.self)
                return Array(text.replacingOccurrences(of: "#EXTM3U\n", with: "#EXTM3U\n" + tag).utf8)
            }
            let played = await playStream("/master.m3u8", over: network, clock, ProbeConfiguration(profile: .plain()))
            #expect(played.outcome == .ended, "\(played.story)")
            #expect(network.names.first { $0.hasSuffix("ts") } == expected)
        }
    }

    @Test(
        "A start outside the playlist begins at its end or its beginning, as each player does it",
        arguments: [
            ("100", PlayerProfile.plain(), 11...11), ("24", .plain(), 11...11), ("-100", .plain(), 0...11),
            ("NaN", .plain(), 0...11), ("100", .mpv, 0...11), ("10", .mpv, 0...11), ("100", .hlsJS, 11...11),
            ("100", .exoPlayer, 11...11), ("100", .avPlayer, 11...11),
            ("-100", .shaka, 0...11),
        ] as [(String, PlayerProfile, ClosedRange<Int>)]
    )
    func startOutside(offset: String, profile: PlayerProfile, segments: ClosedRange<Int>) async throws {
        let (played, network) = await playStart(at: offset, profile)
        #expect(played.outcome == .ended, "\(played.story)")
        let names = Set(network.names.filter { $0.hasSuffix("ts") })
        #expect(names == Set(segments.map { "media\($0).ts" }), "\(network.names)")
    }

    @Test(
        "Shaka plays the last second of a recording whose start is at its end",
        arguments: ["24", "100", "23.5", "22"]
    )
    func shakaAtEnd(offset: String) async throws {
        let (played, network) = await playStart(at: offset, .shaka)
        #expect(played.outcome == .ended, "\(played.story)")
        // The first segment says which closed captions there are; Shaka loads from the segment before its place.
        let names = network.names.filter { $0.hasSuffix("ts") }
        #expect(Set(names) == ["media0.ts", "media10.ts", "media11.ts"], "\(names)")
        let length = try #require(played.time(.end)) - (try #require(played.time(.start)))
        #expect(abs(length - (offset == "22" ? 2_000 : 1_000)) <= 100, "\(played.story)")
    }

    /// Plays a recording of twelve segments of two seconds that declares a start.
    private func playStart(at offset: String, _ profile: PlayerProfile) async -> (Played, SimulatedNetwork) {
        let ladder = LongLadder(bitrates: [400_000], count: 12)
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { path in
            guard let bytes = ladder.resource(path), path.hasSuffix("media.m3u8") else { return ladder.resource(path) }
            let tag = "#EXT-X-START:TIME-OFFSET=\(offset)\n"
            return Array(String(decoding: bytes, as: UTF8.self).replacing("#EXTM3U\n", with: "#EXTM3U\n" + tag).utf8)
        }
        let played = await playStream("/master.m3u8", over: network, clock, ProbeConfiguration(profile: profile))
        return (played, network)
    }

    @Test("The initialization section of a live stream with encrypted samples is fetched once")
    func section() async throws {
        let folder = try Fixtures.hlsProtected.get()
        let clock = VirtualClock(startingAt: MonotonicInstant(nanoseconds: 6_000_000_000))
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { path in
            guard path == "/live.m3u8" else { return Self.file(folder, String(path.dropFirst())) }
            let there = min(6, Int(clock.now.nanoseconds / 2_000_000_000))
            var lines = [
                "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:2", "#EXT-X-MEDIA-SEQUENCE:\(there - 3)",
                "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://key\",KEYFORMAT=\"com.apple.streamingkeydelivery\"",
                "#EXT-X-MAP:URI=\"init.mp4\"",
            ]
            for number in (there - 3)..<there { lines += ["#EXTINF:2,", "media\(number).m4s"] }
            if there == 6 { lines.append("#EXT-X-ENDLIST") }
            return Array(lines.joined(separator: "\n").utf8)
        }
        let configuration = ProbeConfiguration(profile: .plain())
        let played = await playStream("/live.m3u8", over: network, clock, configuration, until: .seconds(60))
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(network.names.filter { $0 != "live.m3u8" } == ["init.mp4"] + (0..<6).map { "media\($0).m4s" })
    }

    /// A complete segment of two seconds, and then the parts of a second one, each encrypted by itself with the
    /// vector of the segment; a part comes every two seconds.
    private static func encryptedParts(at instant: Int64) -> String {
        let count = 1 + Int(instant / 2_000_000_000)
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:9", "#EXT-X-TARGETDURATION:10", "#EXT-X-PART-INF:PART-TARGET=2",
            "#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=4", "#EXT-X-MEDIA-SEQUENCE:0",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"key\",IV=0x000102030405060708090a0b0c0d0e0f",
            "#EXTINF:2,", "media0.ts",
        ]
        for part in 1...max(1, min(5, count)) {
            lines.append("#EXT-X-PART:DURATION=2,URI=\"media\(part).ts\",INDEPENDENT=YES")
        }
        if count >= 5 { lines += ["#EXTINF:10,", "whole.ts", "#EXT-X-ENDLIST"] }
        return lines.joined(separator: "\n")
    }

    @Test("Parts that are encrypted as a whole are fetched and decrypted one by one, without a stall")
    func encryptedParts() async throws {
        let folder = try Fixtures.hlsEncrypted.get()
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)]) { path in
            switch path {
            case "/live.m3u8": Array(Self.encryptedParts(at: clock.now.nanoseconds).utf8)
            case "/key": [UInt8](0..<16)
            default: Self.file(folder, String(path.dropFirst()))
            }
        }
        let live = LivePolicy(targetLatency: .targetDurations(1), usesParts: true)
        let configuration = ProbeConfiguration(profile: .plain(live: live))
        let played = await playStream("/live.m3u8", over: network, clock, configuration, until: .seconds(60))
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(played.all(.bufferBegin).count == 1 && played.all(.streamWarning).isEmpty, "\(played.story)")
        #expect(network.names.filter { $0 != "live.m3u8" } == ["key"] + (0..<6).map { "media\($0).ts" })
    }

    @Test("A playlist of keyframes alone is named as such, and not called truncated")
    func keyframesAlone() async throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-I-FRAMES-ONLY\n#EXTINF:2,\nmedia0.ts\n#EXT-X-ENDLIST\n"
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)]) { _ in Array(text.utf8) }
        let played = await playStream("/keys.m3u8", over: network, clock, ProbeConfiguration(profile: .plain()))
        guard case .failed(let error) = played.outcome else { return #expect(Bool(false), "\(played.story)") }
        #expect(error.code == .wrongContent && error.message.contains("keyframes alone"), "\(error)")
        #expect(network.names == ["keys.m3u8"])
    }
}
