import Foundation
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("The duration of an MP4 file", .ownThread)
struct MovieDurationTests {
    /// Plays bytes as a file.
    private func play(_ bytes: [UInt8]) async throws -> Played {
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).mp4")
        try Data(bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return await playThrough(url.path)
    }

    /// Writes all ones over the duration of a box of version 0, whose content has it at an offset.
    private func unknown(_ bytes: [UInt8], _ path: [String], at offset: Int) -> [UInt8] {
        BoxEditor.edit(bytes, path) { content in
            var content = content
            if content.count >= offset + 4 { content.replaceSubrange(offset..<offset + 4, with: [255, 255, 255, 255]) }
            return content
        }
    }

    @Test("A duration of all ones is unknown, and the file plays to its end")
    func allOnes() async throws {
        let film = [UInt8](try Fixtures.data(Fixtures.mp4.get()))
        let fragments = [UInt8](try Fixtures.data(Fixtures.fragmented("durations", "").get()))
        for bytes in [film, fragments] {
            let tracks = unknown(
                unknown(bytes, ["moov", "trak", "mdia", "mdhd"], at: 16),
                ["moov", "trak", "tkhd"],
                at: 20
            )
            let movie = ["moov", "mvhd"]
            for changed in [tracks, unknown(tracks, movie, at: 16), unknown(bytes, movie, at: 16)] {
                let played = try await play(changed)
                #expect(played.outcome == .ended, "\(played.story)")
            }
        }
    }

    @Test("A file plays to its end when the movie claims to be longer than its tracks")
    func longMovie() async throws {
        let film = [UInt8](try Fixtures.data(Fixtures.mp4.get()))
        let longer = BoxEditor.edit(film, ["moov", "mvhd"]) { content in
            var content = content
            content.replaceSubrange(16..<20, with: [0, 1, 0, 0])
            return content
        }
        let played = try await play(longer)
        #expect(played.outcome == .ended, "\(played.story)")
    }

    @Test("Empty edits in front of all media are no missing media")
    func emptyEdit() async throws {
        let late = try Fixtures.lateMP4.get()
        let played = await playThrough(late)
        #expect(played.outcome == .ended, "\(played.story)")
    }
}
