import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import Testing

@testable import InstrumentDurableQueue

@Suite("Reading a durable queue without changing it")
struct QueueReaderTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// A folder after a kill: an unsealed segment, a journal, and a spare segment.
    private func makeKilled(_ count: Int = 100) throws {
        let store = try DurableStore(
            directory: scratch.path + "/live",
            configuration: DurableConfiguration(segmentSize: 4096)
        )
        store.attach("one")
        store.attach("two")
        for number in 0..<count { _ = try store.append([NumberedSamples.sample(number)]) }
        let records = store.next(for: "one", maxCount: 40, maxBytes: .max)
        store.settle("one", through: try #require(records.last).sequence, dead: [7: "no"])
        store.settleFiles()
        try FileManager.default.copyItem(atPath: scratch.path + "/live", toPath: scratch.path + "/queue")
        store.close()
    }

    @Test("A reader returns the samples and ledgers of the next start, and changes and creates nothing")
    func killed() throws {
        try makeKilled()
        let queue = scratch.path + "/queue"
        let names = try FileManager.default.subpathsOfDirectory(atPath: queue)
        #expect(names.contains { $0.hasSuffix("-wal") })
        for name in names where name.hasSuffix("lock") || name.hasSuffix("-shm") {
            try FileManager.default.removeItem(atPath: queue + "/" + name)
        }
        let before = ForeignFileTests.state(queue)
        let reader = DurableQueueReader(directory: queue) { Issue.record("\($0)") }
        #expect(reader.backends == ["one", "two"])
        let seen = reader.backends.map { reader.ledger(of: $0) }
        let backlogs = reader.backends.map { reader.backlog(of: $0) }
        let letters = reader.deadLetters(of: "one")
        let queued = reader.queued(for: "one").flatMap { $0 }
        let verification = try QueueFolder.folders(in: queue).map { try $0.verify() }
        #expect(QueueFolder.folders(in: queue).allSatisfy { !$0.isInUse })
        #expect(ForeignFileTests.state(queue) == before)
        #expect(NumberedSamples.numbers(queued) == Array(40..<100))
        #expect(letters.map(\.reason) == ["no"])
        #expect(verification.map(\.samples) == [100] && verification.allSatisfy(\.isWhole))

        let store = try DurableStore(directory: queue, configuration: DurableConfiguration(segmentSize: 4096))
        #expect(store.backends.map { store.ledger(of: $0) } == seen)
        #expect(store.backends.map { store.backlog(of: $0) } == backlogs)
        #expect(store.deadLetters(of: "one") == letters)
        #expect(store.queued(for: "one").flatMap { $0 } == queued)
    }

    @Test("A reader tolerates damaged, missing and foreign files, and changes nothing")
    func damaged() throws {
        try makeKilled()
        let folder = scratch.path + "/queue/00000001.queue"
        let damages: [(String, (String) throws -> Void)] = [
            ("bookkeeping.sqlite", { try Data("no database".utf8).write(to: URL(fileURLWithPath: $0)) }),
            ("bookkeeping.sqlite-wal", { try Data(count: 1000).write(to: URL(fileURLWithPath: $0)) }),
            ("0000000000000000.segment", { try Data(count: 4096).write(to: URL(fileURLWithPath: $0)) }),
            ("0000000000000000.segment", { try Data(count: 10).write(to: URL(fileURLWithPath: $0)) }),
            ("0000000000000000.segment", { #expect(mkfifo($0, 0o600) == 0) }),
            ("bookkeeping.sqlite", { #expect(symlink("/etc/passwd", $0) == 0) }),
            ("lock", { #expect(symlink("/etc/passwd", $0) == 0) }),
            ("bookkeeping.sqlite", { _ in }),
        ]
        for (name, damage) in damages {
            try? FileManager.default.removeItem(atPath: folder + "/" + name)
            try damage(folder + "/" + name)
            let before = ForeignFileTests.state(scratch.path + "/queue")
            let reader = DurableQueueReader(directory: scratch.path + "/queue")
            for backend in reader.backends {
                let ledger = reader.ledger(of: backend)
                #expect(ledger.emitted == ledger.acknowledged + ledger.queued + ledger.dead + ledger.dropped)
                for page in reader.queued(for: backend) { #expect(!page.isEmpty) }
            }
            _ = try QueueFolder.folders(in: scratch.path + "/queue").map { try $0.verify() }
            #expect(ForeignFileTests.state(scratch.path + "/queue") == before, "\(name)")
        }
    }

    @Test("A folder in use is reported as in use, and reading it does not take its lock", arguments: [false, true])
    func inUse(isLockFileDeleted: Bool) throws {
        let queue = scratch.path + "/queue"
        let store = try DurableStore(directory: queue)
        store.attach("one")
        _ = try store.append([NumberedSamples.sample(0)])
        if isLockFileDeleted { try FileManager.default.removeItem(atPath: queue + "/00000001.queue/lock") }
        #expect(QueueFolder.folders(in: queue).map(\.isInUse) == [true])
        #expect(DurableQueueReader(directory: queue).backends.isEmpty)
        // The folder must also be locked for another start.
        let other = try DurableStore(directory: queue)
        #expect(QueueFolder.folders(in: queue).map(\.isInUse) == [true, true])
        #expect(other.ledger(of: "one").queued == 0)
        store.close()
        other.close()
        #expect(QueueFolder.folders(in: queue).map(\.isInUse) == [false, false])
    }
}
