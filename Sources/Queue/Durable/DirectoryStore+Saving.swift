internal import Instrument

/// Saves places, dead letters and sequence numbers without samples, in the order of their changes.
extension DirectoryStore {
    /// The unsaved changes, which are saved all or none: a saved cursor and the saved gaps always fit together.
    struct Changes {
        /// The names of forgotten backends. A backend may have a new place since.
        var forgotten: Set<String> = []
        var places: [Change] = []
        /// Sequence numbers without samples.
        var absent = SequenceSet()
        /// Erased samples that may still be in the segments.
        var erased = SequenceSet()
        /// The number of refused samples that the places have counted.
        var refusedCount = 0

        var isEmpty: Bool { forgotten.isEmpty && places.isEmpty && absent.isEmpty && erased.isEmpty }
    }

    /// The unsaved changes of one backend.
    struct Change {
        var row: Bookkeeping.PlaceRow
        var addedLetters: [Bookkeeping.LetterRow]
        var removedLetters: [UInt64]
    }

    /// Saves the changes since the last call, all or none, and deletes the segments that every backend has passed.
    /// Returns false if the changes could not be saved; the next call retries them.
    @discardableResult
    func saveChanges() -> Bool {
        if isViewed { return true }
        let isSaved = writing.withLock { _ in
            guard let changes = state.withLock({ $0.isLetGo ? nil : $0.takeChanges() }) else { return false }
            if changes.isEmpty { return true }
            do {
                try bookkeeping.save(changes)
                state.withLock { $0.areSaved(changes) }
                noteSuccess(of: .saving)
                return true
            } catch {
                state.withLock { $0.putBack(changes) }
                noteFailure(
                    "cannot save the cursors of backends in \(path): \(error); the store retries later",
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
            throw QueueError(.storeFailed, "cannot save the cursors of backends in \(path)")
        }
        try synchronizeBookkeeping()
        try Directory.synchronize(path)
        try Directory.synchronize(path + "/..")
    }

    func synchronizeBookkeeping() throws(QueueError) {
        do { try bookkeeping.synchronize() } catch {
            throw QueueError(.storeFailed, "cannot synchronize the bookkeeping in \(path): \(error)")
        }
    }

    /// Deletes segments that every backend has passed, after the bookkeeping of that has been synchronized: if a loss
    /// of power reverts a cursor, its samples must still exist.
    ///
    /// - Parameter areUnclaimed: whether no backend will ever receive the samples of a log without a place. Otherwise
    ///   its places were lost, and the samples wait for the backends to return.
    func trim(areUnclaimed: Bool = false) {
        if isViewed || bookkeeping.isClosed { return }
        let (segments, start) = writing.withLock { _ -> ([Segment], UInt64?) in
            guard let limit = state.withLock({ $0.trimLimit(areUnclaimed: areUnclaimed) }) else { return ([], nil) }
            do throws(QueueError) { try synchronizeBookkeeping() } catch {
                report(.store("\(error); delivered segments are kept for now"))
                return ([], nil)
            }
            return state.withLock { state -> ([Segment], UInt64?) in
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
        try? bookkeeping.forgetErased(below: start)
    }

    /// Skips sequence numbers without samples, or whose samples are in another folder. After a failure, the next
    /// ``saveChanges()`` saves them.
    func leaveOut(_ numbers: Range<UInt64>) {
        state.withLock { $0.leaveOut(numbers) }
        guard saveChanges() else { return }
        // A sequence number must never be used twice, even after a loss of power.
        do throws(QueueError) { try synchronizeBookkeeping() } catch { report(.store("\(error)")) }
    }
}

extension DirectoryStore.State {
    /// Skips sequence numbers without samples. The next ``DirectoryStore/saveChanges()`` saves them.
    mutating func leaveOut(_ numbers: Range<UInt64>) {
        absent.insert(numbers)
        erased.insert(numbers)
        unsavedAbsent.insert(numbers)
    }

    /// The sequence number before which every backend has passed all segments; nil if no segment can be deleted.
    func trimLimit(areUnclaimed: Bool) -> UInt64? {
        guard let limit = places.map(\.savedCursor).min() ?? (areUnclaimed ? nextSequence : nil) else { return nil }
        return log.canTrim(to: limit) ? limit : nil
    }

    /// The number below which no backend counts samples any more. A backend may wait before numbers that no segment
    /// has: the log may have lost samples that a faster backend had received.
    var forgettableEnd: UInt64 { min(log.startSequence, places.map(\.savedCursor).min() ?? .max) }

    mutating func takeChanges() -> DirectoryStore.Changes {
        var changes = DirectoryStore.Changes(
            forgotten: unsavedForgotten,
            absent: unsavedAbsent,
            erased: unsavedErased,
            refusedCount: refusedCount
        )
        (unsavedForgotten, unsavedAbsent, unsavedErased) = ([], SequenceSet(), SequenceSet())
        for index in places.indices where places[index].isChanged {
            changes.places.append(
                DirectoryStore.Change(
                    row: places[index].row,
                    addedLetters: places[index].newLetters,
                    removedLetters: places[index].goneLetters
                )
            )
            (places[index].newLetters, places[index].goneLetters, places[index].isChanged) = ([], [], false)
        }
        return changes
    }

    /// Unsaved letters come before the letters since.
    mutating func putBack(_ changes: DirectoryStore.Changes) {
        unsavedForgotten.formUnion(changes.forgotten)
        unsavedAbsent.formUnion(changes.absent)
        unsavedErased.formUnion(changes.erased)
        for change in changes.places {
            guard let index = places.firstIndex(where: { $0.row.name == change.row.name }) else { continue }
            let gone = Set(places[index].goneLetters)
            places[index].newLetters =
                change.addedLetters.filter { !gone.contains($0.sequence) } + places[index].newLetters
            places[index].goneLetters = change.removedLetters + places[index].goneLetters
            places[index].isChanged = true
        }
    }

    mutating func areSaved(_ changes: DirectoryStore.Changes) {
        for change in changes.places {
            guard let index = places.firstIndex(where: { $0.row.name == change.row.name }) else { continue }
            places[index].savedCursor = change.row.cursor
        }
    }
}
