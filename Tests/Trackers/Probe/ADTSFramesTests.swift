import Testing

@testable import InstrumentProbe

@Suite("Duration of AAC frames in transport streams")
struct ADTSFramesTests {
    /// A frame of 48 kHz (index 3) or another rate, with a number of blocks.
    private func frame(rate: UInt8 = 3, size: Int = 40, blocks: UInt8 = 1) -> [UInt8] {
        let header: [UInt8] = [
            0xFF, 0xF1, 0x40 | rate << 2, 0x80 | UInt8(size >> 11 & 3), UInt8(size >> 3 & 0xFF),
            UInt8(size & 7) << 5 | 0x1F, 0xFC | (blocks - 1),
        ]
        return header + [UInt8](repeating: 0x55, count: size - header.count)
    }

    private func duration(_ bytes: [UInt8]) -> Int64? { bytes.withUnsafeBufferPointer(ADTSFrames.duration) }

    @Test("Each block of a frame is 1024 samples")
    func frames() {
        #expect(duration(frame()) == 21_333_333)
        #expect(duration(frame() + frame() + frame()) == 64_000_000)
        #expect(duration(frame(rate: 4, blocks: 4)) == 92_879_818)
        // A frame whose end has not arrived counts.
        #expect(duration(frame() + frame().prefix(10)) == 42_666_666)
    }

    @Test(
        "A segment of few frames is packed audio, with and without a timestamp",
        arguments: [1, 2, 3, 7, 8, 9],
        [false, true]
    )
    func fewFrames(count: Int, hasTag: Bool) throws {
        var rest = try [UInt8](Fixtures.data(Fixtures.adts.get()))[...]
        var media: [UInt8] = []
        for _ in 0..<count {
            let size =
                Int(rest[rest.startIndex + 3] & 3) << 11 | Int(rest[rest.startIndex + 4]) << 3
                | Int(rest[rest.startIndex + 5] >> 5)
            media += rest.prefix(size)
            rest = rest.dropFirst(size)
        }
        let owner = Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0]
        let frame: [UInt8] =
            Array("PRIV".utf8) + [0, 0, 0, UInt8(owner.count + 8), 0, 0] + owner + [0, 0, 0, 0, 0, 1, 95, 144]
        let tag: [UInt8] = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame
        let inspection = try SegmentInspection(media: (hasTag ? tag : []) + media, initialization: [])
        let track = try #require(inspection.tracks.first)
        #expect(inspection.tracks.count == 1 && !track.isVideo && track.codec == "aac")
        #expect(inspection.hasTimeline == hasTag && (!hasTag || track.start == 1_000_000_000))
        let seconds = Double(track.end - track.start) / 1e9
        #expect(abs(seconds * Double(track.sampleRate ?? 0) / 1_024 - Double(count)) < 0.01, "\(seconds) s")
    }

    @Test("Few frames are whole")
    func whole() {
        func areFew(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { ADTSFrames.areFew($0) } }
        #expect(
            areFew(frame()) && areFew((0..<8).flatMap { _ in frame() }) && !areFew((0..<9).flatMap { _ in frame() })
        )
        #expect(!areFew([]) && !areFew(frame().dropLast()) && !areFew(frame() + [1]) && !areFew([1, 2, 3]))
    }

    @Test("A packet of a hundred megabytes has a duration, and does not overflow")
    func longPacket() {
        let count = 14_000_000
        let frames = [UInt8](unsafeUninitializedCapacity: count * 7) { buffer, filled in
            let one = frame(size: 7, blocks: 4)
            for offset in 0..<(count * 7) { buffer[offset] = one[offset % 7] }
            filled = count * 7
        }
        #expect(duration(frames) == 1_194_666_666_666_666)
    }

    @Test("Other bytes, reserved rates and impossible sizes are unknown or end the frames, without a trap")
    func damage() {
        #expect(duration([]) == nil)
        #expect(duration([0xFF, 0xF1, 0x4C]) == nil)
        #expect(duration(Array("ID3 and more text".utf8)) == nil)
        #expect(duration(frame(rate: 13)) == nil)
        var small = frame()
        (small[3], small[4], small[5]) = (0x80, 0, 0x1F)
        #expect(duration(small) == nil)
        #expect(duration(frame() + [0, 1, 2, 3, 4, 5, 6, 7]) == 21_333_333)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            var bytes = frame() + frame(size: 9) + frame(size: 8191)
            bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            _ = duration(Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator))))
        }
    }
}
