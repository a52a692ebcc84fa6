import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Bytes of a body", .ownThread)
struct FetchedBytesTests {
    private static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    }

    @Test(
        "Bytes are those that were appended, whatever was announced, and earlier ones stay as they are",
        arguments: [nil, 0, 1, 1000, 65_535, 65_536, 131_072, 300_000, 5_000_000],
        [1, 1000, 65_535, 65_536, 131_072, 131_073, 262_144, 700_001]
    )
    func appending(announced: Int?, size: Int) {
        var random = SeededGenerator(seed: UInt64(size))
        let expected = Self.pattern(size)
        var growing = GrowingBytes()
        var earlier: [FetchedBytes] = []
        if let announced { growing.reserve(announced) }
        var place = 0
        while place < size {
            let end = min(size, place + Int.random(in: 1...max(1, size / 4), using: &random))
            expected[place..<end].withUnsafeBytes { growing.append($0) }
            place = end
            #expect(growing.count == place)
            earlier.append(growing.fetched)
            // A second announcement moves the bytes.
            if Bool.random(using: &random) { growing.reserve(place * 3) }
        }
        for bytes in earlier {
            // Data compares memory; a comparison of elements would take seconds in a debug build.
            #expect(Data(bytes.array) == Data(expected[..<bytes.count]))
            #expect(bytes.withUnsafeBytes { Data($0) } == Data(expected[..<bytes.count]))
        }
        #expect(earlier.last?.count == size)
    }

    @Test("A part counts from the first byte, also a part of a part", arguments: [1000, 200_000])
    func parts(size: Int) throws {
        let expected = Self.pattern(size)
        var growing = GrowingBytes()
        expected.withUnsafeBytes { growing.append($0) }
        let part = try #require(growing.fetched.part(100..<900))
        #expect(part.array == Array(expected[100..<900]))
        #expect(try #require(part.part(10..<20)).array == Array(expected[110..<120]))
        #expect(part.part(0..<801) == nil && growing.fetched.part(-1..<10) == nil)
        #expect(growing.fetched.part(size..<size)?.isEmpty == true)
        #expect(throws: SomeError.self) {
            try part.withUnsafeBytes { (_: UnsafeRawBufferPointer) throws(SomeError) in throw SomeError() }
        }
    }

    private struct SomeError: Error {}

    @Test("Pages are used again")
    func reuse() throws {
        let memory = PageMemory(clock: VirtualClock())
        let address = try {
            let block = try #require(memory.block(of: 100_000))
            #expect(block.capacity == 131_072)
            return block.start
        }()
        #expect(memory.spareBytes == 131_072)
        // The block is too small for the first of these.
        var blocks = [try #require(memory.block(of: 131_073)), try #require(memory.block(of: 131_072))]
        #expect(blocks[0].capacity == 262_144 && blocks[1].start == address)
        #expect(memory.spareBytes == 0)
        for block in blocks { block.start.initializeMemory(as: UInt8.self, repeating: 7, count: block.capacity) }
        blocks = []
        #expect(memory.spareBytes == 131_072 + 262_144)
        #expect(memory.block(of: .max) == nil)
    }

    @Test(
        "After a burst, the pages that nobody needs go back to the system, all of them in the end",
        arguments: [0, 1, 10]
    )
    func burst(inUse: Int) throws {
        let clock = VirtualClock()
        let memory = PageMemory(clock: clock)
        func play(_ count: Int) throws {
            for _ in 0..<count {
                var blocks: [PageBlock] = []
                for _ in 0..<inUse { blocks.append(try #require(memory.block(of: 100_000))) }
                blocks = []
                clock.advance(by: .seconds(2))
            }
        }
        var blocks: [PageBlock] = []
        for _ in 0..<1000 { blocks.append(try #require(memory.block(of: 100_000))) }
        blocks = []
        #expect(memory.spareBytes == 1000 * 131_072)
        try play(20)
        #expect(memory.spareBytes == inUse * 131_072)
        // In a steady state, nothing goes and nothing is new.
        let known = memory.block(of: 100_000)?.start
        try play(100)
        #expect(memory.spareBytes == inUse * 131_072)
        if inUse > 0 { #expect(memory.block(of: 100_000)?.start == known) }
        clock.advance(by: .seconds(30))
        #expect(memory.spareBytes == 0)
        #expect(clock.nextDeadline == nil)
        // Later blocks are watched as well.
        blocks = [try #require(memory.block(of: 9_000_000))]
        blocks = []
        clock.advance(by: .seconds(30))
        #expect(memory.spareBytes == 0)
    }

    @Test("Only pages that a whole period did not need go back", arguments: [15, 16, 17, 32])
    func period(surplus: Int) throws {
        let clock = VirtualClock()
        let memory = PageMemory(clock: clock)
        func use(_ count: Int) throws {
            var blocks: [PageBlock] = []
            for _ in 0..<count { blocks.append(try #require(memory.block(of: 100_000))) }
            blocks = []
        }
        try use(surplus + 4)
        clock.advance(by: .seconds(12))
        try use(4)
        clock.advance(by: .seconds(9))
        #expect(memory.spareBytes == 4 * 131_072)
    }
}
