import Foundation
import Instrument
import InstrumentBackends
import InstrumentTestKit
import QueueChildPlan

/// Delivers to a file, and fails as its plan says.
struct PlannedBackend: Backend {
    let plan: BackendPlan
    let name: BackendName
    let policy = DeliveryPolicy(maxCount: 100, maxAge: .zero)
    private let file: FileBackend
    private let generator: Lock<SeededGenerator>?

    init(_ plan: BackendPlan) throws {
        self.plan = plan
        name = BackendName(plan.name)
        file = try FileBackend(path: plan.target)
        generator = plan.seed.map { Lock(SeededGenerator(seed: $0)) }
    }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        if plan.isOffline { return .retry(after: nil, reason: "offline") }
        // The lane's own thread waits, as it would for a slow disk.
        if plan.slowness > 0 { usleep(UInt32(plan.slowness)) }
        switch generator?.withLock({ $0.next() % 8 }) ?? 7 {
        case 0: return .retry(after: .zero, reason: "busy")
        case 1 where batch.records.count > 1: return .tooLarge(reason: "413")
        case 2:
            // The batch arrives, and the answer is lost.
            _ = await deliverAccepted(batch)
            return .retry(after: .zero, reason: "reset")
        case 3 where !refused(batch).isEmpty: return .refused(reason: "one of them is bad")
        default: return await deliverAccepted(batch)
        }
    }

    /// Writes the samples that the backend does not refuse.
    private func deliverAccepted(_ batch: Batch) async -> DeliveryOutcome {
        let refused = refused(batch)
        if refused.isEmpty { return await file.deliver(batch) }
        let accepted = batch.records.filter { refused[$0.id] == nil }
        if accepted.isEmpty { return .acknowledgedExcept(refused) }
        let outcome = await file.deliver(Batch(records: accepted))
        return outcome == .acknowledged ? .acknowledgedExcept(refused) : outcome
    }

    private func refused(_ batch: Batch) -> [SampleID: String] {
        guard let multiple = plan.refusedMultiple else { return [:] }
        var refused: [SampleID: String] = [:]
        for record in batch.records {
            guard let number = record.sample.attributes[AttributeKey<Int>("number")], number % multiple == 0 else {
                continue
            }
            refused[record.id] = "bad"
        }
        return refused
    }
}
