import Foundation
import InstrumentPictureChecks
import InstrumentProbe
import LoopbackServers
import TestTraits
import Testing

/// The pictures that decoded segments leave as evidence, read back by ffmpeg.
@Suite("Pictures of faults", .ownThread, .timeLimit(.minutes(30)))
struct FaultyPictureTests {
    private func faulty(_ video: String, _ more: String..., keeps: Bool = true) async throws -> FaultyPicture? {
        let scratch = try Scratch()
        let encoded = try await command(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", video + ":rate=25:duration=4"] + more
                + ["-c:v", "libx264", "-preset", "ultrafast", "-g", "25", scratch.file("a.ts")]
        )
        try #require(encoded.status == 0, "\(encoded)")
        var options = SegmentDecoder.Options()
        (options.sound, options.keepsFaultyPicture) = (false, keeps)
        return SegmentDecoder.decode(scratch.bytes("a.ts"), options: options).faulty
    }

    /// The mean red, green and blue of a part of a JPEG.
    private func colour(of picture: FaultyPicture, crop: String = "iw:ih:0:0") async throws -> [Int] {
        let scratch = try Scratch()
        try Data(picture.jpeg).write(to: URL(fileURLWithPath: scratch.file("a.jpg")))
        let read = try await command([
            "ffmpeg", "-v", "error", "-i", scratch.file("a.jpg"), "-vf", "crop=\(crop),scale=1:1:flags=area",
            "-pix_fmt",
            "rgb24", "-f", "rawvideo", scratch.file("a.raw"),
        ])
        try #require(read.status == 0, "\(read)")
        return scratch.bytes("a.raw").map { Int($0) }
    }

    private func isNear(_ found: [Int], _ expected: [Int]) -> Bool {
        found.count == 3 && zip(found, expected).allSatisfy { abs($0 - $1) <= 24 }
    }

    @Test("A black picture is a small black JPEG", arguments: ["yuv420p", "yuvj420p", "yuv420p10le", "yuv444p"])
    func black(format: String) async throws {
        let picture = try #require(try await faulty("color=black:size=1280x720", "-pix_fmt", format))
        #expect(picture.isBlack)
        #expect((picture.width, picture.height) == (320, 180))
        #expect(picture.jpeg.starts(with: [0xFF, 0xD8]) && picture.jpeg.count < 8_192)
        #expect(isNear(try await colour(of: picture), [0, 0, 0]))
    }

    @Test("A frozen picture has the colours of the stream", arguments: ["yuv420p", "yuv422p10le", "yuv444p"])
    func frozen(format: String) async throws {
        let picture = try #require(try await faulty("color=red:size=640x360", "-pix_fmt", format))
        #expect(!picture.isBlack)
        #expect(isNear(try await colour(of: picture), [254, 0, 0]))
        let bars = try #require(try await faulty("smptebars=size=640x360", "-pix_fmt", format))
        // The first and the fourth of seven bars: grey and green.
        #expect(isNear(try await colour(of: bars, crop: "20:80:8:20"), [192, 192, 192]))
        #expect(isNear(try await colour(of: bars, crop: "20:80:146:20"), [0, 192, 0]))
    }

    @Test(
        "The picture has the shape that viewers see",
        arguments: [
            ("color=red:size=360x640", "1", 320, 568), ("color=red:size=720x576", "64/45", 320, 180),
            ("color=red:size=98x50", "1", 98, 50), ("color=red:size=64x1024", "1", 40, 640),
        ]
    )
    func shape(source: String, aspect: String, width: Int, height: Int) async throws {
        let picture = try #require(try await faulty(source, "-vf", "setsar=\(aspect)"))
        #expect(
            abs(picture.width - width) <= 2 && abs(picture.height - height) <= 2,
            "\(picture.width) \(picture.height)"
        )
    }

    @Test("A picture that moves leaves none, and neither does one that nobody asked for")
    func none() async throws {
        #expect(try await faulty("testsrc=size=320x180") == nil)
        #expect(try await faulty("color=black:size=320x180", keeps: false) == nil)
    }
}
