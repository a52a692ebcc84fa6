internal import Foundation
internal import Instrument
internal import InstrumentHTTP
import LoopbackServers
internal import TestTraits
import Testing

@testable internal import InstrumentManifests

/// Manifests as the ffmpeg command line writes them.
@Suite(.ownThread) struct PackagerTests {
    private func package(_ arguments: [String], _ file: String) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "instrument-manifests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.currentDirectoryURL = folder
        process.standardError = FileHandle.nullDevice
        let source = ["-f", "lavfi", "-i", "testsrc2=size=64x36:rate=25", "-f", "lavfi", "-i", "sine", "-t", "8"]
        let coding = ["-c:v", "mpeg4", "-g", "50", "-c:a", "aac", "-b:v", "100k"]
        process.arguments = ["ffmpeg", "-nostdin", "-v", "error"] + source + coding + arguments + [file]
        try process.start()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return Array(try Data(contentsOf: folder.appending(path: file)))
    }

    @Test func aPlaylistOfTransportStreamsIsRead() throws {
        let bytes = try package(
            ["-f", "hls", "-hls_time", "2", "-hls_list_size", "0", "-hls_flags", "program_date_time"],
            "a.m3u8"
        )
        let show = try Presentation(parsing: bytes, at: address(), now: now)
        guard case .loaded(let playlist) = show.renditions[0].source else {
            throw ManifestError(.malformed, "not loaded")
        }
        #expect(show.kind == .onDemand && playlist.segments.count == 4 && playlist.container == .transportStream)
        #expect(
            abs(playlist.duration - 8 * second) < second / 10 && playlist.segments.allSatisfy { $0.wallTime != nil }
        )
        #expect(playlist.notices.isEmpty)
    }

    @Test func aSingleFileOfFragmentsIsRead() throws {
        let options = [
            "-f", "hls", "-hls_time", "2", "-hls_list_size", "0", "-hls_segment_type", "fmp4", "-hls_flags",
            "single_file",
        ]
        let playlist = try mediaPlaylist(String(decoding: package(options, "a.m3u8"), as: UTF8.self))
        #expect(playlist.segments.count == 4 && playlist.container == .fragmentedMP4)
        for (segment, next) in zip(playlist.segments, playlist.segments.dropFirst()) {
            #expect(next.byteRange?.offset == (segment.byteRange?.offset ?? 0) + (segment.byteRange?.length ?? 0))
            #expect(next.initialization == segment.initialization)
        }
    }

    @Test(arguments: [["-use_timeline", "1"], ["-use_timeline", "0", "-seg_duration", "2"]])
    func aPresentationDescriptionIsRead(options: [String]) throws {
        let bytes = try package(["-f", "dash", "-seg_duration", "2"] + options, "a.mpd")
        let show = try Presentation(parsing: bytes, at: address("https://media.test/show/a.mpd"), now: now)
        #expect(show.kind == .onDemand && show.variants.count == 1 && show.renditions.count == 2)
        let (video, audio) = (try show.segments(.video), try show.segments(.audio))
        #expect(video.count == 4 && (4...5).contains(audio.count))
        #expect(
            video.first?.url.path == "/show/chunk-stream0-00001.m4s"
                && video.first?.initialization?.url.path == "/show/init-stream0.m4s"
        )
        #expect(abs(video.end - 8 * second) < second / 5 && abs(audio.end - 8 * second) < second / 5)
    }
}
