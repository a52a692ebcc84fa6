import Foundation
import Instrument
import InstrumentBackends
import InstrumentTestKit
import Testing

@Suite("Backend contract")
struct BackendContractTests {
    @Test("The file backend keeps the contract, plain and compressed")
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

    @Test("The collecting backend keeps the contract")
    func collecting() async throws {
        let backend = CollectingBackend()
        try await BackendContract.check {
            backend
        } arrived: {
            backend.batches.flatMap(\.records).map(\.id)
        }
    }

    /// A promise that a backend breaks.
    enum Fault: CaseIterable {
        case changesName, changesNameLater, changesPolicy, hasNoName
        case losesLast, losesMetrics, answersEarly, turnsOrder, sendsTwice, takesRefused, sendsAtEnd
        case namesOthers, hasNoReason, refusesWithoutReason, isTooLargeWithoutReason
        case retries, isUnauthorized, isGone, takesNothingTwice
        case refusesWhenCancelled, isGoneWhenCancelled, losesWhenCancelled

        var promise: String {
            switch self {
            case .changesName, .changesNameLater: "a backend's name is the same each time"
            case .changesPolicy: "a backend's policy is the same each time"
            case .hasNoName: "a backend's name is not empty"
            case .losesLast, .losesMetrics, .answersEarly: "acknowledged samples have arrived when the delivery returns"
            case .turnsOrder: "samples arrive in the order in which they were emitted"
            case .sendsTwice: "a delivery arrives once"
            case .takesRefused: "refused samples have not arrived"
            case .sendsAtEnd: "a backend's end adds nothing"
            case .namesOthers: "a backend names only samples of the batch"
            case .hasNoReason, .refusesWithoutReason, .isTooLargeWithoutReason:
                "a backend gives a reason for each refused sample"
            case .retries, .isUnauthorized, .isGone: "a backend with a working server delivers"
            case .takesNothingTwice: "a repeated batch is accepted again"
            case .refusesWhenCancelled, .isGoneWhenCancelled, .losesWhenCancelled:
                "a cancelled delivery is retried, or has arrived"
            }
        }
    }

    /// A backend that keeps the contract, or breaks one promise of it.
    private struct FaultyBackend: Backend {
        let fault: Fault?
        let number: Int
        let kept: Lock<[SampleID]>
        let waiting = Lock<[SampleID]>([])

        var name: BackendName {
            switch fault {
            case .hasNoName: ""
            case .changesName: BackendName("faulty \(number)")
            case .changesNameLater: kept.withLock { $0.count } > 100 ? "later" : "faulty"
            default: "faulty"
            }
        }

        var policy: DeliveryPolicy {
            fault == .changesPolicy ? DeliveryPolicy(maxCount: kept.withLock { $0.count } + 1) : DeliveryPolicy()
        }

        func deliver(_ batch: Batch) async -> DeliveryOutcome {
            var ids = batch.records.map(\.id)
            let isLarge = ids.count > 7
            switch fault {
            case .losesLast where isLarge: ids.removeLast()
            case .losesMetrics:
                ids = batch.records.filter { if case .event = $0.sample { true } else { false } }.map(\.id)
            case .turnsOrder: ids.reverse()
            case .sendsTwice: ids += ids
            case .answersEarly:
                let early = ids
                ids = waiting.withLock { waiting in
                    defer { waiting = early }
                    return waiting
                }
            case .takesRefused where !isLarge:
                kept.withLock { [ids] in $0 += ids }
                return .refused(reason: "no")
            case .namesOthers where isLarge: return .acknowledgedExcept([SampleID(log: 7, sequence: 7): "no"])
            case .hasNoReason where isLarge: return .acknowledgedExcept([ids[0]: ""])
            case .refusesWithoutReason where isLarge: return .refused(reason: "")
            case .isTooLargeWithoutReason where isLarge: return .tooLarge(reason: "")
            case .retries where isLarge: return .retry(after: nil, reason: "later")
            case .isUnauthorized where isLarge: return .unauthorized(reason: "who?")
            case .isGone where isLarge: return .gone(reason: "gone")
            case .takesNothingTwice where kept.withLock({ [ids] in $0.contains(ids[0]) }):
                return .refused(reason: "known")
            case .refusesWhenCancelled where Task.isCancelled: return .refused(reason: "cancelled")
            case .isGoneWhenCancelled where Task.isCancelled: return .gone(reason: "cancelled")
            case .losesWhenCancelled where Task.isCancelled: return .acknowledged
            default: break
            }
            kept.withLock { [ids] in $0 += ids }
            return .acknowledged
        }

        func end() async {
            if fault == .sendsAtEnd, number > 1 { kept.withLock { $0.append(SampleID(log: 9, sequence: 9)) } }
        }
    }

    private func check(_ fault: Fault?) async throws(ContractViolation) {
        let (kept, number) = (Lock<[SampleID]>([]), Lock(0))
        try await BackendContract.check {
            let made = number.withLock { number in
                number += 1
                return number
            }
            return FaultyBackend(fault: fault, number: made, kept: kept)
        } arrived: {
            kept.withLock { $0 }
        }
    }

    @Test("A custom backend keeps the contract")
    func plain() async throws { try await check(nil) }

    @Test("The contract names the promise that a faulty backend breaks", arguments: Fault.allCases)
    func faulty(fault: Fault) async {
        do throws(ContractViolation) {
            try await check(fault)
            Issue.record("no violation")
        } catch {
            #expect(error.promise == fault.promise, "\(error)")
            #expect(error.description.contains(fault.promise))
        }
    }
}
