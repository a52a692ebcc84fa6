import Foundation
import Instrument
import InstrumentAds
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
        declared attributes: String = "",
        change: @escaping @Sendable (String, [UInt8]) -> [UInt8] = { $1 }
    ) async throws -> Played {
        let folder = try folder.get()
        let declared = codecs.map { ",CODECS=\"\($0)\"" } ?? attributes
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

    /// What a player does with a transport stream.
    enum Reaction { case fails, drops, plays }

    @Test(
        "Of a transport stream, a player in a browser plays the tracks that its transmuxer reads",
        arguments: [
            ("mpeg2video dca", "-strict -2 -b:a 256k", nil, .fails, .fails, "MPEG-2 video and DTS audio"),
            ("mpeg2video aac", "", nil, .drops, .drops, "MPEG-2 video"), ("libx264 mp2", "", nil, .plays, .plays, ""),
            ("libx264 eac3", "", nil, .fails, .plays, "Enhanced AC-3"),
            // A private stream, as DVB has it.
            ("libx264 eac3", "", 0x06, .drops, .plays, "Enhanced AC-3"),
            ("libx264 aac", "-hls_segment_options mpegts_flags=latm", 0x11, .drops, .plays, "LATM"),
        ] as [(String, String, UInt8?, Reaction, Reaction, String)]
    )
    func transportStream(
        codecs: String,
        options: String,
        type: UInt8?,
        hlsJS: Reaction,
        shaka: Reaction,
        word: String
    ) async throws {
        let names = codecs.split(separator: " ")
        let name = "hls-" + (codecs + options).filter { $0.isLetter || $0.isNumber }
        let coding = ["-c:v", "\(names[0])", "-c:a", "\(names[1])"]
        let folder = Fixtures.segments(name, coding + options.split(separator: " ").map(String.init))
        let change: @Sendable (String, [UInt8]) -> [UInt8] = { name, bytes in
            guard name.hasSuffix(".ts"), let type else { return bytes }
            return Self.retyped(bytes, to: type)
        }
        for (profile, expected) in [(PlayerProfile.hlsJS, hlsJS), (.shaka, shaka)] {
            let played = try await play(folder, profile, change: change)
            switch expected {
            case .fails:
                guard case .failed(let error) = played.outcome else {
                    Issue.record("\(profile.name): \(played.story)")
                    continue
                }
                #expect(error.code == .unplayableMedia && error.message.contains(word), "\(error)")
            case .drops: #expect(played.outcome == .ended && warnings(played) == ["unplayableMedia"], "\(played.story)")
            case .plays: #expect(played.outcome == .ended && warnings(played).isEmpty, "\(played.story)")
            }
        }
        // Other players have the codecs; the probe warns of what no transmuxer reads.
        let played = try await play(folder, .standard, change: change)
        let expected = shaka == .plays ? [] : ["unplayableMedia"]
        #expect(played.outcome == .ended && warnings(played) == expected, "\(played.story)")
    }

    /// A transport stream of ffmpeg whose sound has another type in the map of the program.
    private static func retyped(_ segment: [UInt8], to type: UInt8) -> [UInt8] {
        var bytes = segment
        for packet in stride(from: 0, to: bytes.count, by: 188) where bytes[packet + 1] & 0x1F == 0x10 {
            guard bytes[packet + 2] == 0 else { continue }
            let start = packet + 5 + Int(bytes[packet + 4])
            let end = start + 3 + (Int(bytes[start + 1] & 0x0F) << 8 | Int(bytes[start + 2]))
            var stream = start + 12 + Int(bytes[start + 11])
            while stream < end - 4 {
                if bytes[stream] != 0x1B { bytes[stream] = type }
                stream += 5 + Int(bytes[stream + 4])
            }
            let checksum = CRC32MPEG2.checksum(of: bytes[start..<(end - 4)])
            bytes.replaceSubrange((end - 4)..<end, with: withUnsafeBytes(of: checksum.bigEndian) { Array($0) })
        }
        return bytes
    }

    @Test("MP3 in MP4 ends the playback in Chromium, and other players get no warning", arguments: browsers + others)
    func mpegAudio(profile: PlayerProfile) async throws {
        let options = ["-c:a", "libmp3lame", "-hls_segment_type", "fmp4"]
        let played = try await play(Fixtures.segments("hls-mp4-mp3", options), profile)
        if Self.others.contains(profile) {
            #expect(played.outcome == .ended && warnings(played).isEmpty, "\(played.story)")
        } else if case .failed(let error) = played.outcome {
            #expect(error.code == .unplayableMedia && error.message.contains("MPEG audio"))
        } else {
            Issue.record("\(played.story)")
        }
    }

    @Test(
        "Anamorphic pictures may be declared as they are coded, or as they are shown",
        arguments: [
            ("240x180", true), ("320x180", true), ("240x136", true), ("320x240", false), ("426x240", false),
        ]
    )
    func anamorphic(resolution: String, isRight: Bool) async throws {
        for isFragmented in [false, true] { try await anamorphic(resolution, isRight, isFragmented) }
    }

    private func anamorphic(_ resolution: String, _ isRight: Bool, _ isFragmented: Bool) async throws {
        let kind = isFragmented ? ["-hls_segment_type", "fmp4"] : []
        let options = ["-vf", "scale=240:180,setsar=4/3"] + kind
        let folder = Fixtures.segments("hls-anamorphic-\(isFragmented)", options)
        let played = try await play(folder, .standard, declared: ",RESOLUTION=\(resolution)")
        #expect(warnings(played) == (isRight ? [] : ["wrongResolution"]), "\(played.story)")
    }
}
