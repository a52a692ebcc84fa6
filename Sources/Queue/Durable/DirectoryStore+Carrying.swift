internal import Instrument

/// Moves the sums of a drained folder to the bookkeeping of another folder.
extension DirectoryStore {
    /// Saves the sums of a drained folder. The ledgers include them after ``noteCarried(_:)``, and after a restart.
    func keepSums(_ sums: [Bookkeeping.CarriedSum], of log: UInt64) throws(QueueError) {
        do {
            try folder.bookkeeping.carry(sums, of: log)
        } catch {
            throw QueueError(.storeFailed, "cannot save the ledger of a drained folder in \(path): \(error)")
        }
    }

    /// Adds saved sums to the ledgers.
    func noteCarried(_ sums: [Bookkeeping.CarriedSum]) {
        folder.state.withLock { $0.carry(sums) }
    }

    /// Deletes the number of a log whose folder is deleted. After a failure the number stays, without harm.
    func finishCarrying(_ log: UInt64) {
        do { try folder.bookkeeping.finishCarrying(log) } catch {
            folder.report(.store("cannot compact the bookkeeping in \(path): \(error)"))
        }
    }
}

extension Ledger {
    /// Adds the counts of another store.
    mutating func add(_ other: Ledger) {
        emitted += other.emitted
        acknowledged += other.acknowledged
        queued += other.queued
        dead += other.dead
        drops.merge(other.drops, uniquingKeysWith: +)
    }

    /// Adds samples that were settled elsewhere.
    mutating func add(_ sum: Bookkeeping.CarriedSum) {
        emitted += sum.acknowledged + sum.drops.values.reduce(0, +)
        acknowledged += sum.acknowledged
        drops.merge(sum.drops, uniquingKeysWith: +)
    }
}
