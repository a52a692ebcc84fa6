import Foundation
import Instrument
import InstrumentJSON
import InstrumentTestKit
import LoopbackServers
import Synchronization
import TestTraits
import Testing

@testable import InstrumentBackends

/// The records and problems that a reader finds in a file.
func readAll(_ path: String) throws -> (records: [SampleRecord], problems: [SampleFileReader.Problem]) {
    var reader = try SampleFileReader(path: path)
    var records: [SampleRecord] = []
    while let record = try reader.next() { records.append(record) }
    return (records, reader.problems)
}

@Suite("File backend", .ownThread)
struct FileBackendTests {
    let scratch: Scratch
    let clock = VirtualClock()

    init() throws { scratch = try Scratch() }

    func backend(
        _ name: String = "samples.ndjson",
        _ configuration: FileConfiguration = FileConfiguration()
    ) throws -> FileBackend {
        try FileBackend(path: scratch.file(name), configuration: configuration, clock: clock)
    }

    @Test(
        "Written samples are read back equal, with any content",
        arguments: [FileConfiguration.Compression.none, .gzip]
    )
    func roundTrip(compression: FileConfiguration.Compression) async throws {
        var generator = SeededGenerator(seed: 3)
        let records = (0..<500).map { Samples.random($0, &generator) }
        let backend = try backend("a/b/samples.ndjson", FileConfiguration(compression: compression))
        for start in stride(from: 0, to: 500, by: 70) {
            let batch = Batch(records: Array(records[start..<min(500, start + 70)]))
            #expect(await backend.deliver(batch) == .acknowledged)
        }
        let (read, problems) = try readAll(scratch.file("a/b/samples.ndjson"))
        #expect(read == records)
        #expect(problems.isEmpty)
    }

    @Test(
        "The short form writes a file beside the console's, compressed if its name ends in .gz",
        arguments: ["a.ndjson", "a.ndjson.gz"]
    )
    func shortForm(name: String) async throws {
        let instrument = Instrument(backends: [try .file(scratch.file(name))])
        let id = instrument.add(PlayerTracker(ScriptedPlayer()))
        instrument.ready()
        #expect(instrument.emit(.mediaRequest, from: id) == .stored)
        #expect(await instrument.shutdown(timeout: .seconds(1800)))
        let actions = try readAll(scratch.file(name)).records.compactMap { record in
            if case .event(let event) = record.sample { event.action } else { nil }
        }
        #expect(actions.last == .mediaRequest)
        #expect((scratch.bytes(name).first == 0x1f) == name.hasSuffix(".gz"))
    }

    @Test("The real gzip reads a compressed file")
    func realGzip() async throws {
        let backend = try backend("samples.ndjson.gz", FileConfiguration(compression: .gzip))
        for number in 0..<3 { _ = await backend.deliver(Samples.batch(number * 10..<number * 10 + 10)) }
        await backend.end()
        let process = Process()
        let output = Pipe.forChild()
        process.executableURL = URL(fileURLWithPath: "/bin/gzip")
        process.arguments = ["-dc", scratch.file("samples.ndjson.gz")]
        process.standardOutput = output
        try process.start()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(text.split(separator: "\n").count == 30)
    }

    @Test(
        "The reader reports a torn end, and the backend removes it before it writes",
        arguments: [
            FileConfiguration.Compression.none, .gzip,
        ]
    )
    func torn(compression: FileConfiguration.Compression) async throws {
        let configuration = FileConfiguration(compression: compression)
        var writer: FileBackend? = try backend("s", configuration)
        _ = await writer?.deliver(Samples.batch(0..<10))
        let whole = scratch.bytes("s").count
        _ = await writer?.deliver(Samples.batch(10..<20))
        await writer?.end()
        writer = nil
        let full = scratch.bytes("s")
        for cut in [whole + 1, whole + 12, (whole + full.count) / 2 + 3, full.count - 1] {
            try Data(full[..<cut]).write(to: URL(fileURLWithPath: scratch.file("s")))
            let (records, problems) = try readAll(scratch.file("s"))
            #expect(records.count >= 10)
            #expect(records.map(\.sequence) == Array(0..<UInt64(records.count)))
            #expect(problems.count >= 1)
            let again = try backend("s", configuration)
            let kept = try readAll(scratch.file("s"))
            #expect(kept.problems.isEmpty)
            _ = await again.deliver(Samples.batch(kept.records.count..<20))
            await again.end()
            #expect(try readAll(scratch.file("s")).records.map(\.sequence) == Array(0..<20))
        }
    }

    @Test("A file that is too large or too old is rotated, without overwriting, and only the configured number is kept")
    func rotation() async throws {
        try Data("mine".utf8).write(to: URL(fileURLWithPath: scratch.file("s.000001.ndjson")))
        let size = try await { () async throws -> Int in
            let probe = try backend("other.ndjson")
            _ = await probe.deliver(Samples.batch(0..<10))
            return scratch.bytes("other.ndjson").count
        }()
        let rotation = FileConfiguration.Rotation(maxBytes: size * 2 + 100, maxAge: .seconds(60), keptFiles: nil)
        let first = try backend("s.ndjson", FileConfiguration(rotation: rotation))
        for start in [0, 10, 20] { _ = await first.deliver(Samples.batch(start..<start + 10)) }
        #expect(scratch.names == ["other.ndjson", "s.000001.ndjson", "s.000002.ndjson", "s.ndjson"])
        clock.advance(by: .seconds(60))
        _ = await first.deliver(Samples.batch(30..<40))
        #expect(scratch.names == ["other.ndjson", "s.000001.ndjson", "s.000002.ndjson", "s.000003.ndjson", "s.ndjson"])
        #expect(scratch.bytes("s.000001.ndjson") == Array("mine".utf8))
        let parts = try ["s.000002.ndjson", "s.000003.ndjson", "s.ndjson"].flatMap { name in
            try readAll(scratch.file(name)).records.map(\.sequence)
        }
        #expect(parts == Array(0..<40))
        await first.end()
        let kept = FileConfiguration.Rotation(maxBytes: 1, keptFiles: 2)
        let second = try backend("s.ndjson", FileConfiguration(rotation: kept))
        _ = await second.deliver(Samples.batch(40..<41))
        #expect(scratch.names == ["other.ndjson", "s.000003.ndjson", "s.000004.ndjson", "s.ndjson"])
    }

    @Test("Samples stay in the queue on a full disk, and an unfinished batch is not written twice")
    func diskFull() async throws {
        let room = Mutex(150)
        var calls = FileCalls()
        calls.write = { descriptor, bytes in
            let allowed = room.withLock { min($0, bytes.count) }
            if allowed == 0 {
                errno = ENOSPC
                return -1
            }
            let written = Foundation.write(descriptor, bytes.baseAddress, allowed)
            room.withLock { $0 -= written }
            return written
        }
        let backend = try FileBackend(
            path: scratch.file("s"),
            configuration: FileConfiguration(),
            clock: clock,
            calls: calls
        )
        guard case .retry(nil, let reason) = await backend.deliver(Samples.batch(0..<10)) else {
            Issue.record("a retry was expected")
            return
        }
        #expect(reason.contains("disk is full"))
        #expect(scratch.bytes("s").isEmpty)
        room.withLock { $0 = .max }
        #expect(await backend.deliver(Samples.batch(0..<10)) == .acknowledged)
        #expect(try readAll(scratch.file("s")).records == Samples.batch(0..<10).records)
    }

    @Test("Samples stay in the queue on a really full disk until there is space")
    func realDiskFull() async throws {
        let directory = scratch.file("disk")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        // Requires permission to mount; without it, only the test above runs.
        guard run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", directory) else { return }
        defer { _ = run("umount", "-l", directory) }
        let backend = try FileBackend(path: directory + "/s", clock: clock)
        let filler = directory + "/filler"
        try Data(count: 48 << 10).write(to: URL(fileURLWithPath: filler))
        let large = Batch(records: (0..<10).map { Samples.record($0, String(repeating: "x", count: 3000)) })
        guard case .retry = await backend.deliver(large) else {
            Issue.record("a retry was expected")
            return
        }
        try FileManager.default.removeItem(atPath: filler)
        #expect(await backend.deliver(large) == .acknowledged)
        #expect(try readAll(directory + "/s").records == large.records)
        await backend.end()
    }

    @Test("A deleted directory is created again")
    func vanished() async throws {
        let backend = try backend("dir/s")
        _ = await backend.deliver(Samples.batch(0..<1))
        try FileManager.default.removeItem(atPath: scratch.file("dir"))
        #expect(await backend.deliver(Samples.batch(1..<2)) == .acknowledged)
        #expect(try readAll(scratch.file("dir/s")).records == Samples.batch(1..<2).records)
        try FileManager.default.moveItem(atPath: scratch.file("dir/s"), toPath: scratch.file("dir/old"))
        #expect(await backend.deliver(Samples.batch(2..<3)) == .acknowledged)
        #expect(try readAll(scratch.file("dir/s")).records == Samples.batch(2..<3).records)
        #expect(try readAll(scratch.file("dir/old")).records == Samples.batch(1..<2).records)
    }

    @Test("Samples stay in the queue when a directory is in the file's place, and the reason names it")
    func replaced() async throws {
        let backend = try backend("s")
        try FileManager.default.removeItem(atPath: scratch.file("s"))
        try FileManager.default.createDirectory(atPath: scratch.file("s"), withIntermediateDirectories: true)
        guard case .retry(_, let reason) = await backend.deliver(Samples.batch(0..<1)) else {
            Issue.record("a retry was expected")
            return
        }
        #expect(reason.contains("directory"))
    }

    @Test("A path that cannot be a file is refused at once, and a file has one writer")
    func refusals() throws {
        let code = { (path: String) -> FileBackendError.Code? in
            do throws(FileBackendError) {
                _ = try FileBackend(path: path)
                return nil
            } catch { return error.code }
        }
        #expect(code(scratch.path) == .notAFile)
        #expect(code("/dev/null") == .notAFile)
        let first = try backend("s")
        #expect(code(scratch.file("s")) == .inUse)
        withExtendedLifetime(first) {}
        try Data("x".utf8).write(to: URL(fileURLWithPath: scratch.file("file")))
        #expect(code(scratch.file("file/s")) != nil)
        #expect(throws: FileBackendError.self) { try readAll(scratch.file("absent")) }
    }

    @Test("Only the user can read the file")
    func permissions() throws {
        _ = try backend("s")
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch.file("s"))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test("Damaged lines are skipped and reported by number; the others are read")
    func damagedLines() async throws {
        let backend = try backend("s")
        _ = await backend.deliver(Samples.batch(0..<5))
        await backend.end()
        var lines = String(decoding: scratch.bytes("s"), as: UTF8.self).split(separator: "\n").map(String.init)
        lines[1] = "{\"half\": "
        lines[3] = "[1]"
        lines.insert("", at: 4)
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: scratch.file("s")))
        let (records, problems) = try readAll(scratch.file("s"))
        #expect(records.map(\.sequence) == [0, 2, 4])
        #expect(problems.map(\.line) == [2, 4])
    }

    @Test("An endless line is skipped and does not exhaust memory")
    func endlessLine() throws {
        let path = scratch.file("s")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let handle = try #require(FileHandle(forWritingAtPath: path))
        let piece = Data(repeating: UInt8(ascii: "x"), count: 1 << 20)
        for _ in 0..<40 { handle.write(piece) }
        handle.write(Data("\n".utf8))
        var writer = JSONWriter()
        SampleLine.write(Samples.record(1), to: &writer)
        handle.write(Data(writer.bytes))
        try handle.close()
        let (records, problems) = try readAll(path)
        #expect(records == [Samples.record(1)])
        #expect(problems.map(\.line) == [1])
    }

    private func run(_ tool: String, _ arguments: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [tool] + arguments
        process.standardError = FileHandle.nullDevice
        guard (try? process.start()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
