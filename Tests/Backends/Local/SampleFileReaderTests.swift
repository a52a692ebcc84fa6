import Foundation
import Instrument
import InstrumentCompression
import InstrumentJSON
import InstrumentTestKit
import LoopbackServers
import Testing

@testable import InstrumentBackends

@Suite("Sample file reader")
struct SampleFileReaderTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func lines(_ range: Range<Int>) -> [UInt8] {
        range.reduce(into: JSONWriter()) { SampleLine.write(Samples.record($1), to: &$0) }.bytes
    }

    private func member(_ range: Range<Int>) throws -> [UInt8] { try #require(Gzip.compress(lines(range))) }

    private func read(_ bytes: [UInt8]) throws -> (records: [SampleRecord], problems: [SampleFileReader.Problem]) {
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("s")))
        return try readAll(scratch.file("s"))
    }

    @Test("A damaged batch of a compressed file costs that batch; the others are read")
    func damagedMember() throws {
        let (first, last) = (try member(0..<10), try member(20..<30))
        var middle = try member(10..<20)
        for index in middle.count / 3..<middle.count / 2 { middle[index] = 0xFF }
        let (records, problems) = try read(first + middle + last)
        let numbers = records.map(\.sequence)
        #expect(numbers.prefix(10) == ArraySlice(0..<10))
        #expect(numbers.suffix(10) == ArraySlice(20..<30))
        #expect(numbers.count < 30)
        #expect(problems.contains { $0.reason.contains("damaged") })
    }

    @Test("A wrong checksum is reported, and the batch after it is read", arguments: [4090, 4093, 4094, 4095, 4096])
    func wrongChecksum(end: Int) throws {
        // The member ends about where the reader's piece does.
        var first = try #require(Gzip.compress(incompressible(upTo: end)))
        first[first.count - 8] ^= 1
        let (records, problems) = try read(first + member(5..<6))
        #expect(records.map(\.sequence) == [5])
        #expect(problems.contains { $0.reason.contains("compressed data is damaged") })
    }

    /// Bytes that gzip packs into about `size`, in one line that is no sample.
    private func incompressible(upTo size: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(size))
        var bytes: [UInt8] = []
        while (Gzip.compress(bytes)?.count ?? size) < size {
            bytes.append(UInt8.random(in: 0x80...0xFF, using: &generator))
        }
        return bytes
    }

    @Test("Zeros after the last batch, from a loss of power, are reported and lose no sample")
    func zeros() throws {
        let (records, problems) = try read(member(0..<10) + [UInt8](repeating: 0, count: 20_000))
        #expect(records.count == 10)
        #expect(problems.count == 1)
    }

    @Test("Random damage to a compressed file never traps, and never gives more samples than were written")
    func fuzz() throws {
        var generator = SeededGenerator(seed: 11)
        let whole = try (0..<5).flatMap { try member($0 * 10..<$0 * 10 + 10) }
        for _ in 0..<200 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                if Bool.random(using: &generator) {
                    bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
                } else {
                    bytes.removeSubrange(index..<min(bytes.count, index + 9))
                }
            }
            #expect(try read(bytes).records.count <= 50)
        }
    }

    @Test("Lines beyond the limit are skipped, and each is reported once")
    func maxLineLength() throws {
        let long = [300_000, 1001].map { [UInt8](repeating: UInt8(ascii: "x"), count: $0) + [UInt8(ascii: "\n")] }
        try Data(lines(0..<1) + long.joined() + lines(1..<2)).write(to: URL(fileURLWithPath: scratch.file("s")))
        var reader = try SampleFileReader(path: scratch.file("s"), maxLineLength: 1000)
        var numbers: [UInt64] = []
        while let record = try reader.next() { numbers.append(record.sequence) }
        #expect(numbers == [0, 1])
        #expect(reader.problems.map(\.description) == [2, 3].map { "line \($0): longer than 1000 bytes" })
    }

    @Test("Few compressed bytes that give a very long line are skipped, and reported once")
    func bomb() throws {
        let packed = try #require(Gzip.compress([UInt8](repeating: UInt8(ascii: "x"), count: 40 << 20)))
        let (records, problems) = try read(packed + packed + member(0..<1))
        #expect(records.isEmpty)
        #expect(problems.map(\.line) == [1])
    }
}
