import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Profiles of players in browsers fail where no browser plays the media", .ownThread)
struct AcceptanceTests {
    private static let browsers: [PlayerProfile] = [.hlsJS, .dashJS, .shaka]
    private static let others: [PlayerProfile] = [.standard, .avPlayer, .exoPlayer, .mpv]

    /// Plays a folder whose files `change` may replace, with codecs that the multivariant playlist declares.
    private func play(
        _ folder: Result<String, FixtureError>,
        _ profile: PlayerProfile,
        codecs: String? = nil,
        change: @escaping @Sendable (String, [UInt8]) -> [UInt8] = { $1 }
    ) async throws -> Played {
        let folder = try folder.get()
        let declared = codecs.map { ",CODECS=\"\($0)\"" } ?? ""
        let main = Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=900000\(declared)\nmedia.m3u8\n".utf8)
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { path in
            let name = String(path.dropFirst())
            if name == "main.m3u8" { return main }
            return (try? Fixtures.data(folder + "/" + name)).map { change(name, [UInt8]($0)) }
        }
        return await playStream("/main.m3u8", over: network, clock, ProbeConfiguration(profile: profile))
    }

    private func warnings(_ played: Played) -> [String] {
        played.all(.streamWarning).compactMap { $0.attributes[.warningCode] }
    }

    /// An initialization section whose AAC has no AudioSpecificConfig.
    private static let withoutConfiguration: @Sendable (String, [UInt8]) -> [UInt8] = { name, bytes in
        guard name == "init.mp4" else { return bytes }
        let path = ["moov", "trak", "mdia", "minf", "stbl", "stsd", "mp4a", "esds"]
        let stream: [UInt8] = [0, 1, 0, 4, 13, 0x40, 0x15] + [UInt8](repeating: 0, count: 11) + [6, 1, 2]
        return BoxEditor.edit(bytes, path) { _ in [0, 0, 0, 0, 3, UInt8(stream.count)] + stream }
    }

    @Test("A broken initialization section is an error that ends the playback", arguments: browsers)
    func section(profile: PlayerProfile) async throws {
        let played = try await play(Fixtures.hlsMP4, profile, change: Self.withoutConfiguration)
        guard case .failed(let error) = played.outcome else {
            Issue.record("\(played.story)")
            return
        }
        #expect(error.code == .unplayableMedia && error.phase == .initialization)
        #expect(error.url == "http://origin.example/init.mp4" && error.message.contains("AudioSpecificConfig"))
        #expect(played.first(.start) == nil && played.all(.error).count == 1)
    }

    @Test("A broken initialization section is a warning for players with separate demuxers", arguments: others)
    func tolerated(profile: PlayerProfile) async throws {
        let played = try await play(Fixtures.hlsMP4, profile, change: Self.withoutConfiguration)
        #expect(played.outcome == .ended && warnings(played) == ["unplayableMedia"], "\(played.story)")
    }

    @Test(
        "Fragments without their decoding time end the playback in a browser",
        arguments: [PlayerProfile.hlsJS, .standard]
    )
    func fragments(profile: PlayerProfile) async throws {
        let played = try await play(Fixtures.hlsMP4, profile) { name, bytes in
            name.hasSuffix(".m4s") ? BoxEditor.edit(bytes, ["moof", "traf", "tfdt"]) { _ in nil } : bytes
        }
        if profile == .standard {
            #expect(warnings(played).contains("unplayableMedia"), "\(played.story)")
        } else if case .failed(let error) = played.outcome {
            #expect(error.code == .unplayableMedia && error.phase == .segment && error.message.contains("tfdt"))
        } else {
            Issue.record("\(played.story)")
        }
    }

    @Test("Good media gives neither an error nor a warning", arguments: browsers + others)
    func good(profile: PlayerProfile) async throws {
        for folder in [Fixtures.hlsMP4, Fixtures.hlsTS] {
            let played = try await play(folder, profile, codecs: "avc1.42c00d,mp4a.40.2")
            #expect(played.outcome == .ended && !warnings(played).contains("unplayableMedia"), "\(played.story)")
        }
    }

    @Test(
        "Declared codecs that contradict the media end the playback where the player's buffers have them",
        arguments: browsers + others
    )
    func contradiction(profile: PlayerProfile) async throws {
        let played = try await play(Fixtures.hlsMP4, profile, codecs: "hvc1.1.6.L93.90,mp4a.40.2")
        if profile == .dashJS || profile == .shaka {
            guard case .failed(let error) = played.outcome else {
                Issue.record("\(played.story)")
                return
            }
            #expect(error.code == .unplayableMedia && error.message.contains("hvc1.1.6.L93.90"))
        } else {
            #expect(played.outcome == .ended && warnings(played) == ["unplayableMedia"], "\(played.story)")
        }
    }

    @Test(
        "A transport stream without a codec that transmuxers read ends the playback in a browser",
        arguments: ["mpeg2video mp2", "mpeg2video aac", "libx264 mp2"]
    )
    func transportStream(codecs: String) async throws {
        let names = codecs.split(separator: " ")
        let folder = Fixtures.segments("hls-\(names[0])-\(names[1])", ["-c:v", "\(names[0])", "-c:a", "\(names[1])"])
        let refused = try await play(folder, .hlsJS)
        if codecs == "mpeg2video mp2" {
            guard case .failed(let error) = refused.outcome else {
                Issue.record("\(refused.story)")
                return
            }
            #expect(error.code == .unplayableMedia && error.message.contains("MPEG-2 video and MPEG audio layer 2"))
        } else {
            #expect(refused.outcome == .ended && warnings(refused) == ["unplayableMedia"], "\(refused.story)")
        }
        let played = try await play(folder, .standard)
        #expect(played.outcome == .ended && warnings(played) == ["unplayableMedia"], "\(played.story)")
    }
}
