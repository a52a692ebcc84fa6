import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentDurableQueue

/// The log has lost its last samples, which a backend may have received.
@Suite("A log without its end", .ownThread)
struct LostTailTests {
    let scratch: Scratch
    let queue: String

    init() throws {
        scratch = try Scratch()
        queue = scratch.path + "/queue"
    }

    private func open(_ report: @escaping @Sendable (Diagnostic) -> Void = { _ in }) throws -> DurableStore {
        try DurableStore(
            directory: queue,
            configuration: DurableConfiguration(segmentSize: 4096, synchronization: .never),
            randomness: RandomSource(),
            stagingDirectory: scratch.stagingDirectory,
            report: report
        )
    }

    /// The segments of the first folder, the oldest first.
    private func segments() -> [String] {
        let folder = queue + "/00000001.queue"
        let numbers = SegmentFiles.numbers(Directory.names(in: folder), in: folder)
        return numbers.map { folder + "/" + FolderNames.segment($0) }
    }

    private func checkLedgers(_ store: DurableStore, emitted: Int, _ comment: Comment) {
        for name: BackendName in ["fast", "slow"] {
            let ledger = store.ledger(of: name)
            #expect(ledger.emitted == emitted, "\(comment): \(name) \(ledger)")
            #expect(ledger.emitted == ledger.settled + ledger.queued, "\(comment): \(name) \(ledger)")
        }
    }

    @Test(
        "The ledgers add up after a loss of power that took samples from the log that a faster backend had received",
        arguments: [0, 1, 2, 3],
        [1, 7]
    )
    func powerCut(keptSegments: Int, batch: Int) throws {
        let store = try open()
        for name: BackendName in ["fast", "slow"] { store.attach(name) }
        for number in 0..<200 { _ = try store.append([NumberedSamples.sample(number)]) }
        let received = NumberedSamples.drain(store, "fast")
        let start = store.next(for: "slow", maxCount: 5, maxBytes: .max)
        store.settle("slow", through: 4, dead: [:])
        store.own.choreWorker.doChores()
        try store.synchronize()
        let staging = store.own.folder.state.withLock { $0.staging?.area.path }
        store.leaveAsKilled()
        if let staging { try FileManager.default.removeItem(atPath: staging) }
        let all = segments()
        #expect(all.count >= 4)
        for path in all.dropFirst(keptSegments) { try FileManager.default.removeItem(atPath: path) }
        var delivered = start
        var emitted = 200
        for run in 0..<3 {
            let again = try open()
            for name: BackendName in ["fast", "slow"] { again.attach(name) }
            checkLedgers(again, emitted: emitted, "at start \(run)")
            for _ in 0..<(run == 2 ? 1000 : 4) {
                let records = again.next(for: "slow", maxCount: batch, maxBytes: .max)
                guard let last = records.last else { break }
                delivered += records
                again.settle("slow", through: last.sequence, dead: [:])
                checkLedgers(again, emitted: emitted, "behind \(last.sequence) in run \(run)")
            }
            _ = try again.append([NumberedSamples.sample(1000 + run)])
            emitted += 1
            checkLedgers(again, emitted: emitted, "after an append in run \(run)")
            if run == 1 { again.leaveAsKilled() } else { again.close() }
        }
        let last = try open()
        delivered += NumberedSamples.drain(last, "slow")
        #expect(Set((received + NumberedSamples.drain(last, "fast")).map(\.id)).count == 203)
        checkLedgers(last, emitted: 203, "at the end")
        let ledger = last.ledger(of: "slow")
        #expect(ledger.queued == 0 && ledger.acknowledged == Set(delivered.map(\.id)).count)
        #expect(ledger.drops[.corrupt] ?? 0 == 203 - ledger.acknowledged)
        #expect(NumberedSamples.numbers(delivered).suffix(3) == [1000, 1001, 1002])
        last.close()
    }
}
