import Instrument
import InstrumentBackends
import InstrumentTestKit

/// Delivers to a file, when it is in the mood.
struct MoodyBackend: Backend {
    let file: FileBackend
    let generator: Lock<SeededGenerator>?
    let name: BackendName = "samples"
    let policy = DeliveryPolicy(maxCount: 100, maxAge: .zero)

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        let mood = generator?.withLock { $0.next() % 8 } ?? 7
        switch mood {
        case 0: return .retry(after: .zero, reason: "busy")
        case 1 where batch.records.count > 1: return .tooLarge(reason: "413")
        case 2:
            // Arrived, but the answer is lost.
            _ = await file.deliver(batch)
            return .retry(after: .zero, reason: "reset")
        default: return await file.deliver(batch)
        }
    }
}
