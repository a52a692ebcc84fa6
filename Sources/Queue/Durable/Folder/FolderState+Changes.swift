internal import Instrument

/// The unsaved changes of a folder, which are saved all or none: a saved cursor and the saved gaps always fit together.
struct FolderChanges {
    /// The unsaved changes of one backend.
    struct PlaceChange {
        var row: Bookkeeping.PlaceRow
        var addedLetters: [Bookkeeping.LetterRow]
        var removedLetters: [UInt64]
    }

    /// The names of forgotten backends. A backend may have a new place since.
    var forgotten: Set<String> = []
    var places: [PlaceChange] = []
    /// Sequence numbers without samples.
    var absent = SequenceSet()
    /// Erased samples that may still be in the segments.
    var erased = SequenceSet()
    /// The number of refused samples that the places have counted.
    var refusedCount = 0

    var isEmpty: Bool { forgotten.isEmpty && places.isEmpty && absent.isEmpty && erased.isEmpty }
}

extension FolderState {
    /// Whether the bookkeeping lacks numbers without samples.
    var hasUnsavedGaps: Bool { !unsavedAbsent.isEmpty || !unsavedErased.isEmpty }

    /// Skips sequence numbers without samples. The next ``ChangeSaver/saveChanges()`` saves them.
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

    mutating func takeChanges() -> FolderChanges {
        var changes = FolderChanges(
            forgotten: unsavedForgotten,
            absent: unsavedAbsent,
            erased: unsavedErased,
            refusedCount: refusedCount
        )
        (unsavedForgotten, unsavedAbsent, unsavedErased) = ([], SequenceSet(), SequenceSet())
        for index in places.indices where places[index].isChanged {
            changes.places.append(
                FolderChanges.PlaceChange(
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
    mutating func putBack(_ changes: FolderChanges) {
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

    mutating func areSaved(_ changes: FolderChanges) {
        for change in changes.places {
            guard let index = places.firstIndex(where: { $0.row.name == change.row.name }) else { continue }
            places[index].savedCursor = change.row.cursor
        }
    }
}
