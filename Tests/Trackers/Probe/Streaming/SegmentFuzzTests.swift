import Foundation
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

/// `make fuzz` runs many rounds under Address Sanitizer: `FUZZ_ROUNDS` is their number, `FUZZ_SEED` the first seed.
@Suite("Damaged segments", .ownThread, .timeLimit(.minutes(60)))
struct SegmentFuzzTests {
    private static let rounds = ProcessInfo.processInfo.environment["FUZZ_ROUNDS"].flatMap { Int($0) } ?? 200
    private static let seed = ProcessInfo.processInfo.environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? 1

    /// A segment and its initialization section.
    private struct Subject {
        var media: [UInt8]
        var initialization: [UInt8] = []
    }

    private static func subjects() throws -> [Subject] {
        func bytes(_ folder: Result<String, FixtureError>, _ name: String) throws -> [UInt8] {
            [UInt8](try Fixtures.data(folder.get() + "/" + name))
        }
        let fragmented = try bytes(Fixtures.hlsMP4, "init.mp4")
        return [
            Subject(media: try bytes(Fixtures.hlsTS, "media0.ts")),
            Subject(media: try bytes(Fixtures.hlsSound, "media1.ts")),
            Subject(media: try bytes(Fixtures.hlsMP4, "media0.m4s"), initialization: fragmented),
            Subject(media: [UInt8](try Fixtures.data(Fixtures.adts.get()))),
            Subject(media: [UInt8](try Fixtures.data(Fixtures.webm.get()))),
        ]
    }

    @Test("A damaged segment is read or is an error, with times in bounds")
    func damage() throws {
        let subjects = try Self.subjects()
        for round in 0..<Self.rounds {
            var random = SeededGenerator(seed: Self.seed &+ UInt64(round))
            var subject = subjects[round % subjects.count]
            if !subject.initialization.isEmpty, Int.random(in: 0..<3, using: &random) == 0 {
                Self.spoil(&subject.initialization, &random)
            } else {
                Self.spoil(&subject.media, &random)
            }
            let content = try? SegmentDemuxer.demux(
                subject.media,
                initialization: subject.initialization,
                inspecting: Bool.random(using: &random)
            )
            for track in [content?.video, content?.audio].compactMap(\.self) {
                #expect(track.start <= track.end, "seed \(Self.seed &+ UInt64(round))")
                #expect(track.start.magnitude <= 1 << 60 && track.end.magnitude <= 1 << 61)
                #expect(
                    zip(track.points, track.points.dropFirst()).allSatisfy { $0.offset < $1.offset && $0.end < $1.end }
                )
            }
        }
    }

    @Test("A damaged segment is read like libavformat, or left to libavformat")
    func agreement() throws {
        let subjects = try Coding.all.flatMap { coding in
            try [false, true].filter { _ in coding.ownCount > 0 }.map { try coding.series(isFragmented: $0) }
        }
        let readers = subjects.map { $0.taughtReader() }
        var ownCount = 0
        for round in 0..<Self.rounds {
            var random = SeededGenerator(seed: Self.seed &+ UInt64(round))
            let index = round % subjects.count
            var (reader, media, initialization) = (
                readers[index], subjects[index].media[1], subjects[index].initialization
            )
            if !initialization.isEmpty, Int.random(in: 0..<4, using: &random) == 0 {
                Self.spoil(&initialization, &random, most: 2)
            } else {
                Self.spoil(&media, &random, most: 4)
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                media = Array(media.prefix(Int.random(in: 0...media.count, using: &random)))
            }
            let before = reader.ownCount
            let own = try? reader.read(media, initialization: initialization, inspecting: false)
            guard reader.ownCount > before else { continue }
            ownCount += 1
            let other = try? SegmentDemuxer.demux(media, initialization: initialization)
            #expect(other.map { own?.hasTimes(of: $0) == true } == true, "seed \(Self.seed &+ UInt64(round))")
        }
        #expect(ownCount > Self.rounds / 50)
    }

    /// Extreme numbers, flipped bytes, missing and duplicated pieces.
    private static func spoil(_ bytes: inout [UInt8], _ random: inout SeededGenerator, most: Int = 12) {
        for _ in 0..<Int.random(in: 1...most, using: &random) where bytes.count > 16 {
            // Headers are at the beginning: half of the damage is there.
            let reach = Bool.random(using: &random) ? min(1500, bytes.count) : bytes.count
            let place = Int.random(in: 0..<reach - 8, using: &random)
            switch Int.random(in: 0..<7, using: &random) {
            case 0: for offset in 0..<4 { bytes[place + offset] = 0xFF }
            case 1: for offset in 0..<8 { bytes[place + offset] = offset == 0 ? 0x7F : 0xFF }
            case 2: for offset in 0..<4 { bytes[place + offset] = 0 }
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...400, using: &random)))
            case 4: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 188)], at: place)
            case 5: bytes.replaceSubrange(place..<(place + 8), with: shortUnits(&random))
            default: bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
        }
    }

    /// Eight bytes with NAL units of few bytes, behind a start code or a length.
    private static func shortUnits(_ random: inout SeededGenerator) -> [UInt8] {
        let types: [UInt8] = [0x06, 0x07, 0x08, 0x65, 0x4E]
        let type = types.randomElement(using: &random) ?? 0x06
        let size = UInt8.random(in: 1...2, using: &random)
        let next: [UInt8] = Bool.random(using: &random) ? [0, 0, 1, type] : [0, 0, 0, 1]
        return [0, 0, size, type] + next
    }
}
