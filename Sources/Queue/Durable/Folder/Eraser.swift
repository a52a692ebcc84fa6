internal import Instrument

/// Erasure: the store first counts and saves an erasure, then removes the samples from the segments. The next opening
/// completes an erasure that a crash has interrupted.
final class Eraser: Sendable {
    /// Held during an erasure, a move of the mark, or a change of dead letters that is no delivery.
    let erasing = OrderedLock(.erasing, ())
    private let folder: StoreFolder
    private let view: FolderView
    private let saver: ChangeSaver
    private let drainer: Drainer
    private let choreWorker: ChoreWorker

    init(
        _ folder: StoreFolder,
        _ saver: ChangeSaver,
        _ drainer: Drainer,
        _ choreWorker: ChoreWorker
    ) {
        self.folder = folder
        view = FolderView(folder)
        self.saver = saver
        self.drainer = drainer
        self.choreWorker = choreWorker
    }

    /// Erases the samples for which `isErased` returns true, from the log and from the dead letters. Returns their
    /// number.
    func erase(where isErased: (SampleRecord) -> Bool) throws(QueueError) -> Int {
        try erasing.withLock { (_: inout Void) throws(QueueError) in
            try drainer.drainAndWipe()
            return try erase(find(isErased), lettersWhere: isErased)
        }
    }

    /// Marks the end of the log, unless it has a mark.
    func hold() throws(QueueError) {
        try erasing.withLock { (_: inout Void) throws(QueueError) in
            let (mark, end) = folder.state.withLock { ($0.heldFrom, $0.nextSequence) }
            if mark != nil { return }
            // Saved first, so that all samples that are appended from now on are held.
            try HeldMark.write(end, in: folder.path)
            folder.state.withLock { $0.heldFrom = end }
        }
    }

    /// Removes the mark.
    func release() throws(QueueError) {
        try erasing.withLock { (_: inout Void) throws(QueueError) in
            if folder.state.withLock({ $0.heldFrom }) == nil { return }
            try HeldMark.remove(in: folder.path)
            folder.state.withLock { $0.heldFrom = nil }
        }
    }

    /// Erases the samples after the mark, and removes the mark.
    func eraseHeld() throws(QueueError) -> Int {
        try erasing.withLock { (_: inout Void) throws(QueueError) in
            guard let mark = folder.state.withLock({ $0.heldFrom }) else { return 0 }
            try drainer.drainAndWipe()
            let (start, end) = folder.state.withLock { ($0.log.startSequence, $0.log.nextSequence) }
            var held = SequenceSet()
            held.append(max(mark, start)..<max(mark, start, end))
            let count = try erase(held) { $0.sequence >= mark }
            try HeldMark.remove(in: folder.path)
            folder.state.withLock { $0.heldFrom = nil }
            return count
        }
    }

    /// Completes an erasure that a crash has interrupted.
    func finishErasing() {
        do {
            let undone = try folder.bookkeeping.erased(onlyUndone: true)
            if undone.isEmpty { return }
            try rewriteSegments(without: undone)
            try folder.bookkeeping.finishErasing()
        } catch {
            folder.report(
                .store("erased samples are still on disk in \(folder.path): \(error); the next start retries")
            )
        }
    }

    private func find(_ isErased: (SampleRecord) -> Bool) -> SequenceSet {
        let stretches = folder.state.withLock { $0.log.stretches }
        var found = SequenceSet()
        for stretch in stretches {
            stretch.forEachRecord { record in
                guard let sample = try? SampleDecoder.read(record.payload) else { return }
                let id = SampleID(log: folder.logNumber, sequence: record.sequence)
                if isErased(SampleRecord(id: id, sequence: record.sequence, sample: sample)) {
                    found.append(record.sequence..<record.sequence + 1)
                }
            }
        }
        return found
    }

    private func erase(
        _ sequences: SequenceSet,
        lettersWhere isErased: (SampleRecord) -> Bool
    ) throws(QueueError) -> Int {
        do {
            let (letters, known) = try saver.writing.withLock { _ in
                try saveErasure(sequences, lettersWhere: isErased)
            }
            try rewriteSegments(without: sequences)
            try folder.bookkeeping.finishErasing()
            try removeSetAside()
            saver.trim()
            var all = SequenceSet()
            for sequence in letters.sorted() { all.append(sequence..<sequence + 1) }
            all.formUnion(sequences)
            return all.ranges.reduce(0) { $0 + $1.count - known.count(in: $1) }
        } catch let error as QueueError {
            throw error
        } catch {
            throw QueueError(.storeFailed, "cannot erase from \(folder.path): \(error); try again")
        }
    }

    /// Counts and saves an erasure. Returns the numbers of the erased letters, and the numbers that were erased before.
    /// The caller holds `writing`.
    private func saveErasure(
        _ sequences: SequenceSet,
        lettersWhere isErased: (SampleRecord) -> Bool
    ) throws -> (letters: Set<UInt64>, known: SequenceSet) {
        // Read while nothing is saved: a letter is either here or among the unsaved ones.
        let letters = try letters(where: isErased)
        let (gone, known, changes) = folder.state.withLock { state -> (Set<UInt64>, SequenceSet, FolderChanges) in
            let known = state.erased
            return (state.erase(sequences, letters), known, state.takeChanges())
        }
        do { try folder.bookkeeping.saveErasure(changes) } catch {
            folder.state.withLock { $0.putBack(changes) }
            throw error
        }
        folder.state.withLock { $0.areSaved(changes) }
        return (gone, known)
    }

    /// The numbers of the letters to erase, by backend. The caller holds `writing`.
    private func letters(where isErased: (SampleRecord) -> Bool) throws -> [String: Set<UInt64>] {
        var found: [String: Set<UInt64>] = [:]
        for name in folder.state.withLock({ $0.places.map(\.row.name) }) {
            let letters = try view.letters(ofPlace: name).filter {
                SampleRecord($0, of: folder.logNumber).map(isErased) ?? false
            }
            found[name] = Set(letters.map(\.sequence))
        }
        return found
    }

    /// Deletes files that were set aside as damaged, because they may contain samples to erase.
    private func removeSetAside() throws(QueueError) {
        for name in try Directory.entries(of: folder.path) where FolderNames.isSetAside(name) {
            // Anything but a file, which was in the place of one of the store's files, holds no samples of the store.
            guard let status = Directory.status(of: folder.path + "/" + name), Directory.isFile(status) else {
                continue
            }
            try Directory.overwriteAndDelete(folder.path + "/" + name)
            folder.report(.store("\(folder.path)/\(name) was damaged and may have held erased samples; it was deleted"))
        }
    }

    private func rewriteSegments(without erased: SequenceSet) throws(QueueError) {
        // The head is sealed first, because a segment is rewritten as a whole. A file is replaced under its name, so
        // that no segment may begin between its naming and this access.
        let stretches = choreWorker.chores.withLock { _ in
            drainer.draining.withLock { _ in
                drainer.sealHead()
                choreWorker.doChoresLocked()
                return folder.state.withLock { $0.log.sealedStretches }
            }
        }
        for stretch in stretches {
            guard let segment = try stretch.segment.rewritten(without: erased, end: stretch.end) else { continue }
            // Every backend may have passed the segment in the meantime.
            if !folder.state.withLock({ $0.log.replace(segment) }) { segment.delete() }
        }
    }
}

extension SegmentedLog.Stretch {
    /// Calls `body` with each complete record.
    func forEachRecord(_ body: (Segment.Record) -> Void) {
        var (offset, last): (Int, UInt64?) = (SegmentHeader.size, nil)
        let limit = segment.readableEnd(end)
        while let (_, record) = segment.nextRecord(from: offset, before: limit, after: last, until: endSequence) {
            (offset, last) = (record.next, record.sequence)
            body(record)
        }
    }
}
