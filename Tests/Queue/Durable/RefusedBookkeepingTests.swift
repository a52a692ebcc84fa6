import Foundation
import GRDB
import Instrument
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentDurableQueue

/// The bookkeeping refuses to save gaps between samples, like a full or sick disk: the ledger counts no sample as lost.
@Suite("Bookkeeping that cannot be saved", .ownThread)
struct RefusedBookkeepingTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func open(_ report: @escaping @Sendable (Diagnostic) -> Void = { _ in }) throws -> DurableStore {
        try DurableErasingTests.open(scratch.path, report: report)
    }

    /// Changes the bookkeeping in the oldest folder.
    private func change(_ sql: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path).filter { $0.hasSuffix(".queue") }
        let folder = try #require(names.min())
        let database = try DatabaseQueue(path: "\(scratch.path)/\(folder)/bookkeeping.sqlite")
        try database.write { try $0.execute(sql: sql) }
        try database.close()
    }

    private func refuse(_ table: String) throws {
        try change("CREATE TRIGGER refusal BEFORE INSERT ON \(table) BEGIN SELECT RAISE(ABORT, 'refused'); END")
    }

    private func accept() throws { try change("DROP TRIGGER refusal") }

    @Test(
        "Sequence numbers without a sample are never counted as lost when a start cannot save them",
        arguments: [false, true]
    )
    func unsavedGap(isPowerLost: Bool) throws {
        guard DirectoryStore.stagingDirectory != nil else { return }
        let store = try open()
        store.attach("one")
        let path = try store.own.drainer.draining.withLock { _ in
            for number in 0..<50 { _ = try store.append([NumberedSamples.sample(number)]) }
            let area = try #require(store.own.folder.state.withLock { $0.staging?.area })
            // The process was killed after it had noted the next sample, and before it had written that sample.
            area.note(next: area.nextSequence + 1)
            let path = try #require(area.path)
            store.leaveAsKilled()
            return path
        }
        if isPowerLost { try FileManager.default.removeItem(atPath: path) }
        try refuse("absent")
        let reports = Lock([String]())
        let refused = try open { report in reports.withLock { $0.append("\(report)") } }
        #expect(reports.withLock { $0 }.contains { $0.contains("cannot save the gaps between samples") })
        refused.attach("one")
        #expect(refused.ledger(of: "one").dropped == 0)
        refused.close()
        try accept()
        let again = try open()
        let records = NumberedSamples.drain(again)
        #expect(NumberedSamples.numbers(records) == (isPowerLost ? [] : Array(0..<50)))
        again.close()
        let ledger = try open().ledger(of: "one")
        #expect((ledger.emitted, ledger.acknowledged, ledger.drops) == (records.count, records.count, [:]))
    }

    @Test("A gap that could not be saved is saved with the next change")
    func retriedGap() throws {
        let store = try open()
        store.attach("one")
        for number in 0..<10 { _ = try store.append([NumberedSamples.sample(number)]) }
        try store.synchronize()
        try refuse("absent")
        store.own.folder.state.withLock { state in
            state.nextSequence += 5
            state.log.skip(to: state.nextSequence)
        }
        store.own.saver.leaveOut(10..<15)
        try accept()
        for number in 10..<20 { _ = try store.append([NumberedSamples.sample(number)]) }
        try store.synchronize()
        store.leaveAsKilled()
        let reports = Lock([String]())
        let again = try open { report in reports.withLock { $0.append("\(report)") } }
        #expect(NumberedSamples.numbers(NumberedSamples.drain(again)) == Array(0..<20), "\(reports.withLock { $0 })")
        let ledger = again.ledger(of: "one")
        #expect((ledger.emitted, ledger.acknowledged, ledger.drops) == (20, 20, [:]))
    }

    @Test("An erasure that could not be saved is saved with the next change, and the next start completes it")
    func retriedErasure() throws {
        let store = try open()
        store.attach("one")
        for number in 0..<40 {
            _ = try store.append([DurableErasingTests.sample(number % 4 == 0 ? "p-ann" : "p-bob", number)])
        }
        try refuse("erased")
        #expect(throws: QueueError.self) { try store.erase(where: DurableErasingTests.isOf("p-ann")) }
        try accept()
        try store.synchronize()
        store.close()
        let again = try open()
        let records = NumberedSamples.drain(again)
        #expect(NumberedSamples.numbers(records) == (0..<40).filter { $0 % 4 != 0 })
        let ledger = again.ledger(of: "one")
        #expect((ledger.emitted, ledger.acknowledged, ledger.drops) == (40, 30, [.erased: 10]))
    }

    @Test("A backend that could not be deleted is deleted with the next change")
    func retriedForgetting() throws {
        let store = try open()
        store.attach("one")
        store.attach("two")
        for number in 0..<400 { _ = try store.append([NumberedSamples.sample(number)]) }
        try store.synchronize()
        try change("CREATE TRIGGER refusal BEFORE DELETE ON place BEGIN SELECT RAISE(ABORT, 'refused'); END")
        store.forget("two")
        try accept()
        #expect(NumberedSamples.drain(store).count == 400)
        store.close()
        let again = try open()
        #expect(again.backends == ["one"])
        again.attach("two")
        #expect(again.ledger(of: "two").emitted == 0)
    }

    @Test("A start removes the empty folder of a file that did not move")
    func unfinishedMove() throws {
        try open().close()
        let folder = scratch.path + "/00000009.queue"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("elsewhere".utf8).write(to: URL(fileURLWithPath: folder + "/moved"))
        let reports = Lock([String]())
        let store = try open { report in reports.withLock { $0.append("\(report)") } }
        store.attach("one")
        _ = try store.append([NumberedSamples.sample(0)])
        #expect(NumberedSamples.drain(store).count == 1)
        store.close()
        #expect(!FileManager.default.fileExists(atPath: folder))
        #expect(reports.withLock { $0 }.isEmpty)
        let ledger = try open().ledger(of: "one")
        #expect((ledger.emitted, ledger.acknowledged, ledger.drops) == (1, 1, [:]))
    }

    @Test("A start without backends deletes no sample of a folder whose cursors were lost")
    func unclaimed() throws {
        let store = try open()
        store.attach("one")
        for number in 0..<400 { _ = try store.append([NumberedSamples.sample(number)]) }
        store.close()
        try change("DELETE FROM place")
        let idle = try open()
        try idle.synchronize()
        idle.close()
        let again = try open()
        again.attach("one")
        #expect(NumberedSamples.numbers(NumberedSamples.drain(again)) == Array(0..<400))
    }
}
