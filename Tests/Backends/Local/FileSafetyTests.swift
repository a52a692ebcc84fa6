import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import Synchronization
import TestTraits
import Testing

@testable import InstrumentBackends

@Suite("File backend with existing files", .ownThread)
struct FileSafetyTests {
    let scratch: Scratch
    let clock = VirtualClock()

    init() throws { scratch = try Scratch() }

    func backend(_ name: String, _ configuration: FileConfiguration = FileConfiguration()) throws -> FileBackend {
        try FileBackend(path: scratch.file(name), configuration: configuration, clock: clock)
    }

    func code(_ body: () throws -> some Any) -> FileBackendError.Code? {
        do {
            _ = try body()
            return nil
        } catch { return (error as? FileBackendError)?.code }
    }

    @Test(
        "A file with the other compression is refused and left unchanged",
        arguments: [FileConfiguration.Compression.none, .gzip]
    )
    func otherFormat(compression: FileConfiguration.Compression) async throws {
        let first = try backend("s", FileConfiguration(compression: compression))
        _ = await first.deliver(Samples.batch(0..<50))
        await first.end()
        let before = scratch.bytes("s")
        let other: FileConfiguration.Compression = compression == .none ? .gzip : .none
        #expect(code { try backend("s", FileConfiguration(compression: other)) } == .otherFormat)
        #expect(scratch.bytes("s") == before)
    }

    @Test(
        "A file with other content is refused and left unchanged",
        arguments: [FileConfiguration.Compression.none, .gzip]
    )
    func foreign(compression: FileConfiguration.Compression) throws {
        try Data("a film\nor a letter".utf8).write(to: URL(fileURLWithPath: scratch.file("s")))
        #expect(code { try backend("s", FileConfiguration(compression: compression)) } == .otherFormat)
        #expect(scratch.bytes("s") == Array("a film\nor a letter".utf8))
    }

    @Test("A number beyond counting in a file's name does not trap")
    func hugeNumber() async throws {
        let name = "s.9223372036854775807.ndjson"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: scratch.file(name)))
        let backend = try backend("s.ndjson", FileConfiguration(rotation: .init(maxBytes: 1)))
        _ = await backend.deliver(Samples.batch(0..<1))
        #expect(await backend.deliver(Samples.batch(1..<2)) == .acknowledged)
        #expect(scratch.names == ["s.000001.ndjson", name, "s.ndjson"])
    }

    @Test("A compressed file with damage in the middle is renamed unchanged, and a new one begins")
    func damagedInTheMiddle() async throws {
        let configuration = FileConfiguration(compression: .gzip)
        let first = try backend("s.ndjson.gz", configuration)
        for start in [0, 10, 20] { _ = await first.deliver(Samples.batch(start..<start + 10)) }
        await first.end()
        var bytes = scratch.bytes("s.ndjson.gz")
        bytes[bytes.count / 2] ^= 0xFF
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("s.ndjson.gz")))
        let second = try backend("s.ndjson.gz", configuration)
        #expect(await second.deliver(Samples.batch(30..<40)) == .acknowledged)
        #expect(scratch.bytes("s.000001.ndjson.gz") == bytes)
        #expect(try readAll(scratch.file("s.ndjson.gz")).records == Samples.batch(30..<40).records)
    }

    @Test("A file of zeros after a loss of power is renamed, and a new one begins")
    func zeros() async throws {
        try Data(count: 100).write(to: URL(fileURLWithPath: scratch.file("s")))
        let backend = try backend("s")
        #expect(await backend.deliver(Samples.batch(0..<1)) == .acknowledged)
        #expect(scratch.names == ["s", "s.000001"])
        #expect(scratch.bytes("s.000001") == [UInt8](repeating: 0, count: 100))
    }

    @Test("A symbolic link is followed, and rotated files are placed beside its target")
    func symbolicLink() async throws {
        try FileManager.default.createDirectory(atPath: scratch.file("real"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("s.ndjson"),
            withDestinationPath: scratch.file("real/t.ndjson")
        )
        let backend = try backend("s.ndjson", FileConfiguration(rotation: .init(maxBytes: 1)))
        for number in 0..<3 {
            #expect(await backend.deliver(Samples.batch(number..<number + 1)) == .acknowledged)
        }
        #expect(scratch.names == ["real", "s.ndjson"])
        let names = ["real/t.000001.ndjson", "real/t.000002.ndjson", "s.ndjson"]
        let numbers = try names.flatMap { try readAll(scratch.file($0)).records.map(\.sequence) }
        #expect(numbers == [0, 1, 2])
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: scratch.file("s.ndjson"))) != nil)
    }

    @Test("A truncated file is continued at its new end, without a gap")
    func cutOff() async throws {
        let backend = try backend("s")
        _ = await backend.deliver(Samples.batch(0..<10))
        #expect(truncate(scratch.file("s"), 0) == 0)
        #expect(await backend.deliver(Samples.batch(10..<20)) == .acknowledged)
        #expect(try readAll(scratch.file("s")).records == Samples.batch(10..<20).records)
    }

    @Test("After a restart, numbers continue after the highest existing one")
    func numbersGoOn() async throws {
        try Data("mine".utf8).write(to: URL(fileURLWithPath: scratch.file("s.000041.ndjson")))
        for number in 0..<3 {
            let backend = try backend("s.ndjson", FileConfiguration(rotation: .init(maxBytes: 1)))
            _ = await backend.deliver(Samples.batch(number..<number + 1))
            await backend.end()
        }
        #expect(scratch.names == ["s.000041.ndjson", "s.000042.ndjson", "s.000043.ndjson", "s.ndjson"])
        #expect(scratch.bytes("s.000041.ndjson") == Array("mine".utf8))
    }

    @Test("A rotated name that another process took is not overwritten")
    func taken() async throws {
        // Numbers of more than 18 digits are not counted on from, so that the next one is not seen to be taken.
        for number in ["999999999999999999", "1000000000000000000"] {
            try Data("mine".utf8).write(to: URL(fileURLWithPath: scratch.file("s.\(number).ndjson")))
        }
        let backend = try backend("s.ndjson", FileConfiguration(rotation: .init(maxBytes: 1)))
        for number in 0..<2 { _ = await backend.deliver(Samples.batch(number..<number + 1)) }
        #expect(scratch.bytes("s.1000000000000000000.ndjson") == Array("mine".utf8))
        #expect(try readAll(scratch.file("s.1000000000000000001.ndjson")).records == Samples.batch(0..<1).records)
    }
}
