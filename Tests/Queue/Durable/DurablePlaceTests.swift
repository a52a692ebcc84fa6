import Foundation
import GRDB
import Instrument
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentDurableQueue

@Suite("Durable places", .ownThread)
struct DurablePlaceTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func open(_ report: @escaping @Sendable (Diagnostic) -> Void = { _ in }) throws -> DurableStore {
        try DurableStore(
            directory: scratch.path,
            configuration: DurableConfiguration(segmentSize: 4096),
            report: report
        )
    }

    private var bookkeeping: String { scratch.path + "/00000001.queue/bookkeeping.sqlite" }

    @Test(
        "A store delivers every sample and reports it when its bookkeeping was emptied or deleted",
        arguments: [false, true]
    )
    func lostBookkeeping(isDeleted: Bool) throws {
        let store = try open()
        store.attach("one")
        for number in 0..<200 { _ = try store.append([NumberedSamples.sample(number)]) }
        store.close()
        for ending in ["", "-wal", "-shm"] {
            if isDeleted {
                try? FileManager.default.removeItem(atPath: bookkeeping + ending)
            } else {
                try Data().write(to: URL(fileURLWithPath: bookkeeping + ending))
            }
        }
        let said = Lock<[Diagnostic]>([])
        let again = try open { diagnostic in said.withLock { $0.append(diagnostic) } }
        again.attach("one")
        #expect(NumberedSamples.numbers(NumberedSamples.drain(again)) == Array(0..<200))
        #expect(
            said.withLock { $0.map(\.description).filter { $0.contains("backends begin with the oldest") } }.count == 1
        )
    }

    @Test("A place is in the main file, not only in the journal, once the backend is attached")
    func attached() throws {
        let store = try open()
        store.attach("one")
        for number in 0..<20 { _ = try store.append([NumberedSamples.sample(number)]) }
        try store.synchronize()
        store.settleFiles()
        // As after a loss of power that deleted the journal.
        let copy = scratch.path + "-copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try FileManager.default.copyItem(atPath: scratch.path, toPath: copy)
        for ending in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: copy + "/00000001.queue/bookkeeping.sqlite" + ending)
        }
        let again = try DurableStore(directory: copy)
        #expect(again.backends == ["one"])
        #expect(NumberedSamples.numbers(NumberedSamples.drain(again)) == Array(0..<20))
    }

    @Test("A queue without backends keeps nothing, so that a new backend does not receive abandoned samples")
    func everybodyLeft() throws {
        let store = try open()
        store.attach("one")
        for number in 0..<200 { _ = try store.append([NumberedSamples.sample(number)]) }
        store.forget("one")
        store.close()
        let again = try open()
        again.attach("two")
        _ = try again.append([NumberedSamples.sample(200)])
        #expect(NumberedSamples.numbers(NumberedSamples.drain(again, "two")) == [200])
    }

    @Test("Segments stay until the places after them are saved: dead letters survive a kill before that")
    func trimming() throws {
        let store = try open()
        store.attach("one")
        store.attach("two")
        for number in 0..<2000 { _ = try store.append([NumberedSamples.sample(number)]) }
        try store.synchronize()
        let before = scratch.files(".segment").count
        // Settled in memory, and not saved yet.
        for backend in ["one", "two"] as [BackendName] {
            let dead: [UInt64: String] = backend == "one" ? [3: "no", 150: "no"] : [:]
            store.own.folder.state.withLock { state in
                guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }) else { return }
                state.places[index].row.cursor = 2000
                state.places[index].row.acknowledged = 2000 - dead.count
            }
        }
        store.own.saver.trim()
        #expect(before > 3 && scratch.files(".segment").count == before)
    }

    @Test("A store that was closed throws when it is synchronized, and does not end the process")
    func closed() throws {
        let store = try open()
        store.attach("one")
        for number in 0..<200 { _ = try store.append([NumberedSamples.sample(number)]) }
        _ = NumberedSamples.drain(store)
        store.close()
        #expect(throws: (any Error).self) { try store.own.folder.bookkeeping.synchronize() }
        store.own.saver.trim()
        store.own.maintenance.maintain()
        #expect(throws: QueueError.self) { try store.append([NumberedSamples.sample(200)]) }
    }

    @Test("A locked bookkeeping is left unchanged, and its dead letters are available after the lock")
    func busy() throws {
        let store = try open()
        store.attach("one")
        for number in 0..<10 { _ = try store.append([NumberedSamples.sample(number)]) }
        _ = store.next(for: "one", maxCount: 10, maxBytes: .max)
        store.settle("one", through: 9, dead: [1: "no", 2: "no"])
        store.close()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: bookkeeping, configuration: configuration)
        try other.inDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE") }
        let said = Lock<[Diagnostic]>([])
        let meanwhile = try open { diagnostic in said.withLock { $0.append(diagnostic) } }
        meanwhile.attach("one")
        #expect(meanwhile.ledger(of: "one").dead == 0)
        #expect(said.withLock { $0.contains { $0.description.contains("left unchanged") } })
        meanwhile.close()
        try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try other.close()
        let again = try open()
        #expect(again.deadLetters(of: "one").map(\.record.sequence) == [1, 2])
        #expect(scratch.files(".damaged").isEmpty)
    }

    @Test("The consent of a directory persists until it is changed")
    func consent() throws {
        let store = try open()
        #expect(store.consent == .granted)
        store.attach("one")
        let queue = BatchQueue(store: store)
        try queue.set(consent: .pending)
        for number in 0..<10 { _ = try store.append([NumberedSamples.sample(number)]) }
        store.close()
        // A process that sets no consent changes nothing.
        for _ in 0..<2 {
            let opened = try open()
            #expect(BatchQueue(store: opened).consent == .pending)
            #expect(opened.ledger(of: "one").queued == 10)
            opened.close()
        }
        let denying = try open()
        try BatchQueue(store: denying).set(consent: .denied)
        denying.close()
        let denied = try open()
        let held = BatchQueue(store: denied)
        #expect(held.consent == .denied && denied.ledger(of: "one").queued == 0)
        #expect(held.append([NumberedSamples.sample(11)]) == .notCollected)
        try held.set(consent: .granted)
        denied.close()
        #expect(try open().consent == .granted)
    }

    @Test("An erasure also deletes damaged files that were set aside, and the bytes between readable samples")
    func damaged() throws {
        let store = try open()
        store.attach("one")
        for number in 0..<30 { _ = try store.append([NumberedSamples.sample(number)]) }
        store.close()
        let segment = try #require(scratch.files(".segment").first)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: segment))
        let text = Data("some text that takes room".utf8)
        let found = try #require(bytes.range(of: text))
        // The checksum fails, but the text is readable in the file.
        bytes[found.lowerBound - 3] ^= 0xFF
        try bytes.write(to: URL(fileURLWithPath: segment))
        let aside = (segment as NSString).deletingLastPathComponent + "/bookkeeping.sqlite.damaged"
        try text.write(to: URL(fileURLWithPath: aside))
        // A file of another program, and a directory that was in the place of a file of the store.
        let folder = (segment as NSString).deletingLastPathComponent
        let foreign = folder + "/report.damaged.txt"
        try Data("not ours".utf8).write(to: URL(fileURLWithPath: foreign))
        try FileManager.default.createDirectory(
            atPath: folder + "/spare.damaged",
            withIntermediateDirectories: false
        )
        let again = try open()
        #expect(try again.erase { _ in true } == 29)
        again.close()
        #expect(FileManager.default.contents(atPath: foreign) == Data("not ours".utf8))
        for file in scratch.files("") {
            guard let data = FileManager.default.contents(atPath: file) else { continue }
            #expect(data.range(of: text) == nil, "\(file)")
        }
    }
}
