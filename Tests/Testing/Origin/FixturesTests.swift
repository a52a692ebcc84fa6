import Foundation
import Instrument
import LoopbackServers
import NIOCore
import TestTraits
import Testing

@testable import InstrumentOrigin

@Suite("The fixtures", .ownThread, .timeLimit(.minutes(30)))
struct FixturesTests {
    @Test("Fixtures that are generated twice are equal, byte for byte")
    func deterministic() async throws {
        let manager = FileManager.default
        let other = manager.temporaryDirectory.path + "/" + UUID().uuidString
        defer { try? manager.removeItem(atPath: other) }
        let first = try await SharedFixtures.get()
        let second = try await Fixtures.make(in: other)
        let names = try manager.contentsOfDirectory(atPath: first.directory).sorted()
        #expect(try manager.contentsOfDirectory(atPath: second.directory).sorted() == names)
        // Three transport streams, five fragmented files, five in parts, twelve encrypted segments, a film.
        #expect(names.count == 26)
        for name in names {
            let same = manager.contentsEqual(
                atPath: first.directory + "/" + name,
                andPath: second.directory + "/" + name
            )
            #expect(same, "\(name)")
        }
        // Nothing is left of the way there.
        #expect(try manager.contentsOfDirectory(atPath: other).count == 1)
    }

    @Test("The error without ffmpeg says what to do")
    func noProgram() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let error = await #expect(throws: OriginError.self) {
            _ = try await Fixtures.make(in: folder, ffmpeg: "no-such-ffmpeg")
        }
        #expect(error?.code == .cannotMakeFixtures && error?.description.contains("Install ffmpeg") == true)
    }

    @Test("Segments of a transport stream have exactly their bitrate, and start with their tables")
    func transport() async throws {
        let fixtures = try await SharedFixtures.get()
        #expect(Fixtures.variants.map(\.transportSegmentLength) == [100_016, 262_636, 625_100])
        for (rendition, bytes) in zip(Fixtures.variants, fixtures.transport) {
            #expect(bytes.readableBytes == rendition.transportSegmentLength * fixtures.segmentCount)
            for offset in stride(from: 0, to: bytes.readableBytes, by: 188) {
                #expect(bytes.getInteger(at: offset, as: UInt8.self) == 0x47)
            }
            let track = try #require(fixtures.track(rendition.name, .transport))
            for number in 0..<fixtures.segmentCount {
                let packet = try #require(track.body(number)?.bytes(at: 0, count: 4)).readableBytesView
                // A service description or a program association table, at the start of a unit.
                #expect(packet[packet.startIndex + 1] == 0x40 && [0x00, 0x11].contains(packet[packet.startIndex + 2]))
            }
        }
    }

    @Test("A fragment of a later loop differs only in its decode time")
    func loops() async throws {
        let fixtures = try await SharedFixtures.get()
        for file in fixtures.video + fixtures.audio {
            #expect(file.fragments.count == fixtures.segmentCount)
            #expect(file.duration == fixtures.seconds * file.timescale)
            let first = try #require(file.body(of: 3, round: 0).flatMap { $0.bytes(at: 0, count: $0.count) })
            let later = try #require(file.body(of: 3, round: 5).flatMap { $0.bytes(at: 0, count: $0.count) })
            let changed = zip(first.readableBytesView, later.readableBytesView).filter { $0 != $1 }
            #expect(first.readableBytes == later.readableBytes && (1...8).contains(changed.count))
            let type = try #require(Box.first("moof", in: first, range: 0..<first.readableBytes))
            #expect(type.lowerBound == 0)
        }
    }

    @Test("The reader of fragments does not trap on damaged files")
    func damaged() async throws {
        let fixtures = try await SharedFixtures.get()
        let file = fixtures.audio[0].bytes
        let end = fixtures.audio[0].index.upperBound
        for place in 0..<end {
            for value in [UInt8(0), 0x7F, 0xFF] {
                var copy = file
                copy.setInteger(value, at: place)
                if let damaged = FragmentedFile(copy) {
                    for number in damaged.fragments.indices { _ = damaged.body(of: number, round: 1) }
                }
            }
        }
        for length in stride(from: 0, to: end + 100, by: 7) {
            _ = file.getSlice(at: 0, length: length).flatMap { FragmentedFile($0) }
        }
    }

    @Test(
        "ffmpeg reads every variant to its end without a warning",
        arguments: [
            "vod/ts/master.m3u8", "vod/ts6/master.m3u8", "vod/fmp4/master.m3u8", "vod/range/master.m3u8",
            "vod/aes/index.m3u8",
            "vod/dash/number.mpd", "vod/dash/time.mpd", "vod/dash/timeline.mpd", "vod/dash/list.mpd",
            "vod/dash/base.mpd",
            "vod/movie.mp4", "vod/movie.ts",
        ]
    )
    func plays(path: String) async throws {
        let origin = try await Origin.start(media: [.fixtures(try await SharedFixtures.get())])
        let result = try await command(
            ["timeout", "1800", "ffmpeg", "-nostdin", "-v", "warning", "-i", origin.url(path)]
                + ["-map", "0:v:0", "-map", "0:a:0", "-f", "framecrc", "-"]
        )
        // With constant durations ffmpeg 5.1 asks for one segment more than there are.
        let isOneTooMany = path == "vod/dash/number.mpd"
        #expect(result.status == 0 && (result.errors.isEmpty || isOneTooMany), "\(result.errors)")
        let lines = result.output.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.filter { $0.hasPrefix("0,") }.count == 600)
        #expect(abs(lines.filter { $0.hasPrefix("1,") }.count - 1_125) <= 1)
        let failed = origin.requests.filter { $0.status != 200 && $0.status != 206 }
        #expect(failed.allSatisfy { isOneTooMany && $0.path.hasSuffix("/12.m4s") })
        await origin.stop()
    }

    @Test(
        "ffprobe reports the properties that the manifests declare",
        arguments: ["vod/ts/master.m3u8", "vod/fmp4/master.m3u8", "vod/dash/number.mpd"]
    )
    func probes(path: String) async throws {
        let origin = try await Origin.start(media: [.fixtures(try await SharedFixtures.get())])
        let result = try await command(
            [
                "timeout", "1800", "ffprobe", "-v", "error", "-show_entries",
                "stream=codec_name,width,height:stream_tags=language",
            ]
                + ["-of", "csv=p=0", origin.url(path)]
        )
        for size in ["320,180", "640,360", "854,480"] { #expect(result.output.contains("h264,\(size)"), "\(result)") }
        #expect(result.output.contains("aac") && result.errors.isEmpty)
        await origin.stop()
    }
}
