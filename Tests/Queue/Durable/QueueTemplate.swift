import Instrument
import InstrumentTestKit
import LoopbackServers

@testable import InstrumentDurableQueue

/// Two folders of ended processes, each with queued samples and dead letters of two persons.
enum QueueTemplate {
    static func open(_ path: String, _ scratch: Scratch) throws -> DurableStore {
        try DurableStore(
            directory: path,
            configuration: DurableConfiguration(segmentSize: 4096, synchronization: .never),
            randomness: RandomSource(),
            stagingDirectory: scratch.stagingDirectory,
            report: { _ in }
        )
    }

    static func make(_ path: String, _ scratch: Scratch) throws {
        let stores = [try open(path, scratch), try open(path, scratch)]
        for (index, store) in stores.enumerated() {
            for name: BackendName in ["one", "two"] { store.attach(name) }
            for number in 0..<10 {
                let person = number % 2 == 0 ? "p-ann" : "p-bob"
                _ = try store.append([DurableErasingTests.sample(person, index * 100 + number)])
            }
            let records = store.next(for: "one", maxCount: 5, maxBytes: .max)
            let dead = Dictionary(uniqueKeysWithValues: records[1...4].map { ($0.sequence, "no") })
            store.settle("one", through: 4, dead: dead)
        }
        for store in stores { store.close() }
    }
}
