import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import QueueTorture
import TestTraits
import Testing

@testable import InstrumentDurableQueue

/// Segments and bookkeeping with flipped, missing and strange content.
@Suite("Damaged durable store", .ownThread)
struct DamagedStoreTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func open(_ configuration: DurableConfiguration = DurableConfiguration(segmentSize: 4096)) throws
        -> DurableStore
    {
        try DurableStore(directory: scratch.path, configuration: configuration)
    }

    @Test("A flipped byte loses only its sample, and the loss is counted")
    func flippedBytes() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        for number in 0..<20 { _ = try store?.append([NumberedSamples.sample(number)]) }
        store?.close()
        store = nil
        let segment = try #require(scratch.files(".segment").first)
        let whole = try Data(contentsOf: URL(fileURLWithPath: segment))
        let saved = try copies()
        for offset in stride(from: 0, to: whole.count, by: !TortureSettings.isLong ? 3 : 1) {
            try restore(saved)
            var damaged = whole
            damaged[offset] ^= 0x40
            try damaged.write(to: URL(fileURLWithPath: segment))
            let again = try open()
            again.attach("one")
            let numbers = NumberedSamples.numbers(NumberedSamples.drain(again))
            #expect(numbers.count >= 19, "byte \(offset): \(numbers)")
            #expect(numbers == numbers.sorted())
            let ledger = again.ledger(of: "one")
            #expect(ledger.emitted == ledger.settled)
            #expect(ledger.acknowledged == numbers.count)
            again.close()
        }
    }

    @Test("A byte flipped anywhere in the bookkeeping loses no sample, and the ledger adds up")
    func flippedBookkeeping() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        for number in 0..<20 { _ = try store?.append([NumberedSamples.sample(number)]) }
        let settled = store?.next(for: "one", maxCount: 10, maxBytes: .max) ?? []
        store?.settle("one", through: try #require(settled.last).sequence, dead: [3: "no"])
        store?.close()
        store = nil
        let file = try #require(scratch.files(".sqlite").first)
        let whole = try Data(contentsOf: URL(fileURLWithPath: file))
        let folder = (file as NSString).deletingLastPathComponent
        let segment = try #require(scratch.files(".segment").first)
        let samples = try Data(contentsOf: URL(fileURLWithPath: segment))
        // SQLite opens a file with another write version (18) only for reading, and one with another read version (19)
        // not at all. The name of the backend is also that of its dead letter.
        let names = whole.indices.filter { whole[$0...].starts(with: Data("one".utf8)) }
        let offsets =
            TortureSettings.isLong
            ? Array(whole.indices) : [18, 19] + names + stride(from: 0, to: whole.count, by: 397)
        for offset in offsets {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                try FileManager.default.removeItem(atPath: folder + "/" + name)
            }
            var damaged = whole
            damaged[offset] ^= 0x01
            try damaged.write(to: URL(fileURLWithPath: file))
            try samples.write(to: URL(fileURLWithPath: segment))
            let said = Lock<[Diagnostic]>([])
            let again = try DurableStore(
                directory: scratch.path,
                configuration: DurableConfiguration(segmentSize: 4096),
                report: { diagnostic in said.withLock { $0.append(diagnostic) } }
            )
            again.attach("one")
            let numbers = NumberedSamples.numbers(NumberedSamples.drain(again))
            #expect(Set(numbers).isSuperset(of: 10..<20), "offset \(offset): \(numbers), \(said.withLock { $0 })")
            let ledger = again.ledger(of: "one")
            let settled = ledger.acknowledged + ledger.queued + ledger.dead + ledger.dropped
            #expect(ledger.emitted == settled, "offset \(offset): \(ledger), \(said.withLock { $0 })")
            again.close()
        }
    }

    @Test("A truncated segment keeps the samples before the cut, and writing continues")
    func cut() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        for number in 0..<20 { _ = try store?.append([NumberedSamples.sample(number)]) }
        store?.close()
        store = nil
        let segment = try #require(scratch.files(".segment").first)
        let whole = try Data(contentsOf: URL(fileURLWithPath: segment))
        let saved = try copies()
        for length in stride(from: 0, through: whole.count, by: !TortureSettings.isLong ? 41 : 1) {
            try restore(saved)
            try whole.prefix(length).write(to: URL(fileURLWithPath: segment))
            let again = try open()
            again.attach("one")
            _ = try again.append([NumberedSamples.sample(100)])
            let numbers = NumberedSamples.numbers(NumberedSamples.drain(again))
            #expect(numbers.last == .some(100))
            #expect(Array(numbers.dropLast()) == Array(0..<numbers.count - 1), "length \(length)")
            let ledger = again.ledger(of: "one")
            #expect(ledger.emitted == ledger.settled)
            again.close()
        }
    }

    @Test("A damaged bookkeeping is set aside, and every stored sample is delivered again")
    func damagedBookkeeping() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        for number in 0..<20 { _ = try store?.append([NumberedSamples.sample(number)]) }
        let ids = store?.next(for: "one", maxCount: 5, maxBytes: .max).map(\.id)
        store?.settle("one", through: 4, dead: [:])
        store?.close()
        store = nil
        let file = try #require(scratch.files("bookkeeping.sqlite").first)
        let whole = try Data(contentsOf: URL(fileURLWithPath: file))
        var flipped = whole
        for offset in stride(from: 100, to: flipped.count, by: 7) { flipped[offset] ^= 0x55 }
        for damage in [Data("this is no database".utf8), whole.prefix(whole.count / 2), flipped] {
            try damage.write(to: URL(fileURLWithPath: file))
            let said = Lock<[Diagnostic]>([])
            let again = try DurableStore(directory: scratch.path) { diagnostic in
                said.withLock { $0.append(diagnostic) }
            }
            again.attach("one")
            let records = again.next(for: "one", maxCount: 100, maxBytes: .max)
            #expect(said.withLock { $0.count } == 1)
            #expect(NumberedSamples.numbers(records) == Array(0..<20))
            #expect(Array(records.map(\.id).prefix(5)) == ids)
            again.close()
        }
        #expect(scratch.files(".damaged", ".damaged-2", ".damaged-3").count >= 3)
    }

    @Test(
        "A bookkeeping with wrong tables is set aside, and nothing traps",
        arguments: [
            "DROP TABLE letter", "UPDATE place SET cursor = 'x'", "UPDATE place SET acknowledged = NULL",
            "ALTER TABLE place DROP COLUMN carried", "UPDATE log SET random = 'y'",
            "INSERT INTO letter VALUES ('one', 3, NULL, x'00', 0)",
            "INSERT INTO dropped VALUES ('one', 'count', 'many')",
        ]
    )
    func strangeBookkeeping(sql: String) throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        for number in 0..<20 { _ = try store?.append([NumberedSamples.sample(number)]) }
        store?.close()
        store = nil
        let file = try #require(scratch.files("bookkeeping.sqlite").first)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script =
            "import sqlite3,sys; d=sqlite3.connect(sys.argv[1]); d.execute('PRAGMA ignore_check_constraints=1'); "
            + "d.execute(sys.argv[2]); d.commit()"
        process.arguments = ["python3", "-c", script, file, sql]
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        let again = try open()
        again.attach("one")
        #expect(NumberedSamples.numbers(NumberedSamples.drain(again)) == Array(0..<20))
        again.close()
    }

    /// The files of the directory, to restore before each round.
    private func copies() throws -> [String: Data] {
        var saved: [String: Data] = [:]
        for file in scratch.files("") { saved[file] = try? Data(contentsOf: URL(fileURLWithPath: file)) }
        return saved
    }

    private func restore(_ saved: [String: Data]) throws {
        for file in scratch.files("") where (try? FileManager.default.contentsOfDirectory(atPath: file)) == nil {
            try? FileManager.default.removeItem(atPath: file)
        }
        for (file, data) in saved { try data.write(to: URL(fileURLWithPath: file)) }
    }
}
