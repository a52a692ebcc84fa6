internal import Instrument

/// Saves places, dead letters and sequence numbers without samples, in the order of their changes.
final class ChangeSaver: Sendable {
    /// Held while changes are saved, so that they are saved in their order.
    let writing = OrderedLock(.writing, ())
    private let folder: StoreFolder

    init(_ folder: StoreFolder) { self.folder = folder }

    /// Saves the changes since the last call, all or none, and deletes the segments that every backend has passed.
    /// Returns false if the changes could not be saved; the next call retries them.
    @discardableResult
    func saveChanges() -> Bool {
        let isSaved = writing.withLock { _ in
            guard let changes = folder.state.withLock({ $0.isLetGo ? nil : $0.takeChanges() }) else { return false }
            if changes.isEmpty { return true }
            do {
                try folder.bookkeeping.save(changes)
                folder.state.withLock { $0.areSaved(changes) }
                folder.noteSuccess(of: .saving)
                return true
            } catch {
                folder.state.withLock { $0.putBack(changes) }
                folder.noteFailure(
                    "cannot save the cursors of backends in \(folder.path): \(error); the store retries later",
                    of: .saving
                )
                return false
            }
        }
        if isSaved { trim() }
        return isSaved
    }

    /// Saves the changes, and retries at once a failure that may be momentary. Returns false if it lasts.
    func saveChangesRetrying() -> Bool {
        for _ in 0..<SystemCall.attempts where saveChanges() { return true }
        return false
    }

    /// Saves changes so that they survive a loss of power, including the name of a new folder.
    func saveLastingly() throws(QueueError) {
        guard saveChanges() else {
            throw QueueError(.storeFailed, "cannot save the cursors of backends in \(folder.path)")
        }
        try synchronizeBookkeeping()
        try Directory.synchronize(folder.path)
        try Directory.synchronize(folder.path + "/..")
    }

    func synchronizeBookkeeping() throws(QueueError) {
        do { try folder.bookkeeping.synchronize() } catch {
            throw QueueError(.storeFailed, "cannot synchronize the bookkeeping in \(folder.path): \(error)")
        }
    }

    /// Deletes segments that every backend has passed, after the bookkeeping of that has been synchronized: if a loss
    /// of power reverts a cursor, its samples must still exist.
    ///
    /// - Parameter areUnclaimed: whether no backend will ever receive the samples of a log without a place. Otherwise
    ///   its places were lost, and the samples wait for the backends to return.
    func trim(areUnclaimed: Bool = false) {
        if folder.bookkeeping.isClosed { return }
        let (segments, start) = writing.withLock { _ -> ([Segment], UInt64?) in
            guard let limit = folder.state.withLock({ $0.trimLimit(areUnclaimed: areUnclaimed) }) else {
                return ([], nil)
            }
            do throws(QueueError) { try synchronizeBookkeeping() } catch {
                folder.report(.store("\(error); delivered segments are kept for now"))
                return ([], nil)
            }
            return folder.state.withLock { state -> ([Segment], UInt64?) in
                let segments = state.log.trim(to: limit)
                if segments.isEmpty || state.erased.isEmpty { return (segments, nil) }
                let end = state.forgettableEnd
                state.erased.removeAll(below: end)
                return (segments, end)
            }
        }
        for segment in segments { segment.delete() }
        guard let start else { return }
        // After a failure, the next deletion of a segment retries. Nothing reads these numbers any more.
        try? folder.bookkeeping.forgetErased(below: start)
    }

    /// Skips sequence numbers without samples, or whose samples are in another folder. After a failure, the next
    /// ``saveChanges()`` saves them.
    func leaveOut(_ numbers: Range<UInt64>) {
        folder.state.withLock { $0.leaveOut(numbers) }
        guard saveChanges() else { return }
        // A sequence number must never be used twice, even after a loss of power.
        do throws(QueueError) { try synchronizeBookkeeping() } catch { folder.report(.store("\(error)")) }
    }

    /// Saves nothing from here on: another process may own the folder.
    func letGo() { writing.withLock { _ in folder.state.withLock { $0.isLetGo = true } } }
}
