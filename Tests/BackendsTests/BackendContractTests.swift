import Foundation
import Instrument
import InstrumentBackends
import InstrumentTestKit
import Testing

@Suite("The backends' contract")
struct BackendContractTests {
    @Test("The file backend keeps it, plain and packed")
    func file() async throws {
        for compression in [FileConfiguration.Compression.none, .gzip] {
            let path = NSTemporaryDirectory() + "contract-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: path) }
            try await BackendContract.check {
                try FileBackend(path: path, configuration: FileConfiguration(compression: compression))
            } arrived: {
                var ids: [SampleID] = []
                var reader = try SampleFileReader(path: path)
                while let record = try reader.next() { ids.append(record.id) }
                return ids
            }
        }
    }

    @Test("The collecting backend keeps it")
    func collecting() async throws {
        let backend = CollectingBackend()
        try await BackendContract.check {
            backend
        } arrived: {
            backend.batches.flatMap(\.records).map(\.id)
        }
    }

    /// Breaks one promise.
    private struct Broken: Backend {
        enum Fault: CaseIterable {
            case losesLast, turnsOrder, changesName, namesOthers, takesNothingTwice, refusesWhenCancelled
        }
        let fault: Fault
        let kept: Lock<[SampleID]>
        let name: BackendName

        func deliver(_ batch: Batch) async -> DeliveryOutcome {
            var ids = batch.records.map(\.id)
            switch fault {
            case .losesLast where ids.count > 7: ids.removeLast()
            case .turnsOrder: ids.reverse()
            case .namesOthers where ids.count > 7: return .acknowledgedExcept([SampleID(log: 7, sequence: 7): "no"])
            case .takesNothingTwice where kept.withLock({ $0.contains(ids[0]) }): return .refused(reason: "known")
            case .refusesWhenCancelled where Task.isCancelled: return .refused(reason: "cancelled")
            default: break
            }
            kept.withLock { $0 += ids }
            return .acknowledged
        }
    }

    @Test("A backend that breaks any promise is found out", arguments: Broken.Fault.allCases)
    private func broken(fault: Broken.Fault) async throws {
        let kept = Lock<[SampleID]>([])
        let number = Lock(0)
        await #expect(throws: ContractViolation.self) {
            try await BackendContract.check {
                let made = number.withLock { number in
                    number += 1
                    return number
                }
                return Broken(
                    fault: fault,
                    kept: kept,
                    name: fault == .changesName ? BackendName("broken \(made)") : "broken"
                )
            } arrived: {
                kept.withLock { $0 }
            }
        }
    }
}
