import Foundation
import Instrument
import InstrumentTestKit
import Synchronization
import Testing

@testable import InstrumentBackends

@Suite("File backend and what is already there")
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
        "A file of the other format is refused and left as it is",
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
        "A file that holds something else is refused and left as it is",
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
}
