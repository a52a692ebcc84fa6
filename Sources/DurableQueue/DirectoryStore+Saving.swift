internal import Instrument

/// What is written down about places and dead letters, in the order in which it changed.
extension DirectoryStore {
    /// What has to be written down for one backend.
    struct Change {
        var row: Bookkeeping.PlaceRow
        var addedLetters: [Bookkeeping.LetterRow]
        var removedLetters: [UInt64]
    }

    /// Writes down what changed since this was last called, all of it or nothing, and deletes the segments that every
    /// backend is past by then. What cannot be written stays to be written; false then.
    @discardableResult
    func saveChanges() -> Bool {
        if isViewed { return true }
        let isSaved = writing.withLock { _ in
            let changes = state.withLock { $0.takeChanges() }
            if changes.isEmpty { return true }
            do {
                try bookkeeping.save(changes)
                state.withLock { $0.areSaved(changes) }
                return true
            } catch {
                state.withLock { $0.putBack(changes) }
                report(.store("cannot save the cursors of backends in \(path): \(error); the store retries later"))
                return false
            }
        }
        if isSaved { trim() }
        return isSaved
    }

    /// Writes down what changed such that it survives a loss of power; a new folder's own name included.
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

    /// Deletes segments that every backend is past, once the bookkeeping says so and keeps saying so without power: where
    /// a backend's place was lost, its samples have to be there still.
    func trim() {
        if isViewed || bookkeeping.isClosed { return }
        let (segments, start) = writing.withLock { _ -> ([Segment], UInt64?) in
            guard let limit = state.withLock({ $0.trimLimit }) else { return ([], nil) }
            do throws(QueueError) { try synchronizeBookkeeping() } catch {
                report(.store("\(error); delivered segments are kept for now"))
                return ([], nil)
            }
            return state.withLock { state -> ([Segment], UInt64?) in
                let segments = state.log.trim(to: limit)
                if segments.isEmpty || state.erased.isEmpty { return (segments, nil) }
                state.erased.removeAll(below: state.log.startSequence)
                return (segments, state.log.startSequence)
            }
        }
        for segment in segments { segment.delete() }
        guard let start else { return }
        // If they are not forgotten now, they are with the next segment: nothing reads them any more.
        try? bookkeeping.forgetErased(below: start)
    }

    /// Leaves numbers out of the log: no sample has them, or its samples are elsewhere now.
    func leaveOut(_ numbers: Range<UInt64>) {
        state.withLock { state in
            state.absent.insert(numbers)
            state.erased.insert(numbers)
        }
        do { try bookkeeping.save(absent: numbers) } catch {
            report(.store("cannot save the gaps of erased samples in \(path): \(error)"))
        }
    }
}

extension DirectoryStore.State {
    /// Up to where segments may go; nil if none is passed by every backend.
    var trimLimit: UInt64? {
        let limit = places.map(\.savedCursor).min() ?? nextSequence
        return log.canTrim(to: limit) ? limit : nil
    }

    mutating func takeChanges() -> [DirectoryStore.Change] {
        var changes: [DirectoryStore.Change] = []
        for index in places.indices where places[index].isChanged {
            changes.append(
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

    /// What could not be written goes before what came since.
    mutating func putBack(_ changes: [DirectoryStore.Change]) {
        for change in changes {
            guard let index = places.firstIndex(where: { $0.row.name == change.row.name }) else { continue }
            let gone = Set(places[index].goneLetters)
            places[index].newLetters =
                change.addedLetters.filter { !gone.contains($0.sequence) } + places[index].newLetters
            places[index].goneLetters = change.removedLetters + places[index].goneLetters
            places[index].isChanged = true
        }
    }

    mutating func areSaved(_ changes: [DirectoryStore.Change]) {
        for change in changes {
            guard let index = places.firstIndex(where: { $0.row.name == change.row.name }) else { continue }
            places[index].savedCursor = change.row.cursor
        }
    }
}
