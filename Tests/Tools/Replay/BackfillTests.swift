import Foundation
import Instrument
import InstrumentBackends
import InstrumentDurableQueue
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentReplay

@Suite("Backfill", .ownThread)
struct BackfillTests {
    private func backfill(_ records: [SampleRecord], to backends: [any Backend], timeout: Duration = .seconds(600))
        async
        -> Backfill
    {
        let backfill = Backfill(to: backends, timeout: timeout)
        for record in records { await backfill.add(record) }
        await backfill.finish()
        return backfill
    }

    /// Samples of three logs with the same numbers.
    private var records: [SampleRecord] {
        (0..<30).map { Recording.record($0 / 3, log: UInt64(1 + $0 % 3), at: Int64($0)) }
    }

    @Test("Backends receive the recorded samples with identifiers and numbers, in batches of their policies")
    func delivered() async {
        let small = CollectingBackend("small", policy: DeliveryPolicy(maxCount: 7))
        let large = CollectingBackend("large", policy: DeliveryPolicy(maxCount: 1000))
        let backfill = await backfill(records, to: [small, large])
        for backend in [small, large] {
            #expect(backend.batches.flatMap(\.records) == records)
            #expect(backend.hasEnded && backend.isReady)
            #expect(backfill.samples.ledger(of: backend.name).acknowledged == 30)
        }
        #expect(small.batches.map(\.records.count) == [7, 7, 7, 7, 2])
    }

    @Test("A backend that retries, splits and refuses receives every other sample once, and refusals are dead letters")
    func troubled() async {
        let refusedRecord = records[4]
        let script: [DeliveryOutcome] = [
            .retry(after: .milliseconds(1), reason: "busy"), .tooLarge(reason: "too large"),
            .acknowledgedExcept([refusedRecord.id: "no"]),
        ]
        let backend = CollectingBackend(policy: DeliveryPolicy(maxCount: 20), script: script)
        let backfill = await backfill(records, to: [backend])
        let ledger = backfill.samples.ledger(of: backend.name)
        #expect(ledger.dead == 1)
        #expect(ledger.acknowledged == 29)
        #expect(ledger.queued == 0)
        #expect(backfill.samples.deadLetters(of: backend.name).map(\.record) == [refusedRecord])
    }

    @Test("A backend that accepts no more samples does not keep the others from receiving all of them")
    func gone() async {
        let gone = CollectingBackend("gone", script: [.gone(reason: "closed")])
        let well = CollectingBackend("well", policy: DeliveryPolicy(maxCount: 1000))
        let many = (0..<25_000).map { Recording.record($0) }
        let backfill = await backfill(many, to: [gone, well])
        #expect(well.batches.flatMap(\.records) == many)
        let ledger = backfill.samples.ledger(of: "gone")
        #expect(ledger.emitted == 25_000)
        #expect(ledger.queued == 25_000)
        #expect(backfill.isOpen)
    }

    @Test("A file that is backfilled twice gives the same samples when it is read")
    func idempotent() async throws {
        let scratch = try Scratch()
        for _ in 0..<2 {
            _ = await backfill(records, to: [try FileBackend(path: scratch.file("s.ndjson"))])
        }
        let reader = ReplayReader(try ReplayInput.all(named: [scratch.file("s.ndjson")]))
        var found: [SampleRecord] = []
        while let sample = try reader.next() { found.append(sample.record) }
        #expect(found == records)
        #expect(reader.duplicateCount == 30)
    }

    @Test("Samples that wait in a durable queue are read once, and stay in the queue")
    func durableQueue() async throws {
        let scratch = try Scratch()
        let (first, second) = (BackendName("first"), BackendName("second"))
        let store = try DurableStore(directory: scratch.path)
        for name in [first, second] { store.attach(name) }
        _ = try store.append(records.map(\.sample))
        store.settle(first, through: 9, dead: [3: "refused"])
        store.close()
        let before = DurableQueueReader(directory: scratch.path).ledger(of: second)
        for _ in 0..<2 {
            let reader = ReplayReader(try ReplayInput.all(named: [scratch.path]))
            var found: [SampleRecord] = []
            while let sample = try reader.next() { found.append(sample.record) }
            #expect(found.map(\.sample) == records.map(\.sample))
            #expect(found.map(\.sequence) == Array(0..<30))
        }
        #expect(DurableQueueReader(directory: scratch.path).ledger(of: second) == before)
    }
}
