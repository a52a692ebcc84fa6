import Foundation
import Instrument
import InstrumentFrameCode
import InstrumentOrigin
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@Suite("Frames of the test media", .ownThread, .timeLimit(.minutes(30)))
struct CodedMediaTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Runs ffmpeg on a file of the fixtures.
    private func convert(_ name: String, _ options: [String], to output: String) async throws -> [UInt8] {
        let fixtures = try await Fixtures.make(in: MediaCache.origin)
        let input = fixtures.directory + "/" + name
        let path = scratch.file(output)
        let result = try await command(["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", input] + options + [path])
        #expect(result.status == 0, "\(result.errors)")
        return scratch.bytes(output)
    }

    @Test("Every frame of every variant shows its number", arguments: Fixtures.variants)
    func everyFrame(variant: Fixtures.Variant) async throws {
        let bytes = try await convert("\(variant.name).mp4", ["-f", "rawvideo", "-pix_fmt", "gray"], to: "all.raw")
        let length = variant.width * variant.height
        let numbers = bytes.withUnsafeBytes { bytes in
            stride(from: 0, through: bytes.count - length, by: length).map { begin in
                let frame = UnsafeRawBufferPointer(rebasing: bytes[begin..<(begin + length)])
                return FrameCode.number(in: frame, layout: .luma(width: variant.width, height: variant.height))
            }
        }
        #expect(numbers == Array(0..<600))
    }

    @Test("A small picture, encoded again at a low bit rate, still shows the number")
    func lowBitrate() async throws {
        let options = "-t 4 -vf scale=256:144 -c:v libx264 -preset ultrafast -b:v 60k -maxrate 60k -bufsize 60k"
        _ = try await convert("v0.mp4", options.split(separator: " ").map(String.init), to: "low.mp4")
        let path = scratch.file("low.raw")
        let decode = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", scratch.file("low.mp4")]
        let result = try await command(decode + ["-f", "rawvideo", "-pix_fmt", "gray", path])
        #expect(result.status == 0, "\(result.errors)")
        let (bytes, length) = (scratch.bytes("low.raw"), 256 * 144)
        #expect(bytes.count == 100 * length)
        let numbers = bytes.withUnsafeBytes { bytes in
            stride(from: 0, through: bytes.count - length, by: length).map { begin in
                FrameCode.number(
                    in: UnsafeRawBufferPointer(rebasing: bytes[begin..<(begin + length)]),
                    layout: .luma(width: 256, height: 144)
                )
            }
        }
        #expect(numbers == Array(0..<100))
    }

    @Test("A screenshot in each form of PNG shows the number", arguments: ["rgb24", "rgba", "gray", "ya8"])
    func screenshots(format: String) async throws {
        let options = ["-vf", "select=eq(n\\,123)", "-frames:v", "1", "-pix_fmt", format, "-pred", "mixed"]
        let file = try await convert("v1.mp4", options, to: "shot.png")
        #expect(try PNGPicture(file).frameNumber == 123)
    }

    @Test("Damaged, torn and foreign files are errors that say what to do")
    func damaged() async throws {
        let options = ["-frames:v", "1", "-vf", "scale=64:36", "-pix_fmt", "rgb24", "-pred", "mixed"]
        let file = try await convert("v0.mp4", options, to: "small.png")
        #expect(try PNGPicture(file).layout.width == 64)
        #expect(throws: PNGPicture.Failure.notPNG) { try PNGPicture(Array("GIF89a".utf8)) }
        for length in stride(from: 8, to: file.count - 16, by: 7) {
            #expect(throws: PNGPicture.Failure.self) { try PNGPicture(Array(file.prefix(length))) }
        }
        let palette = try await convert("v0.mp4", ["-frames:v", "1", "-pix_fmt", "pal8"], to: "palette.png")
        let error = #expect(throws: PNGPicture.Failure.self) { try PNGPicture(palette) }
        #expect(error?.description.contains("Take a screenshot in 8-bit") == true)
        // Wrong bytes anywhere: a picture or an error, and no trap.
        var random = SeededGenerator(seed: 4)
        for _ in 0..<Rounds.of(2_000) {
            var wrong = file
            for _ in 0..<3 {
                wrong[Int.random(in: 8..<wrong.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try? PNGPicture(wrong)
        }
    }
}
