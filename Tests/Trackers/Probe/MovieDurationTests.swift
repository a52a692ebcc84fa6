import Foundation
import Instrument
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
                // A bit rate that follows from such a duration is a few bits per second.
                let bitrate = played.first(.end)?.attributes[.bitrate] ?? .max
                #expect(bitrate > 10_000, "\(bitrate)")
            }
        }
    }

    @Test("An empty edit between media lasts as long as it says")
    func emptyEditInside() async throws {
        let film = [UInt8](try Fixtures.data(Fixtures.mp4AtEnd.get()))
        func bytes(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        func number(_ bytes: some Sequence<UInt8>) -> Int { bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) } }
        let edited = BoxEditor.edit(film, ["moov", "trak"]) { track in
            // Of version 0: flags, two dates, the time scale.
            guard let header = track.firstRange(of: "mdhd".utf8)?.upperBound else { return track }
            let scale = number(track[(header + 12)...])
            return BoxEditor.edit(track, ["edts", "elst"]) { content in
                let (duration, start) = (number(content.dropFirst(8)), number(content.dropFirst(12)))
                let edits = [(1_000, start), (1_000, -1), (duration - 1_000, start + scale)]
                return bytes(0) + bytes(edits.count) + edits.flatMap { bytes($0.0) + bytes($0.1) + bytes(0x10000) }
            }
        }
        #expect(edited.count > film.count)
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).mp4")
        try Data(edited).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let duration = try #require(MediaSource(url.path).declaredDuration(timeout: .seconds(1_800)))
        #expect(duration > .milliseconds(4_900) && duration < .milliseconds(5_200), "\(duration)")
        let played = try await play(edited)
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(try 4_900...5_200 ~= length(played), "\(played.story)")
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

    @Test(
        "A movie that claims to last one tick, or less than its frames, lasts as long as its tracks",
        arguments: [1, 900]
    )
    func shortMovie(ticks: Int) async throws {
        let film = [UInt8](try Fixtures.data(Fixtures.mp4.get()))
        let shorter = BoxEditor.edit(film, ["moov", "mvhd"]) { content in
            var content = content
            content.replaceSubrange(16..<20, with: [0, 0, UInt8(ticks >> 8), UInt8(ticks & 0xFF)])
            return content
        }
        #expect(shorter != film)
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).mp4")
        try Data(shorter).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let duration = try #require(MediaSource(url.path).declaredDuration(timeout: .seconds(1_800)))
        #expect(duration > .milliseconds(3_900) && duration < .milliseconds(4_200), "\(duration)")
        let played = try await play(shorter)
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(try 3_900...4_200 ~= length(played), "\(played.story)")
        // The bit rate of the file follows from its duration.
        let whole = try await play(film)
        let expected = try #require(whole.first(.end)?.attributes[.bitrate])
        let bitrate = try #require(played.first(.end)?.attributes[.bitrate])
        #expect(abs(bitrate - expected) * 50 < expected, "\(bitrate), expected \(expected)")
    }

    @Test("Empty edits in front of all media are no missing media")
    func emptyEdit() async throws {
        let late = try Fixtures.lateMP4.get()
        let played = await playThrough(late)
        #expect(played.outcome == .ended, "\(played.story)")
    }

    /// The milliseconds from the start to the end of a playback.
    private func length(_ played: Played) throws -> Int64 {
        try #require(played.time(.end)) - (try #require(played.time(.start)))
    }

    @Test("Sound with a picture of its cover lasts as long as the sound")
    func cover() async throws {
        let played = await playThrough(try Fixtures.cover.get())
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(try 3_900...4_200 ~= length(played), "\(played.story)")
    }

    @Test("Fragments without a duration of the whole (`mehd`) play to their end")
    func noWholeDuration() async throws {
        let bytes = [UInt8](try Fixtures.data(Fixtures.fragmented("durations", "").get()))
        let plain = BoxEditor.edit(bytes, ["moov", "mvex", "mehd"]) { _ in nil }
        let played = try await play(plain)
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(try 1_900...2_200 ~= length(played), "\(played.story)")
    }

    @Test("A track without samples is no missing media")
    func emptyTrack() async throws {
        // Behind the media, so that their places stay.
        let film = [UInt8](try Fixtures.data(Fixtures.mp4AtEnd.get()))
        let table = ["mdia", "minf", "stbl"]
        let silent = BoxEditor.edit(film, ["moov", "trak"]) { track in
            guard String(decoding: track, as: UTF8.self).contains("soun") else { return track }
            var track = track
            for (name, size) in [("stts", 8), ("stsz", 12), ("stsc", 8), ("stco", 8)] {
                track = BoxEditor.edit(track, table + [name]) { _ in [UInt8](repeating: 0, count: size) }
            }
            return track
        }
        #expect(silent.count < film.count)
        let played = try await play(silent)
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(try 3_900...4_200 ~= length(played), "\(played.story)")
    }

    @Test("Edits of no duration are no end of a file without fragments, and an edit of a second is")
    func editsWithoutDuration() async throws {
        let film = [UInt8](try Fixtures.data(Fixtures.mp4.get()))
        func edited(_ duration: [UInt8]) -> [UInt8] {
            BoxEditor.edit(film, ["moov", "trak", "edts", "elst"]) { content in
                // Version and flags, the number of edits, the duration.
                content.prefix(8) + duration + content.dropFirst(12)
            }
        }
        #expect(edited([0, 0, 0, 0]) != film)
        let played = try await play(edited([0, 0, 0, 0]))
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(try 3_900...4_200 ~= length(played), "\(played.story)")
        let short = try await play(edited([0, 0, 0x03, 0xE8]))
        #expect(short.outcome == .ended, "\(short.story)")
        #expect(try 900...1_200 ~= length(short), "\(short.story)")
    }

    @Test("A file with fragments that is cut inside one ends with an error, and one that is cut behind one does not")
    func cutFragments() async throws {
        let film = [UInt8](try Fixtures.data(Fixtures.fragmented("ten-frames", "-g 10").get()))
        var (places, offset) = ([(type: String, start: Int, end: Int)](), 0)
        for box in BoxEditor.boxes(film) {
            places.append((box.type, offset, offset + box.bytes.count))
            offset += box.bytes.count
        }
        let last = try #require(places.last { $0.type == "mdat" })
        let fragment = try #require(places.last { $0.type == "moof" })
        for (count, isCut) in [
            (last.end - 1, true), (last.start + 100, true), (last.start + 4, true), (last.end, false),
            (fragment.start, false), (fragment.start + 5, false), (film.count, false),
        ] {
            let played = try await play(Array(film.prefix(count)))
            #expect((played.outcome == .ended) != isCut, "\(count) of \(film.count): \(played.story)")
        }
        // A few bytes behind the last box are no box.
        let padded = try await play(film + [0, 0, 0])
        #expect(padded.outcome == .ended, "\(padded.story)")
        // A header that is cut off, or a box of which nothing is there.
        let cut = try await play(Array(film.prefix(fragment.start + 100)))
        #expect(cut.outcome != .ended, "\(cut.story)")
    }
}
