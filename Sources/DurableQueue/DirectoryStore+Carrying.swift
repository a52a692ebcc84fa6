internal import Instrument

/// The sums of a folder that is drained go to the bookkeeping of another.
extension DirectoryStore {
    /// What a drained folder hands over: nothing of it is queued or dead any more.
    var settledSums: [Bookkeeping.CarriedSum] {
        backendNames.map { name in
            let ledger = ledger(of: BackendName(name))
            return Bookkeeping.CarriedSum(name: name, acknowledged: ledger.acknowledged, drops: ledger.drops)
        }
    }

    /// Writes down what a drained folder hands over; it counts here from ``noteCarried(_:)`` on, and after a restart.
    func keepSums(_ sums: [Bookkeeping.CarriedSum], of log: UInt64) throws(QueueError) {
        do {
            try bookkeeping.carry(sums, of: log)
        } catch {
            throw QueueError(.storeFailed, "cannot save the ledger of a drained folder in \(path): \(error)")
        }
    }

    /// Counts what was written down.
    func noteCarried(_ sums: [Bookkeeping.CarriedSum]) {
        state.withLock { state in
            for sum in sums {
                let known = state.carried[sum.name] ?? Bookkeeping.CarriedSum(name: sum.name)
                state.carried[sum.name] = Bookkeeping.CarriedSum(
                    name: sum.name,
                    acknowledged: known.acknowledged + sum.acknowledged,
                    drops: known.drops.merging(sum.drops, uniquingKeysWith: +)
                )
            }
        }
    }

    /// Forgets the number of a log whose folder is deleted. If it fails, the number stays, which harms nothing.
    func finishCarrying(_ log: UInt64) {
        do { try bookkeeping.finishCarrying(log) } catch {
            report(.store("cannot compact the bookkeeping in \(path): \(error)"))
        }
    }
}

extension Ledger {
    /// Adds another store's.
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
