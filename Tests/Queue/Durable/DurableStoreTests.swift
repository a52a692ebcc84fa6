import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import QueueTorture
import TestTraits
import Testing

@testable import InstrumentDurableQueue

@Suite("Durable store", .ownThread)
struct DurableStoreTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func open(_ configuration: DurableConfiguration = DurableConfiguration(segmentSize: 4096)) throws
        -> DurableStore
    {
        try DurableStore(directory: scratch.path, configuration: configuration)
    }

    #if os(Linux)
    @Test("After a synchronization that failed, the next one writes again what the failed one should have written")
    func failedSynchronization() throws {
        let path = scratch.file("failing")
        let configuration = DurableConfiguration(segmentSize: 1 << 16, synchronization: .never)
        let store = try DurableStore(directory: path, configuration: configuration)
        store.attach("one")
        for number in 0..<200 { _ = try store.append([NumberedSamples.sample(number)]) }
        // What still needs the folder comes before its move.
        try store.own.drainer.drain()
        store.own.maintenanceQueue.queue.sync {}
        store.own.choreWorker.doChores()
        let folder = store.own.path
        try FileManager.default.moveItem(atPath: folder, toPath: folder + ".away")
        // The segment is synchronized, and then the folder cannot be.
        #expect(throws: QueueError.self) { try store.synchronize() }
        #expect(try Self.unwrittenBytes(in: folder + ".away") > 4096)
        #expect(store.progress.synchronizedEnd == 0)
        try FileManager.default.moveItem(atPath: folder + ".away", toPath: folder)
        try store.synchronize()
        #expect(store.progress.synchronizedEnd == 200)
        let unwritten = try Self.unwrittenBytes(in: folder)
        // A tmpfs writes nothing.
        if unwritten > 0 { print("SKIPPED: this file system has no written pages (\(folder))") }
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == Array(0..<200))
        store.close()
    }

    /// The bytes of the segments' mapped pages that the system has to write (proc(5), `smaps`).
    private static func unwrittenBytes(in folder: String) throws -> Int {
        // Foundation reads the first block alone of a file without a length.
        let text = String(decoding: try #require(try Directory.bytes(of: "/proc/self/smaps")), as: UTF8.self)
        var (isSegment, kilobytes) = (false, 0)
        for line in text.split(separator: "\n") {
            if line.contains("-"), line.contains("/") || !line.contains("kB") {
                isSegment = line.contains(folder + "/") && line.hasSuffix(".segment")
            } else if isSegment, line.hasPrefix("Shared_Dirty:") || line.hasPrefix("Private_Dirty:") {
                kilobytes += line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            }
        }
        return kilobytes * 1024
    }
    #endif

    @Test("The store fulfils the contract for stores")
    func contract() throws {
        var number = 0
        try StoreContract.check {
            number += 1
            do {
                return try DurableStore(directory: scratch.path + "/\(number)")
            } catch {
                Issue.record("\(error)")
                return InMemoryStore()
            }
        }
    }

    @Test("A sample keeps its service across restarts, as a dead letter, and when it is retried")
    func service() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        let stored = [NumberedSamples.sample(0).addressed(to: "sift"), NumberedSamples.sample(1)]
        _ = try store?.append(stored)
        store = nil
        let again = try open()
        again.attach("one")
        let records = again.next(for: "one", maxCount: 10, maxBytes: .max)
        #expect(records.map(\.service) == ["sift", nil])
        #expect(records.map(\.sample) == [NumberedSamples.sample(0), NumberedSamples.sample(1)])
        again.settle("one", through: 1, dead: [0: "no", 1: "no"])
        let letters = again.deadLetters(of: "one").map(\.record)
        #expect(letters == records)
        again.retryDeadLetters(Set(records.map(\.id)), of: "one")
        #expect(again.next(for: "one", maxCount: 10, maxBytes: .max) == records)
    }

    @Test("Unsettled samples are available after the next start with the same identifiers, and the ledger continues")
    func restart() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        store?.attach("two")
        for number in 0..<500 { _ = try store?.append([NumberedSamples.sample(number)]) }
        let first = store?.next(for: "one", maxCount: 200, maxBytes: .max) ?? []
        store?.settle("one", through: 199, dead: [7: "no"])
        store = nil
        let again = try open()
        again.attach("one")
        let second = again.next(for: "one", maxCount: 1000, maxBytes: .max)
        #expect(NumberedSamples.numbers(second) == Array(200..<500))
        #expect(again.deadLetters(of: "one").map(\.reason) == ["no"])
        #expect(again.deadLetters(of: "one").map(\.record) == [first[7]])
        let ledger = again.ledger(of: "one")
        #expect(
            [ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dead, ledger.dropped] == [500, 199, 300, 1, 0]
                as [Int]
        )
        #expect(again.next(for: "two", maxCount: 1, maxBytes: .max).first?.id == first.first?.id)
    }

    @Test("A leased batch is read again unchanged after a restart, also after further appends")
    func lease() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        for number in 0..<5 { _ = try store?.append([NumberedSamples.sample(number)]) }
        let given = store?.next(for: "one", maxCount: 100, maxBytes: .max) ?? []
        for number in 5..<20 { _ = try store?.append([NumberedSamples.sample(number)]) }
        // As after a crash: the store is not closed.
        store = nil
        store = try open()
        #expect(store?.next(for: "one", maxCount: 100, maxBytes: .max) == given)
        store?.settle("one", through: try #require(given.last).sequence, dead: [:])
        let rest = store?.next(for: "one", maxCount: 100, maxBytes: .max) ?? []
        #expect(NumberedSamples.numbers(rest) == Array(5..<20))
    }

    @Test("A store that is released has closed its bookkeeping when its folder is free for the next one")
    func release() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        _ = try store?.append([NumberedSamples.sample(0)])
        // As by work in the background, which ends later.
        let retained = try #require(store?.own)
        store = nil
        #expect(retained.folder.bookkeeping.isClosed)
        #expect(scratch.files(".sqlite-wal").isEmpty)
        retained.saver.saveChanges()
        #expect(NumberedSamples.numbers(NumberedSamples.drain(try open())) == [0])
    }

    @Test("A crash before a spare segment is renamed loses nothing")
    func unnamedSegment() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        for number in 0..<200 { _ = try store?.append([NumberedSamples.sample(number)]) }
        store?.close()
        store = nil
        let last = try #require(scratch.files(".segment").sorted().last)
        let folder = (last as NSString).deletingLastPathComponent
        try FileManager.default.moveItem(atPath: last, toPath: folder + "/spare")
        store = try open()
        #expect(try NumberedSamples.numbers(NumberedSamples.drain(#require(store))) == Array(0..<200))
    }

    @Test("A spare segment without records holds no samples")
    func unusedSpare() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        _ = try store?.append([NumberedSamples.sample(0)])
        store?.close()
        store = nil
        let folder = (try #require(scratch.files(".segment").first) as NSString).deletingLastPathComponent
        for content in [Data(count: 4096), Data(count: 10), Data("INSTRSEG".utf8) + Data(count: 4088)] {
            try content.write(to: URL(fileURLWithPath: folder + "/spare"))
            store = try open()
            #expect(try store?.append([NumberedSamples.sample(1)]) ?? 0 > 0)
            store?.close()
            store = nil
        }
        store = try open()
        #expect(try NumberedSamples.numbers(NumberedSamples.drain(#require(store))) == [0, 1, 1, 1])
    }

    @Test("Segments that every backend has passed are deleted, also across starts")
    func deletion() throws {
        let store = try open()
        store.attach("one")
        store.attach("two")
        for number in 0..<500 { _ = try store.append([NumberedSamples.sample(number)]) }
        try store.synchronize()
        store.own.choreWorker.doChores()
        let before = scratch.files(".segment").count
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store, "one")) == Array(0..<500))
        // The rename of the newest segment may follow a moment later.
        #expect(before > 3 && scratch.files(".segment").count >= before)
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store, "two")) == Array(0..<500))
        #expect(scratch.files(".segment").count <= 1)
    }

    @Test("A sample that is larger than a segment is stored")
    func large() throws {
        let store = try open()
        store.attach("one")
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 0))
        let text = String(repeating: "x", count: 100_000)
        let large = Sample.event(Event(.ping, tracker: TrackerID(0), time: time, attributes: ["text": .string(text)]))
        for sample in [NumberedSamples.sample(0), large, NumberedSamples.sample(1)] { _ = try store.append([sample]) }
        #expect(
            NumberedSamples.drain(store).map(\.sample) == [NumberedSamples.sample(0), large, NumberedSamples.sample(1)]
        )
    }

    @Test("Two stores on one directory have a folder each, and the next store delivers their remaining samples")
    func twoStores() throws {
        var first: DurableStore? = try open()
        first?.attach("one")
        let second = try open()
        second.attach("one")
        for number in 0..<10 { _ = try first?.append([NumberedSamples.sample(number)]) }
        for number in 10..<20 { _ = try second.append([NumberedSamples.sample(number)]) }
        #expect(NumberedSamples.numbers(NumberedSamples.drain(second)) == Array(10..<20))
        first?.close()
        first = nil
        second.close()
        let third = try open()
        third.attach("one")
        _ = try third.append([NumberedSamples.sample(20)])
        #expect(NumberedSamples.numbers(NumberedSamples.drain(third)) == Array(0..<10) + [20])
        #expect(scratch.files("lock").count == 1)
        let ledger = third.ledger(of: "one")
        #expect([ledger.emitted, ledger.acknowledged, ledger.queued] == [21, 21, 0] as [Int])
    }

    @Test("Dead letters are retried first and alone, or discarded, also across a restart, and the ledger adds up")
    func deadLetters() throws {
        let store = try open()
        store.attach("one")
        for number in 0..<10 { _ = try store.append([NumberedSamples.sample(number)]) }
        let records = store.next(for: "one", maxCount: 6, maxBytes: .max)
        store.settle("one", through: 5, dead: [1: "a", 3: "b", 4: "c"])
        #expect(store.dropDeadLetters([records[1].id], of: "one") == 1)
        #expect(store.retryDeadLetters([records[3].id, records[4].id, records[0].id], of: "one") == 2)
        store.close()

        let again = try open()
        again.attach("one")
        #expect(again.deadLetters(of: "one").isEmpty)
        let counts = { () -> [Int] in
            let ledger = again.ledger(of: "one")
            return [ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dead, ledger.dropped]
        }
        #expect(counts() == [10, 3, 6, 0, 1])
        let retried = again.next(for: "one", maxCount: 10, maxBytes: .max)
        #expect(retried == [records[3], records[4]])
        again.settle("one", through: 4, dead: [4: "d"])
        #expect(counts() == [10, 4, 4, 1, 1])
        #expect(again.deadLetters(of: "one") == [DeadLetter(record: records[4], reason: "d")])
        #expect(NumberedSamples.numbers(NumberedSamples.drain(again)) == Array(6..<10))
        #expect(counts() == [10, 8, 0, 1, 1])
    }

    @Test("A new backend begins now or with the oldest sample, as configured")
    func newcomers() throws {
        let store = try open()
        store.attach("one")
        _ = try store.append([NumberedSamples.sample(0)])
        store.attach("now")
        store.close()
        let again = try open(DurableConfiguration(newcomers: .oldest))
        again.attach("oldest")
        _ = try again.append([NumberedSamples.sample(1)])
        #expect(NumberedSamples.numbers(NumberedSamples.drain(again, "now")) == [1])
        #expect(NumberedSamples.numbers(NumberedSamples.drain(again, "oldest")) == [0, 1])
    }

    @Test("Opening a store fails when the directory is not writable")
    func notWritable() throws {
        #expect(throws: QueueError.self) { try DurableStore(directory: "/proc/no/queue") }
    }
}
