import Foundation
import InstrumentPictureChecks
import InstrumentProbe
import LoopbackServers
import TestTraits
import Testing

/// Media that ffmpeg generates, decoded and judged.
@Suite("Checks of generated media", .ownThread, .timeLimit(.minutes(30)))
struct DecoderTests {
    /// Encodes sources of ffmpeg's virtual device and decodes them.
    private func decode(
        _ video: String,
        _ audio: String,
        _ name: String = "a.ts",
        options extra: [String] = [],
        configure: (inout SegmentDecoder.Options) -> Void = { _ in }
    ) async throws -> SegmentDecoder.Output {
        let scratch = try Scratch()
        let arguments =
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", video, "-f", "lavfi", "-i", audio]
            + ["-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-c:a", "aac"] + extra
            + ["-shortest", scratch.file(name)]
        let result = try await command(arguments)
        try #require(result.status == 0, "\(result)")
        var options = SegmentDecoder.Options()
        configure(&options)
        return SegmentDecoder.decode(scratch.bytes(name), options: options)
    }

    private func black(_ output: SegmentDecoder.Output) -> [MediaInterval] {
        var detector = BlackDetector(minimum: .seconds(2))
        let found = output.pictures.compactMap { detector.take($0) }
        return found + [detector.finish()].compactMap(\.self)
    }

    private func frozen(_ output: SegmentDecoder.Output) -> [MediaInterval] {
        var detector = FreezeDetector(minimum: .seconds(2))
        let found = output.pictures.compactMap { detector.take($0) }
        return found + [detector.finish()].compactMap(\.self)
    }

    private func silent(_ output: SegmentDecoder.Output) -> [MediaInterval] {
        var detector = SilenceDetector(minimum: .seconds(2))
        let found = output.sound.flatMap { detector.take($0) }
        return found + [detector.finish()].compactMap(\.self)
    }

    @Test("A black and silent film is black, frozen and silent", arguments: ["a.ts", "a.mp4"])
    func nothing(name: String) async throws {
        let output = try await decode(
            "color=black:size=320x180:rate=25:duration=6",
            "anullsrc=channel_layout=stereo:sample_rate=48000:duration=6",
            name
        )
        #expect(output.undecoded.isEmpty)
        #expect(output.pictures.count == 6)
        // From the first keyframe to the last one, a second apart.
        for interval in [black(output), frozen(output)] {
            #expect(interval.count == 1)
            #expect(abs((interval.first?.length ?? 0) - 5_000_000_000) < 100_000_000)
        }
        #expect(silent(output).count == 1)
    }

    @Test("A test picture with a tone is neither black, frozen nor silent")
    func something() async throws {
        let output = try await decode("testsrc=size=320x180:rate=25:duration=6", "sine=frequency=440:duration=6")
        #expect(output.pictures.count == 6)
        #expect(black(output).isEmpty)
        #expect(frozen(output).isEmpty)
        #expect(silent(output).isEmpty)
    }

    @Test("A still picture is frozen and not black")
    func still() async throws {
        let output = try await decode("smptebars=size=320x180:rate=25:duration=6", "sine=frequency=440:duration=6")
        #expect(black(output).isEmpty)
        #expect(frozen(output).count == 1)
    }

    @Test("Pictures of ten bits are judged like those of eight")
    func deep() async throws {
        let output = try await decode(
            "color=black:size=320x180:rate=25:duration=4",
            "sine=frequency=440:duration=4",
            options: ["-pix_fmt", "yuv420p10le"]
        )
        #expect(output.undecoded.isEmpty)
        #expect(black(output).count == 1)
    }

    @Test("All pictures are decoded if asked for, up to the limit")
    func everyPicture() async throws {
        let all = try await decode("testsrc=size=160x90:rate=25:duration=2", "sine=duration=2") {
            $0.allPictures = true
        }
        #expect(all.pictures.count == 50)
        let few = try await decode("testsrc=size=160x90:rate=25:duration=2", "sine=duration=2") { options in
            options.allPictures = true
            options.maxPictures = 7
        }
        #expect(few.pictures.count == 7)
    }

    @Test("Damaged media give what could be decoded")
    func damage() {
        #expect(SegmentDecoder.decode([]).pictures.isEmpty)
        #expect(SegmentDecoder.decode([UInt8](repeating: 0x47, count: 10_000)).pictures.isEmpty)
    }

    @Test(
        "The meter agrees with ffmpeg's ebur128 within a tenth of a LU",
        arguments: [
            "sine=frequency=1000:sample_rate=48000:duration=8", "anoisesrc=color=pink:amplitude=0.3:seed=7:duration=8",
            "sine=frequency=60:sample_rate=44100:duration=8",
        ]
    )
    func reference(source: String) async throws {
        let scratch = try Scratch()
        let path = scratch.file("a.mkv")
        let made = try await command(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-ac", "2", "-c:a", "pcm_s16le", path]
        )
        try #require(made.status == 0, "\(made)")
        let measured = try await command(["ffmpeg", "-nostats", "-i", path, "-af", "ebur128", "-f", "null", "-"])
        let words = measured.errors.split(whereSeparator: \.isWhitespace)
        let place = try #require(words.lastIndex(of: "I:"))
        let expected = try #require(Double(words[place + 1]))
        let output = SegmentDecoder.decode(scratch.bytes("a.mkv"))
        let first = try #require(output.sound.first)
        var meter = try #require(LoudnessMeter(sampleRate: first.sampleRate, channelCount: first.channels.count))
        for buffer in output.sound { meter.take(buffer) }
        #expect(abs(try #require(meter.integrated) - expected) <= 0.15)
        #expect(abs(try #require(meter.shortTerm) - expected) <= 0.5)
    }
}
