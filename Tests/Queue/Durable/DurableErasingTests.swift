import Foundation
import GRDB
import Instrument
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentDurableQueue

@Suite("Erasing from the durable store", .ownThread)
struct DurableErasingTests {
    let scratch: Scratch
    let store: DurableStore

    init() throws {
        scratch = try Scratch()
        store = try Self.open(scratch.path)
        store.attach("one")
        store.attach("two")
    }

    static func open(_ path: String, report: @escaping @Sendable (Diagnostic) -> Void = { _ in }) throws -> DurableStore
    {
        try DurableStore(
            directory: path,
            configuration: DurableConfiguration(segmentSize: 4096),
            report: report
        )
    }

    static func sample(_ person: String, _ number: Int) -> Sample {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: Int64(number)), wallTime: WallTime(milliseconds: 1))
        let attributes: Attributes = ["number": .int(number), "userId": .string(person)]
        return .event(Event(.ping, tracker: TrackerID(0), time: time, attributes: attributes))
    }

    static func isOf(_ person: String) -> (SampleRecord) -> Bool {
        { $0.sample.attributes[.userId] == person }
    }

    /// Every file that contains a text.
    func files(with text: String) throws -> [String] {
        let needle = Data(text.utf8)
        return try FileManager.default.subpathsOfDirectory(atPath: scratch.path).filter { path in
            FileManager.default.contents(atPath: scratch.path + "/" + path)?.range(of: needle) != nil
        }
    }

    func fill(_ count: Int = 400) throws {
        for number in 0..<count { _ = try store.append([Self.sample(number % 4 == 0 ? "p-ann" : "p-bob", number)]) }
    }

    @Test("An erasure reaches a folder that could not be opened at the start, or says that it could not read it")
    func unreadFolder() throws {
        try fill()
        store.close()
        let name = try #require(
            try FileManager.default.subpathsOfDirectory(atPath: scratch.path).first { $0.hasSuffix(".sqlite") }
        )
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: scratch.path + "/" + name, configuration: configuration)
        try other.inDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE") }
        let again = try Self.open(scratch.path)
        again.attach("one")
        _ = try again.append([Self.sample("p-ann", 1000)])
        let error = #expect(throws: QueueError.self) { try again.erase(where: Self.isOf("p-ann")) }
        #expect(error?.description.contains("erased 1 sample") == true && error?.description.contains(".queue") == true)
        #expect(try !files(with: "p-ann").isEmpty)
        try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try other.close()
        #expect(try again.erase(where: Self.isOf("p-ann")) == 100)
        #expect(try files(with: "p-ann").isEmpty)
        // The others wait for the next start.
        again.close()
        let last = try Self.open(scratch.path)
        #expect(last.ledger(of: "one").queued == 300)
    }

    @Test("Erased samples are in no file: not in segments, bookkeeping or its journal")
    func bytes() throws {
        try fill()
        // A dead letter and a letter to retry are in the bookkeeping.
        _ = store.next(for: "one", maxCount: 1, maxBytes: .max)
        store.settle("one", through: 0, dead: [:])
        let records = store.next(for: "two", maxCount: 9, maxBytes: .max)
        store.settle("two", through: 8, dead: [0: "no", 4: "no", 5: "no"])
        store.retryDeadLetters([records[4].id], of: "two")
        #expect(try files(with: "p-ann").count > 3)
        #expect(try store.erase(where: Self.isOf("p-ann")) == 100)
        #expect(try files(with: "p-ann") == [])
        #expect(try !files(with: "p-bob").isEmpty)
        let (one, two) = (store.ledger(of: "one"), store.ledger(of: "two"))
        #expect((one.emitted, one.acknowledged, one.queued, one.drops[.erased]) == (400, 1, 300, 99))
        #expect((two.emitted, two.acknowledged, two.dead, two.queued, two.drops[.erased]) == (400, 6, 1, 294, 99))
        #expect(two.emitted == two.acknowledged + two.queued + two.dead + two.dropped)
        #expect(NumberedSamples.drain(store, "one").count == 300)
    }

    @Test("The ledger adds up after a restart, and reading continues around the gaps")
    func restart() throws {
        try fill()
        #expect(try store.erase(where: Self.isOf("p-ann")) == 100)
        let before = store.ledger(of: "one")
        store.close()
        let again = try Self.open(scratch.path)
        #expect(again.ledger(of: "one") == before)
        let records = NumberedSamples.drain(again)
        #expect(NumberedSamples.numbers(records) == (0..<400).filter { $0 % 4 != 0 })
        let end = again.ledger(of: "one")
        #expect((end.acknowledged, end.queued, end.drops) == (300, 0, [.erased: 100]))
    }

    @Test("The next start completes an erasure that a crash has interrupted")
    func crash() throws {
        try fill()
        try store.synchronize()
        store.settleFiles()
        // The files before the first rewrite.
        let copy = scratch.path + "-copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try FileManager.default.copyItem(atPath: scratch.path, toPath: copy)
        #expect(try store.erase(where: Self.isOf("p-ann")) == 100)
        let before = store.ledger(of: "one")
        store.close()
        let names = try FileManager.default.subpathsOfDirectory(atPath: copy).filter { $0.hasSuffix(".segment") }
        for name in names {
            try? FileManager.default.removeItem(atPath: scratch.path + "/" + name)
            try FileManager.default.copyItem(atPath: copy + "/" + name, toPath: scratch.path + "/" + name)
        }
        let folder = try #require(names.first?.split(separator: "/").first)
        let bookkeeping = try Bookkeeping(path: "\(scratch.path)/\(folder)/bookkeeping.sqlite")
        try bookkeeping.database.write { try $0.execute(sql: "UPDATE erased SET done = 0") }
        bookkeeping.close()
        #expect(try !files(with: "p-ann").isEmpty)
        let again = try Self.open(scratch.path)
        #expect(try files(with: "p-ann") == [])
        #expect(again.ledger(of: "one") == before)
    }

    @Test("A mark survives the process, and the next process erases the held samples after it")
    func heldAcrossRestart() throws {
        try fill(10)
        try store.hold()
        for number in 10..<30 { _ = try store.append([Self.sample("p-held", number)]) }
        store.close()
        let again = try Self.open(scratch.path)
        try again.hold()
        _ = try again.append([Self.sample("p-held", 30)])
        #expect(try again.eraseHeld() == 21)
        #expect(try files(with: "p-held") == [])
        #expect(NumberedSamples.numbers(NumberedSamples.drain(again)) == Array(0..<10))
        #expect(try again.eraseHeld() == 0)
    }

    @Test("An unreadable mark holds every sample")
    func damagedMark() throws {
        try fill(10)
        try store.hold()
        store.close()
        let mark = try #require(
            try FileManager.default.subpathsOfDirectory(atPath: scratch.path).first { $0.hasSuffix("/held") }
        )
        try Data("???".utf8).write(to: URL(fileURLWithPath: scratch.path + "/" + mark))
        let again = try Self.open(scratch.path)
        #expect(try again.eraseHeld() == 10)
    }

    @Test("A batch that is erased while a lane delivers it is counted once")
    func inFlight() throws {
        try fill(40)
        let read = store.next(for: "one", maxCount: 20, maxBytes: .max)
        #expect(try store.erase(where: Self.isOf("p-ann")) == 10)
        store.settle("one", through: try #require(read.last).sequence, dead: [:])
        let ledger = store.ledger(of: "one")
        #expect((ledger.acknowledged, ledger.queued, ledger.drops) == (15, 15, [.erased: 10]))
    }

    @Test("Samples that a limit removes during a delivery are dropped, and the rest of the batch is acknowledged")
    func droppedInFlight() throws {
        let limits = QueueLimits(maxCount: 100)
        let small = try DurableStore(
            directory: scratch.path + "/small",
            configuration: DurableConfiguration(limits: limits, segmentSize: 4096)
        )
        small.attach("one")
        for number in 0..<100 { _ = try small.append([Self.sample("p", number)]) }
        let read = small.next(for: "one", maxCount: 100, maxBytes: .max)
        for number in 100..<101 { _ = try small.append([Self.sample("p", number)]) }
        try small.synchronize()
        let dropped = small.ledger(of: "one").dropped
        #expect(dropped > 0 && dropped < 100, "\(dropped)")
        small.settle("one", through: try #require(read.last).sequence, dead: [:])
        let ledger = small.ledger(of: "one")
        #expect((ledger.acknowledged, ledger.drops) == (100 - dropped, [.count: dropped]))
    }

    @Test("Erasing keeps all other samples when threads append and read, and the ledger adds up")
    func concurrent() async throws {
        let store = store
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<3 {
                group.addTask {
                    for number in 0..<300 {
                        let person = number % 3 == 0 ? "p-ann" : "p-bob"
                        _ = try? store.append([Self.sample(person, thread * 1000 + number)])
                    }
                }
            }
            group.addTask { for _ in 0..<20 { _ = try? store.erase(where: Self.isOf("p-ann")) } }
            group.addTask {
                for _ in 0..<50 {
                    let records = store.next(for: "one", maxCount: 10, maxBytes: .max)
                    if let last = records.last { store.settle("one", through: last.sequence, dead: [:]) }
                }
            }
        }
        _ = try store.erase(where: Self.isOf("p-ann"))
        let rest = NumberedSamples.drain(store, "two")
        #expect(rest.count == 600 && rest.allSatisfy { $0.sample.attributes[.userId] == "p-bob" })
        _ = NumberedSamples.drain(store, "one")
        for name: BackendName in ["one", "two"] {
            let ledger = store.ledger(of: name)
            #expect((ledger.emitted, ledger.queued, ledger.drops[.corrupt]) == (900, 0, nil))
            #expect(ledger.acknowledged + ledger.dropped == 900)
        }
    }
}

@Suite("Sequence set", .ownThread)
struct SequenceSetTests {
    @Test("A sequence set counts, finds and removes like a set of numbers")
    func property() {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<300 {
            var (set, reference) = (SequenceSet(), Set<UInt64>())
            for _ in 0..<4 {
                var addition = SequenceSet()
                var start: UInt64 = 0
                for _ in 0..<Int.random(in: 0..<5, using: &generator) {
                    start += UInt64.random(in: 0..<6, using: &generator)
                    let range = start..<start + UInt64.random(in: 0..<5, using: &generator)
                    addition.append(range)
                    reference.formUnion(range)
                    start = range.upperBound
                }
                set.formUnion(addition)
            }
            let cut = UInt64.random(in: 0..<10, using: &generator)
            set.removeAll(below: cut)
            reference = reference.filter { $0 >= cut }
            #expect(set.count == reference.count)
            for number in 0..<UInt64(50) {
                #expect(set.contains(number) == reference.contains(number))
                let end = number + UInt64.random(in: 0..<20, using: &generator)
                #expect(set.count(in: number..<end) == reference.filter { (number..<end).contains($0) }.count)
                #expect(set.firstAbsent(from: number) == (number...200).first { !reference.contains($0) })
            }
        }
    }
}
