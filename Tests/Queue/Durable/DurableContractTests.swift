import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import Testing

@testable import InstrumentDurableQueue

@Suite("Durable store: the stores' contract")
struct DurableContractTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test("The store fulfils the contract for stores with small segments", arguments: [4096, 1 << 20])
    func contract(segmentSize: Int) throws {
        var number = 0
        try StoreContract.check {
            number += 1
            do {
                return try DurableStore(
                    directory: scratch.path + "/\(number)",
                    configuration: DurableConfiguration(segmentSize: segmentSize)
                )
            } catch {
                Issue.record("\(error)")
                return InMemoryStore()
            }
        }
    }

    @Test("The store fulfils the contract for stores after it is reopened", arguments: [4096, 1 << 20])
    func reopening(segmentSize: Int) throws {
        try StoreContract.checkReopening {
            do {
                return try DurableStore(
                    directory: scratch.path,
                    configuration: DurableConfiguration(segmentSize: segmentSize)
                )
            } catch {
                Issue.record("\(error)")
                return InMemoryStore()
            }
        }
    }

    @Test(
        "A backend that is replaced after a failure leaves its batch to the new backend, and a shutdown leaves it to the next queue"
    )
    func replacement() async throws {
        let failing = FailingBackend(after: 1)
        let clock = VirtualClock()
        let held = FailingBackend(after: 0)
        let store = try DurableStore(directory: scratch.path)
        let first = BatchQueue(store: store, backends: [failing], clock: clock)
        first.append((0..<10).map(NumberedSamples.sample))
        await failing.hasFailed.wait()
        #expect(await first.replace(backend: held))
        await held.hasFailed.wait()
        await first.shutdown(timeout: .zero)
        await held.hasEnded.wait()
        let last = FailingBackend(after: .max)
        let queue = BatchQueue(store: store, backends: [last], clock: clock)
        #expect(await queue.flush(timeout: .seconds(60)))
        #expect(failing.attempts.count == 2)
        #expect(held.attempts == [failing.attempts[1]])
        #expect(last.attempts.first == failing.attempts[1])
        let arrived = failing.attempts[0].records + last.attempts.flatMap(\.records)
        #expect(NumberedSamples.numbers(arrived) == Array(0..<10))
        let ledger = try #require(queue.ledger["one"])
        #expect([ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dropped] == [10, 10, 0, 0] as [Int])
        await queue.shutdown(timeout: .seconds(5))
    }
}

/// Acknowledges some batches of four, then fails.
private final class FailingBackend: Backend {
    let name: BackendName = "one"
    let policy = DeliveryPolicy(maxCount: 4, maxAge: .zero)
    /// Opens with the first failure.
    let hasFailed = Gate()
    /// Opens when the service has ended.
    let hasEnded = Gate()
    private let count: Int
    private let offered = Lock<[Batch]>([])

    init(after count: Int) { self.count = count }

    /// Every delivered batch.
    var attempts: [Batch] { offered.withLock { $0 } }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        let number = offered.withLock { offered in
            offered.append(batch)
            return offered.count
        }
        if number <= count { return .acknowledged }
        hasFailed.open()
        return .retry(after: .seconds(3600), reason: "down")
    }

    func end() async { hasEnded.open() }
}
