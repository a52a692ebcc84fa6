internal import Instrument

/// Recovery of samples that an earlier process had staged, and of files that cannot be opened.
extension DirectoryStore {
    /// The directory for files that the system never writes to a disk; nil on a system without one.
    static var stagingDirectory: String? {
        #if os(Linux)
        "/dev/shm"
        #else
        nil
        #endif
    }

    /// Whether the folder contains files from another folder and has that log's number. The store appends nothing to
    /// it.
    var isMoved: Bool { Directory.exists(path + "/" + FolderNames.moved) }

    /// Creates the staging area. The store can append only after this call.
    func prepareToAppend(in stagingDirectory: String?, _ randomness: RandomSource) throws(QueueError) {
        // Enough room for a slow disk, even if segments are small. A multiple of eight, as every record's offset.
        let size = min(1 << 20, max(256 << 10, configuration.segmentSize)) & ~7
        var area: StagingArea?
        if let directory = stagingDirectory {
            area = (try? StagedFolder(path)).flatMap {
                StagingArea.make(in: directory, halfSize: size, log: logNumber, folder: $0, randomness)
            }
            if area == nil {
                report(.store("cannot create a file of \(2 * size) bytes in \(directory): emit may wait for the disk"))
            }
        }
        let made = if let area { area } else { try StagingArea.inProcess(halfSize: size) }
        made.note(refused: state.withLock { $0.refusedCount })
        do throws(QueueError) { try StagingMark.write(made, in: path) } catch {
            made.delete()
            throw error
        }
        state.withLock { $0.staging = Staging(made) }
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
    func recover(
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
                report(
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
        StagingMark.remove(in: self.path)
        if !isOfCopy { for area in areas { area.delete() } }
    }

    /// Makes sure that the skipped sequence numbers are saved, because the next start would count them as lost samples.
    /// - Throws: if they cannot be saved; the next start recovers the same samples and skips the same numbers.
    private func keepGaps() throws(QueueError) {
        if state.withLock({ !$0.hasUnsavedGaps }) || saver.saveChangesRetrying() { return }
        throw QueueError(.storeFailed, "cannot save the gaps between samples in \(path)")
    }

    /// The staging area that an earlier process left for this log; nil, with a diagnostic where samples may be left
    /// behind, if it is missing.
    private func leftArea(_ mark: StagingMark, in directory: String?) throws(QueueError) -> StagingArea? {
        switch mark {
        case .file(let path):
            do throws(StagingArea.Absence) { return try StagingArea.open(leftAt: path, log: logNumber) } catch {
                switch error {
                case .missing: break
                case .ofOtherUser(let owner):
                    throw QueueError(
                        .storeFailed,
                        """
                        the staged samples of \(self.path) are in \(path), which belongs to the user with the number \
                        \(owner): start once as that user, or delete the file and lose these samples
                        """
                    )
                case .foreign:
                    report(
                        .store("\(path) has staged samples of another queue than \(self.path); it is left unchanged")
                    )
                case .inUse(let area):
                    try requireOther(area)
                    report(
                        .store(
                            "\(self.path) is a copy of \(area.folderPath), which is in use: its staged samples stay there"
                        )
                    )
                case .unreadable(let cause): throw cause
                }
            }
        case .damaged:
            report(.store("the mark of staged samples in \(path) was damaged; their file is searched for"))
        case .memory: break
        }
        return try searchedArea(in: directory)
    }

    /// The area of this log at a path; nil if the path has none, or if the area is in use by the folder of which this
    /// one is a copy.
    private func area(at path: String) throws(QueueError) -> StagingArea? {
        do throws(StagingArea.Absence) { return try StagingArea.open(leftAt: path, log: logNumber) } catch {
            switch error {
            case .missing, .ofOtherUser, .foreign: break
            case .inUse(let area): try requireOther(area)
            case .unreadable(let cause): throw cause
            }
            return nil
        }
    }

    /// - Throws: if an area that is in use belongs to this folder: a child of the ended process may hold it.
    private func requireOther(_ area: StagingArea) throws(QueueError) {
        guard try FileIdentity(of: path) == area.folderIdentity else { return }
        throw QueueError(.storeFailed, "\(area.path ?? path) is in use by another process")
    }

    /// The mark that a folder should have, because an area says that it belongs to this log and folder.
    func foundMark(in directory: String?) throws(QueueError) -> StagingMark? {
        try isMoved ? nil : searchedArea(in: directory)?.path.map { .file($0) }
    }

    /// An area that says that it belongs to this log and folder.
    private func searchedArea(in directory: String?) throws(QueueError) -> StagingArea? {
        guard let directory else { return nil }
        let folder = try StagedFolder(path)
        for path in StagingArea.paths(in: directory) {
            guard let area = try area(at: path) else { continue }
            if area.folderIdentity == folder.identity || area.folderPath == folder.path { return area }
            report(.store("\(path) has staged samples of \(area.folderPath), of which \(folder.path) may be a copy"))
        }
        return nil
    }

    /// Whether an area belongs to another folder that still exists, of which this folder is a copy.
    private func isOfOtherFolder(_ area: StagingArea) -> Bool {
        guard let own = try? FileIdentity(of: path), own != area.folderIdentity else { return false }
        // Without a path, from an earlier version, it may exist.
        return area.folderPath.isEmpty || (try? FileIdentity(of: area.folderPath)) == area.folderIdentity
    }

    /// Copies staged records into the log. The log may have lost records that were copied before: those that are staged
    /// are copied again, and the others count as lost; if the log's end is in another folder, they may be there.
    private func takeOver(
        _ areas: [StagingArea],
        _ rows: [Bookkeeping.PlaceRow],
        isEndKnown: Bool
    ) throws(QueueError) {
        folder.leaveCutSegment()
        let (start, next, erased) = state.withLock { state in
            let oldest = rows.map(\.cursor).min() ?? state.log.nextSequence
            return (state.log.recordedEnd ?? min(oldest, state.log.nextSequence), state.log.nextSequence, state.erased)
        }
        let records = areas.flatMap { $0.records(from: start) }.filter { !erased.contains($0.sequence) }
            .sorted { $0.sequence < $1.sequence }
        if let first = records.first?.sequence, first < next { state.withLock { $0.log.resume(at: start) } }
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
                state.withLock { $0.log.skip(to: record.sequence) }
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
        state.withLock { state in
            state.log.skip(to: max(end, accepted))
            state.nextSequence = state.log.nextSequence
        }
        if !records.isEmpty || !isEndKnown { try placeAgain(rows) }
        noteLost(missing)
    }

    /// Leaves numbers to another folder, in the places and in rows from which places are computed. Saved before samples
    /// behind the numbers are in the log: the next start would count the numbers as lost.
    private func leave(_ numbers: Range<UInt64>, _ rows: inout [Bookkeeping.PlaceRow]) {
        state.withLock { state in
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
            try state.withLock { state in
                state.places = try BackendPlace.places(rows, in: state.log, state.erased, bookkeeping)
                for index in state.places.indices { state.places[index].isChanged = true }
            }
        } catch {
            throw QueueError(.storeFailed, "cannot read the bookkeeping in \(path): \(error)")
        }
    }

    /// Counts accepted samples that no file has as lost.
    private func noteLost(_ numbers: SequenceSet) {
        let count = state.withLock { state in
            let count = numbers.ranges.reduce(0) { $0 + $1.count - state.erased.count(in: $1) }
            if count > 0 { state.remove(numbers, countedAs: .corrupt) }
            return count
        }
        if count == 0 { return }
        let subject = count == 1 ? "1 sample is" : "\(count) samples are"
        report(.store("\(subject) lost: the store had accepted them, and no file of \(path) has them any more"))
    }

    /// Counts refusals that the earlier process could not save.
    private func takeOverRefusals(_ count: Int) {
        state.withLock { state in
            let unsaved = count - state.refusedCount
            guard 0..<(1 << 48) ~= unsaved, unsaved > 0 else { return }
            state.countRefused(unsaved)
        }
    }

    /// Ends the recovery of a log whose last file has moved to another folder.
    func skipNumbersBehindOpenEnd() {
        skipNumbers()
        if state.withLock({ $0.hasUnsavedGaps }) { return }
        // If this fails, the next start skips numbers once more.
        try? bookkeeping.setEndOpen(false)
    }

    func skipNumbers() {
        skipNumbers(to: state.withLock { $0.log.nextSequence } + SegmentedLog.leap)
    }

    private func skipNumbers(to end: UInt64) {
        let next = state.withLock { $0.log.nextSequence }
        if end <= next { return }
        drainer.draining.withLock { _ in drainer.sealHead() }
        saver.leaveOut(next..<end)
        state.withLock { state in
            state.log.skip(to: end)
            state.nextSequence = max(state.nextSequence, end)
            state.skipErased()
        }
    }

    /// Moves files that cannot be opened into separate folders, where the next start finds them: they may contain
    /// samples, and the other files must not wait for them.
    ///
    /// Only when all of them have moved, their sequence numbers are left out: a start that fails or is killed before
    /// that leaves out no sample that is still here.
    func moveOut(_ unopened: [SegmentedLog.Unopened]) throws(QueueError) {
        for file in unopened {
            let folder = try moveOut(file)
            report(.store("\(file.cause); \(file.name) was moved to \(folder); the next start retries it"))
        }
        for numbers in unopened.compactMap(\.numbers) { saver.leaveOut(numbers) }
    }

    private func moveOut(_ file: SegmentedLog.Unopened) throws(QueueError) -> String {
        let unfinished = try Directory.makeSibling(of: path)
        // Locked while it has no name, because another process would delete the empty folder.
        let lock = try Self.locked(unfinished)
        try Directory.replace(unfinished + "/" + FolderNames.moved, by: path)
        // Held samples stay held there.
        if let mark = state.withLock({ $0.heldFrom }) { try HeldMark.write(mark, in: unfinished) }
        // The file comes last: no start finds a file in an unfinished folder.
        let folder = try Directory.finishSibling(unfinished)
        try Directory.move(path + "/" + file.name, to: folder + "/" + file.name)
        _ = consume lock
        return folder
    }

    private static func locked(_ folder: String) throws(QueueError) -> DirectoryLock {
        do throws(DirectoryLock.Refusal) { return try DirectoryLock(folder) } catch {
            throw QueueError(.storeFailed, "cannot lock \(folder) (\(error))")
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
