import Foundation
import Instrument
import InstrumentBackends
import InstrumentDurableQueue
import QueueChildPlan

/// Writes the content of a queue after all possible deliveries.
struct Drain {
    let plan: ChildPlan
    let store: DurableStore

    /// Writes the dead letters to files, and the ledgers to standard output.
    func write(isEmpty: Bool) throws {
        var report = DrainReport(isEmpty: isEmpty, ledgers: [:])
        for backend in plan.backends {
            let name = BackendName(backend.name)
            let ledger = store.ledger(of: name)
            report.ledgers[backend.name] = DrainReport.Sums(
                emitted: ledger.emitted,
                acknowledged: ledger.acknowledged,
                queued: ledger.queued,
                dead: ledger.dead,
                drops: Dictionary(uniqueKeysWithValues: ledger.drops.map { ($0.key.rawValue, $0.value) })
            )
            try write(store.deadLetters(of: name), to: backend.deadLetterFile)
        }
        FileHandle.standardOutput.write(try JSONEncoder().encode(report))
    }

    private func write(_ letters: [DeadLetter], to path: String) throws {
        try Data(JSONLines.encode(letters.map(\.record))).write(to: URL(fileURLWithPath: path))
    }
}

extension DurableConfiguration.Synchronization {
    init(_ plan: ChildPlan.Synchronization) {
        switch plan {
        case .never: self = .never
        case .count(let count): self = .count(count)
        case .interval(let milliseconds): self = .interval(.milliseconds(milliseconds))
        }
    }
}
