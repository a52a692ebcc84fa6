import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import Testing

@testable import InstrumentDurableQueue

@Suite("Receipts in the durable queue")
struct ReceiptTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func receipt(_ record: SampleRecord, _ refusal: String? = nil) -> DeliveryReceipt {
        DeliveryReceipt(id: record.id, sequence: record.sequence, refusal: refusal)
    }

    @Test("Receipts outlive the process, and end with the settlement, the erasure or the backend")
    func lifetime() throws {
        let path = scratch.file("queue")
        var store = try DurableStore(directory: path)
        for name: BackendName in ["one", "two"] { store.attach(name) }
        for number in 0..<6 {
            _ = try store.append([DurableErasingTests.sample(number == 4 ? "p-ann" : "p-bob", number)])
        }
        let records = store.next(for: "one", maxCount: 6, maxBytes: .max)
        let all = [
            receipt(records[1]), receipt(records[2], "no\u{0}"), receipt(records[4], "ann"), receipt(records[5]),
        ]
        store.keep(all, of: "one")
        store.keep([receipt(records[3])], of: "two")
        // Not of this store, and of a backend without a place.
        let foreign = DeliveryReceipt(id: SampleID(log: 1, sequence: 5), sequence: 5, refusal: nil)
        store.keep([foreign], of: "one")
        store.keep(all, of: "three")
        #expect(Set(store.receipts(of: "one")) == Set(all) && store.receipts(of: "three").isEmpty)
        // The ledger counts them when their turn comes.
        #expect(store.ledger(of: "one").queued == 6)
        store.close()
        store = try DurableStore(directory: path)
        for name in store.backends { store.attach(name) }
        #expect(Set(store.receipts(of: "one")) == Set(all))
        #expect(store.receipts(of: "two") == [receipt(records[3])])
        #expect(try store.erase(where: DurableErasingTests.isOf("p-ann")) == 1)
        #expect(Set(store.receipts(of: "one")) == Set([all[0], all[1], all[3]]))
        // A result that comes after the erasure leaves nothing.
        store.keep([all[2]], of: "one")
        #expect(store.receipts(of: "one").count == 3)
        #expect(store.next(for: "one", maxCount: 6, maxBytes: .max).count == 5)
        store.settle("one", through: records[1].sequence, dead: [:])
        #expect(Set(store.receipts(of: "one")) == Set([all[1], all[3]]))
        store.forget("two")
        store.attach("two")
        #expect(store.receipts(of: "two").isEmpty)
        store.close()
        store = try DurableStore(directory: path)
        #expect(Set(store.receipts(of: "one")) == Set([all[1], all[3]]))
        store.close()
    }

    @Test("In memory, receipts end with the settlement or the erasure, and none is kept for an erased sample")
    func inMemory() throws {
        let store = InMemoryStore()
        store.attach("one")
        for number in 0..<6 {
            _ = try store.append([DurableErasingTests.sample(number == 4 ? "p-ann" : "p-bob", number)])
        }
        let records = store.next(for: "one", maxCount: 6, maxBytes: .max)
        let all = [receipt(records[1]), receipt(records[4], "the server's words about ann"), receipt(records[5])]
        store.keep(all, of: "one")
        #expect(Set(store.receipts(of: "one")) == Set(all))
        #expect(store.erase(where: DurableErasingTests.isOf("p-ann")) == 1)
        #expect(Set(store.receipts(of: "one")) == Set([all[0], all[2]]))
        // A result that comes after the erasure leaves nothing.
        store.keep([all[1]], of: "one")
        #expect(Set(store.receipts(of: "one")) == Set([all[0], all[2]]))
        store.settle("one", through: records[1].sequence, dead: [:])
        #expect(store.receipts(of: "one") == [all[2]])
    }

    @Test("Receipts of an adopted folder are those of its samples")
    func adopted() throws {
        let path = scratch.file("queue")
        let stores = [try DurableStore(directory: path), try DurableStore(directory: path)]
        var all: [DeliveryReceipt] = []
        for store in stores {
            store.attach("one")
            for number in 0..<3 { _ = try store.append([NumberedSamples.sample(number)]) }
            let records = store.next(for: "one", maxCount: 3, maxBytes: .max)
            store.keep([receipt(records[2])], of: "one")
            all.append(receipt(records[2]))
        }
        for store in stores { store.close() }
        let store = try DurableStore(directory: path)
        store.attach("one")
        #expect(Set(store.receipts(of: "one")) == Set(all))
        _ = NumberedSamples.drain(store)
        #expect(store.receipts(of: "one").isEmpty)
        store.close()
    }
}
