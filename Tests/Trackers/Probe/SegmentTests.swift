import Foundation
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Segments", .ownThread)
struct SegmentTests {
    private func bytes(_ folder: Result<String, FixtureError>, _ name: String) throws -> [UInt8] {
        [UInt8](try Fixtures.data(try folder.get() + "/" + name))
    }

    @Test("A transport stream's segments follow one another without gap or overlap", arguments: [false, true])
    func transportStream(isInspected: Bool) throws {
        var last: SegmentContent?
        for number in 0..<6 {
            let media = try bytes(Fixtures.hlsTS, "media\(number).ts")
            let content = try SegmentDemuxer.demux(media, inspecting: isInspected)
            let (video, audio) = (try #require(content.video), try #require(content.audio))
            #expect(content.size == media.count)
            #expect(content.wrap != nil && content.hasTimeline)
            #expect(video.frameCount == 50)
            #expect(video.codec == "h264" && audio.codec == "aac")
            #expect(video.end - video.start == 2_000_000_000)
            #expect(video.startsWithKeyframe && video.firstKeyframe == video.start)
            #expect(video.pictureSize == PictureSize(width: 320, height: 180))
            #expect(video.largestGap == 0)
            if isInspected { #expect(video.framesPerSecond == 25) }
            if let before = last?.video { #expect(video.start == before.end) }
            if let before = last?.audio { #expect(abs(audio.start - before.end) < 100_000) }
            last = content
        }
    }

    @Test("Fragmented MP4 is read with its initialization section, and not without it")
    func fragmentedMP4() throws {
        let header = try bytes(Fixtures.hlsMP4, "init.mp4")
        var end: Int64?
        for number in 0..<6 {
            let media = try bytes(Fixtures.hlsMP4, "media\(number).m4s")
            let content = try SegmentDemuxer.demux(media, initialization: header)
            let video = try #require(content.video)
            #expect(content.wrap == nil && content.hasTimeline)
            #expect(content.size == media.count)
            #expect(video.frameCount == 50)
            if let end { #expect(abs(video.start - end) < 100_000) }
            #expect(video.startsWithKeyframe)
            #expect(content.audio != nil)
            end = video.end
            #expect(throws: SegmentDemuxer.Failure.self) { try SegmentDemuxer.demux(media) }
        }
    }

    @Test("A segment may have audio only")
    func sound() throws {
        let content = try SegmentDemuxer.demux(try bytes(Fixtures.hlsSound, "media1.ts"))
        #expect(content.video == nil)
        #expect(content.main?.codec == "aac")
    }

    @Test("Packed audio has no timeline")
    func packedAudio() throws {
        let content = try SegmentDemuxer.demux([UInt8](try Fixtures.data(try Fixtures.adts.get())))
        #expect(!content.hasTimeline)
        #expect(content.audio.map { abs($0.end - $0.start - 4_000_000_000) < 100_000_000 } == true)
    }

    /// An ID3 tag with the frames.
    private static func tag(_ frames: [UInt8], version: UInt8 = 4) -> [UInt8] {
        Array("ID3".utf8) + [version, 0, 0, 0, 0, UInt8(frames.count >> 7), UInt8(frames.count & 0x7F)] + frames
    }

    private static func frame(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + [0, 0, 0, UInt8(content.count), 0, 0] + content
    }

    private static func timestamp(_ ticks: UInt64) -> [UInt8] {
        let owner = Array("com.apple.streaming.transportStreamTimestamp\0".utf8)
        return frame("PRIV", owner + withUnsafeBytes(of: ticks.bigEndian) { Array($0) })
    }

    @Test("Packed audio with a timestamp is where the timestamp says", arguments: [UInt8(3), 4])
    func timedAudio(version: UInt8) throws {
        for folder in [Fixtures.adts, Fixtures.mp3] {
            let audio = [UInt8](try Fixtures.data(try folder.get()))
            let untimed = try #require(try SegmentDemuxer.demux(audio).audio)
            let ticks: UInt64 = 8_589_000_000
            let title = Self.frame("TIT2", [0] + Array("Tone".utf8))
            for frames in [Self.timestamp(ticks), title + Self.timestamp(ticks)] {
                let content = try SegmentDemuxer.demux(Self.tag(frames, version: version) + audio)
                let timed = try #require(content.audio)
                #expect(content.hasTimeline && content.wrap == SegmentContent.transportStreamWrap)
                #expect(timed.start == 95_433_333_333_333)
                #expect(timed.end - timed.start == untimed.end - untimed.start)
                #expect(timed.points.last?.end == timed.end)
            }
        }
    }

    @Test("A timestamp of packed audio that is damaged counts as none")
    func damagedTimestamps() throws {
        let audio = [UInt8](try Fixtures.data(try Fixtures.adts.get()))
        let good = Self.tag(Self.timestamp(90_000))
        for place in good.indices {
            for value in [UInt8(0), 0x7F, 0x80, 0xFF] {
                var bad = good
                bad[place] = value
                guard let content = try? SegmentDemuxer.demux(bad + audio) else { continue }
                #expect(!content.hasTimeline || content.audio.map { $0.start >= 0 } == true)
            }
        }
        #expect(try !SegmentDemuxer.demux(Self.tag(Self.timestamp(1 << 33)) + audio).hasTimeline)
    }

    @Test(
        "The playable media of a segment's first part agrees with the points of the whole segment",
        arguments: [true, false]
    )
    func points(isTransportStream: Bool) throws {
        let folder = isTransportStream ? Fixtures.hlsTS : Fixtures.hlsMP4
        let media = try bytes(folder, isTransportStream ? "media1.ts" : "media1.m4s")
        let header = isTransportStream ? [] : try bytes(folder, "init.mp4")
        let whole = try #require(try SegmentDemuxer.demux(media, initialization: header).video)
        #expect(whole.points.count > 10)
        #expect(whole.points.last?.end == whole.end)
        #expect(whole.points == whole.points.sorted { $0.offset < $1.offset && $0.end < $1.end })
        for share in [3, 5, 8] {
            let count = media.count * share / 10
            let part = try SegmentDemuxer.demux(Array(media.prefix(count)), initialization: header).video
            let expected = try #require(whole.points.last { $0.offset <= count })
            // At the end of a part, a demuxer may return an incomplete frame.
            let known = part?.points.last { $0.offset < count - 188 }
            #expect(known.map { abs($0.end - expected.end) <= 80_000_000 } == true)
        }
    }

    @Test("A decrypted segment equals the original, and a wrong key is an error")
    func decryption() throws {
        let key = [UInt8](0..<16)
        let encrypted = try bytes(Fixtures.hlsEncrypted, "media2.ts")
        let plain = try #require(SegmentCipher.decrypt(encrypted, key: key, initializationVector: key))
        #expect(plain.count < encrypted.count && plain.count % 188 == 0)
        #expect(try SegmentDemuxer.demux(plain).video?.frameCount == 50)
        #expect(SegmentCipher.decrypt(encrypted, key: Array(key.reversed()), initializationVector: key) == nil)
        #expect(SegmentCipher.decrypt(Array(encrypted.dropLast()), key: key, initializationVector: key) == nil)
        #expect(SegmentCipher.decrypt([], key: key, initializationVector: key) == nil)
        #expect(SegmentCipher.decrypt(encrypted, key: [1], initializationVector: key) == nil)
    }

    @Test("AES-128 decrypts the example of NIST SP 800-38A, F.2.2, correctly")
    func knownAnswer() throws {
        func bytes(_ hex: String) -> [UInt8] {
            stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
        }
        // One block of the example, and one block of padding that OpenSSL, an independent implementation, has
        // encrypted.
        let cipher = bytes("7649abac8119b246cee98e9b12e9197d" + "8964e0b149c10b7b682e6e39aaeb731c")
        let plain = SegmentCipher.decrypt(
            cipher,
            key: bytes("2b7e151628aed2a6abf7158809cf4f3c"),
            initializationVector: bytes("000102030405060708090a0b0c0d0e0f")
        )
        #expect(plain == bytes("6bc1bee22e409f96e93d7e117393172a"))
    }

    @Test("Content that is not media is refused")
    func rubbish() throws {
        let html = Array("<html><body>404 not found</body></html>".utf8)
        for media in [[], [0x47], html, [UInt8](repeating: 0, count: 4096), [UInt8](repeating: 0x47, count: 4096)] {
            #expect(throws: SegmentDemuxer.Failure.self) { try SegmentDemuxer.demux(media) }
            #expect(throws: SegmentDemuxer.Failure.self) { try SegmentDemuxer.demux(media, initialization: html) }
        }
    }

    @Test("Damaged segments are read up to the damage, without a trap")
    func fuzz() throws {
        var generator = SeededGenerator(seed: 4)
        let cases = [
            (try bytes(Fixtures.hlsTS, "media0.ts"), [UInt8]()),
            (try bytes(Fixtures.hlsMP4, "media0.m4s"), try bytes(Fixtures.hlsMP4, "init.mp4")),
        ]
        for round in 0..<400 {
            var (media, header) = cases[round % 2]
            for _ in 0..<Int.random(in: 1...30, using: &generator) {
                media[Int.random(in: 0..<media.count, using: &generator)] = .random(in: 0...255, using: &generator)
                if !header.isEmpty, Bool.random(using: &generator) {
                    header[Int.random(in: 0..<header.count, using: &generator)] = .random(
                        in: 0...255,
                        using: &generator
                    )
                }
            }
            if Bool.random(using: &generator) {
                media = Array(media.prefix(.random(in: 0...media.count, using: &generator)))
            }
            guard let content = try? SegmentDemuxer.demux(media, initialization: header, inspecting: round % 8 < 2)
            else { continue }
            for track in [content.video, content.audio].compactMap({ $0 }) {
                #expect(track.start <= track.end && track.frameCount > 0)
            }
        }
    }
}
