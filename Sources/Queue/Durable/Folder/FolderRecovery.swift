internal import Instrument

/// Recovers what an earlier process left in an opened folder: files that cannot be opened, and samples that it had
/// staged. Used once, at the start.
struct FolderRecovery {
    let folder: StoreFolder
    private let opening: FolderOpening
    let saver: ChangeSaver
    private let drainer: Drainer

    init(_ opening: FolderOpening, _ saver: ChangeSaver, _ drainer: Drainer) {
        folder = opening.folder
        self.opening = opening
        self.saver = saver
        self.drainer = drainer
    }

    /// - Parameter stagingDirectory: where the staging area of an earlier process is searched for.
    func run(in stagingDirectory: String?) throws(QueueError) {
        // First of all: what is saved from here on says that the samples of these files are elsewhere.
        try moveOut(opening.unopened)
        var left = opening.mark
        if left == nil { left = try foundMark(in: stagingDirectory) }
        if let left { try recover(left, in: stagingDirectory, opening.rowsLeft, isEndKnown: opening.isEndKnown) }
        let hasLostPlaces = folder.state.withLock { state in
            state.hasLostPlaces = opening.rows.isEmpty && !state.log.stretches.isEmpty
            return state.hasLostPlaces
        }
        if hasLostPlaces, !opening.wasSetAside {
            folder.report(
                .store("the cursors of backends in \(folder.path) are missing; backends begin with the oldest sample")
            )
        }
        reportLosses(opening.rows)
        // The end of the log's last file is unknown; a spare may be that file.
        if !opening.isEndKnown { skipNumbersBehindOpenEnd() }
    }

    /// Reports samples that were found lost at the start. Earlier losses were already reported.
    private func reportLosses(_ before: [Bookkeeping.PlaceRow]) {
        let now = folder.state.withLock { $0.places.map(\.row) }
        for (row, old) in zip(now, before) {
            let lost = (row.drops[.corrupt] ?? 0) - (old.drops[.corrupt] ?? 0)
            if lost > 0 { folder.report(.dropped(BackendName(row.name), count: lost, .corrupt)) }
        }
    }

    /// Recovers samples that a process had staged before it ended without closing the store.
    ///
    /// If that memory is missing, the power was lost or the container was replaced: then the log may lack samples that
    /// backends have received, and other samples must not have their sequence numbers.
    ///
    /// - Parameters:
    ///   - mark: the mark that the process left.
    ///   - directory: where the file is searched for if the mark does not name it.
    ///   - rows: the backends' places at this start.
    ///   - isEndKnown: whether every file of the log is here.
    private func recover(
        _ mark: StagingMark,
        in directory: String?,
        _ rows: [Bookkeeping.PlaceRow],
        isEndKnown: Bool
    ) throws(QueueError) {
        let left = try leftArea(mark, in: directory)
        var areas = left.map { [$0] } ?? []
        if let path = left?.path {
            for sibling in try StagingArea.siblings(of: path) {
                if let large = try area(at: sibling) { areas.append(large) }
            }
        }
        try takeOver(areas, rows, isEndKnown: isEndKnown)
        if let left {
            skipNumbers(to: min(left.nextSequence, FolderNames.maxNumber))
            takeOverRefusals(left.refusedCount)
        } else {
            if case .file(let path) = mark, !Directory.exists(path) {
                folder.report(
                    .store("\(path) is missing: samples of the last moments before a loss of power, if any, are lost")
                )
            }
            skipNumbers()
        }
        let isOfCopy = left.map(isOfOtherFolder) ?? false
        // Both folders may continue: their samples must not have the same identifiers.
        if isOfCopy { skipNumbers() }
        try keepGaps()
        // Only now every staged sample is in the log, and every gap in the bookkeeping.
        StagingMark.remove(in: folder.path)
        if !isOfCopy { for area in areas { area.delete() } }
    }

    /// Makes sure that the skipped sequence numbers are saved, because the next start would count them as lost samples.
    /// - Throws: if they cannot be saved; the next start recovers the same samples and skips the same numbers.
    private func keepGaps() throws(QueueError) {
        if folder.state.withLock({ !$0.hasUnsavedGaps }) || saver.saveChangesRetrying() { return }
        throw QueueError(.storeFailed, "cannot save the gaps between samples in \(folder.path)")
    }

    /// Copies staged records into the log. The log may have lost records that were copied before: those that are staged
    /// are copied again, and the others count as lost; if the log's end is in another folder, they may be there.
    private func takeOver(
        _ areas: [StagingArea],
        _ rows: [Bookkeeping.PlaceRow],
        isEndKnown: Bool
    ) throws(QueueError) {
        folder.leaveCutSegment()
        let (start, next, erased) = folder.state.withLock { state in
            let oldest = rows.map(\.cursor).min() ?? state.log.nextSequence
            return (state.log.recordedEnd ?? min(oldest, state.log.nextSequence), state.log.nextSequence, state.erased)
        }
        let records = areas.flatMap { $0.records(from: start) }.filter { !erased.contains($0.sequence) }
            .sorted { $0.sequence < $1.sequence }
        if let first = records.first?.sequence, first < next { folder.state.withLock { $0.log.resume(at: start) } }
        var (missing, rows) = (SequenceSet(), rows)
        func miss(_ numbers: Range<UInt64>) {
            if isEndKnown { missing.append(numbers) } else { leave(numbers, &rows) }
        }
        var end = start
        for record in records where record.sequence >= end {
            guard let base = record.bytes.baseAddress else { continue }
            if record.sequence > end {
                miss(end..<record.sequence)
                drainer.draining.withLock { _ in drainer.sealHead() }
                folder.state.withLock { $0.log.skip(to: record.sequence) }
            }
            end = record.sequence + 1
            let sample = try? SampleDecoder.read(UnsafeRawBufferPointer(rebasing: record.bytes.dropFirst(16)))
            let unit = Staging.Unit(
                end: record.bytes.count,
                endSequence: end,
                instant: sample?.time.instant ?? MonotonicInstant(nanoseconds: 0)
            )
            try drainer.draining.withLock { (_: inout Void) throws(QueueError) in
                _ = try drainer.copy([unit], of: base, from: 0)
            }
        }
        drainer.draining.withLock { _ in drainer.sealHead() }
        let accepted = min(max(next, areas.map(\.stagedEnd).max() ?? 0), FolderNames.maxNumber)
        if accepted > end { miss(end..<accepted) }
        folder.state.withLock { state in
            state.log.skip(to: max(end, accepted))
            state.nextSequence = state.log.nextSequence
        }
        if !records.isEmpty || !isEndKnown { try placeAgain(rows) }
        noteLost(missing)
    }

    /// Leaves numbers to another folder, in the places and in rows from which places are computed. Saved before samples
    /// behind the numbers are in the log: the next start would count the numbers as lost.
    private func leave(_ numbers: Range<UInt64>, _ rows: inout [Bookkeeping.PlaceRow]) {
        folder.state.withLock { state in
            for index in rows.indices { rows[index].leave(numbers, state.erased) }
            // The places were computed without the staged samples: what they count as lost must not be saved.
            for (index, row) in zip(state.places.indices, rows) {
                state.places[index].row.cursor = row.cursor
                state.places[index].row.drops = row.drops
                state.places[index].row.carried = row.carried
                state.places[index].isChanged = true
            }
        }
        saver.leaveOut(numbers)
    }

    /// Computes the places again, because the log has older samples than before.
    private func placeAgain(_ rows: [Bookkeeping.PlaceRow]) throws(QueueError) {
        do {
            try folder.state.withLock { state in
                state.places = try BackendPlace.places(rows, in: state.log, state.erased, folder.bookkeeping)
                for index in state.places.indices { state.places[index].isChanged = true }
            }
        } catch {
            throw QueueError(.storeFailed, "cannot read the bookkeeping in \(folder.path): \(error)")
        }
    }

    /// Counts accepted samples that no file has as lost.
    private func noteLost(_ numbers: SequenceSet) {
        let count = folder.state.withLock { state in
            let count = numbers.ranges.reduce(0) { $0 + $1.count - state.erased.count(in: $1) }
            if count > 0 { state.remove(numbers, countedAs: .corrupt) }
            return count
        }
        if count == 0 { return }
        let subject = count == 1 ? "1 sample is" : "\(count) samples are"
        folder.report(
            .store("\(subject) lost: the store had accepted them, and no file of \(folder.path) has them any more")
        )
    }

    /// Counts refusals that the earlier process could not save.
    private func takeOverRefusals(_ count: Int) {
        folder.state.withLock { state in
            let unsaved = count - state.refusedCount
            guard 0..<(1 << 48) ~= unsaved, unsaved > 0 else { return }
            state.countRefused(unsaved)
        }
    }

    /// Ends the recovery of a log whose last file has moved to another folder.
    private func skipNumbersBehindOpenEnd() {
        skipNumbers()
        if folder.state.withLock({ $0.hasUnsavedGaps }) { return }
        // If this fails, the next start skips numbers once more.
        try? folder.bookkeeping.setEndOpen(false)
    }

    private func skipNumbers() {
        skipNumbers(to: folder.state.withLock { $0.log.nextSequence } + SegmentedLog.leap)
    }

    private func skipNumbers(to end: UInt64) {
        let next = folder.state.withLock { $0.log.nextSequence }
        if end <= next { return }
        drainer.draining.withLock { _ in drainer.sealHead() }
        saver.leaveOut(next..<end)
        folder.state.withLock { state in
            state.log.skip(to: end)
            state.nextSequence = max(state.nextSequence, end)
            state.skipErased()
        }
    }
}

extension Bookkeeping.PlaceRow {
    /// Corrects the sums of backends that have passed a part of the skipped sequence numbers.
    mutating func leave(_ numbers: Range<UInt64>, _ erased: SequenceSet) {
        let passed = numbers.clamped(to: start..<max(start, cursor))
        carried += passed.count - erased.count(in: passed)
        if numbers.contains(cursor) { cursor = numbers.upperBound }
    }
}
