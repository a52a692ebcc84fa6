import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Encrypted samples: their times are played without a key", .ownThread)
struct EncryptedSampleTests {
    private static func bytes(_ folder: Result<String, FixtureError>, _ name: String) throws -> [UInt8] {
        [UInt8](try Fixtures.data(folder.get() + "/" + name))
    }

    @Test("Segments with Common Encryption have the times, keyframes and pictures of the same segments without it")
    func times() throws {
        var (plain, protected) = (SegmentReader(), SegmentReader())
        for number in 0..<6 {
            let contents = try [(plain, Fixtures.hlsMP4), (protected, Fixtures.hlsProtected)].map { reader, folder in
                var reader = reader
                let content = try reader.read(
                    Self.bytes(folder, "media\(number).m4s"),
                    initialization: Self.bytes(folder, "init.mp4"),
                    inspecting: number == 0
                )
                return (reader, content)
            }
            (plain, protected) = (contents[0].0, contents[1].0)
            let (expected, found) = (contents[0].1, contents[1].1)
            #expect(found.hasTimes(of: expected), "segment \(number)")
            #expect(found.video?.pictureSize == expected.video?.pictureSize)
            #expect(found.video?.codec == expected.video?.codec && found.audio?.codec == expected.audio?.codec)
        }
        // Only the first look, and the inspection, need libavformat.
        #expect(plain.ownCount >= 4 && protected.ownCount == plain.ownCount)
    }

    /// The playlist with a key whose format the probe does not know.
    private func play(method: String, format: String) async throws -> (played: Played, names: [String]) {
        let folder = try Fixtures.hlsProtected.get()
        let text = String(decoding: try Fixtures.data(folder + "/media.m3u8"), as: UTF8.self)
        let key = "#EXT-X-KEY:METHOD=\(method),URI=\"skd://key\",KEYFORMAT=\"\(format)\"\n#EXTINF"
        let range = try #require(text.range(of: "#EXTINF"))
        let playlist = Array(text.replacingCharacters(in: range, with: key).utf8)
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { path in
            let name = String(path.dropFirst())
            if name == "media.m3u8" { return playlist }
            return (try? Fixtures.data(folder + "/" + name)).map { [UInt8]($0) }
        }
        let configuration = ProbeConfiguration(profile: .plain(use: .progressive))
        return (await playStream("/media.m3u8", over: network, clock, configuration), network.names)
    }

    @Test("A stream with FairPlay is played to its end, with one warning about the key and without a request for a key")
    func fairPlay() async throws {
        let (played, names) = try await play(method: "SAMPLE-AES", format: "com.apple.streamingkeydelivery")
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(names == ["media.m3u8", "init.mp4"] + (0...5).map { "media\($0).m4s" })
        // This ffmpeg's fragments have no initialization vectors, so that no browser plays them.
        let warnings = played.all(.streamWarning).compactMap { $0.attributes[.warningCode] }
        #expect(Set(warnings) == ["notSupported", "unplayableMedia"] && warnings.count == 2, "\(warnings)")
        let start = try #require(played.first(.start))
        #expect(start.attributes[.resolutionHeight] != nil)
        #expect(!played.actions.contains(.error))
    }

    @Test("A stream whose whole segments are encrypted for a system of rights management fails with the reason")
    func wholeSegments() async throws {
        let (played, names) = try await play(method: "AES-128", format: "com.example.drm")
        guard case .failed(let error) = played.outcome else {
            Issue.record("expected a failure, found \(String(describing: played.outcome))")
            return
        }
        #expect(error.code == .unsupportedStream && error.message.contains("AES-128 with com.example.drm"))
        #expect(!names.contains("media0.m4s"))
    }
}
