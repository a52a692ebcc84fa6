internal import Instrument

/// What the end of an earlier process left undone, and what cannot be opened.
extension DirectoryStore {
    /// Where the system keeps files that are never written to a disk; nil where it has no such place.
    static var stagingDirectory: String? {
        #if os(Linux)
        "/dev/shm"
        #else
        nil
        #endif
    }

    /// Whether a sample that was staged outlives the process.
    var isStagingLasting: Bool { state.withLock { $0.staging?.area.outlivesProcess ?? false } }

    /// Whether the folder holds what was moved out of another one, and shares its log's number: nothing is appended to it.
    var isMoved: Bool { Directory.exists(path + "/" + FolderNames.moved) }

    /// Makes the memory in which samples wait for the disk; before this, nothing can be appended.
    func prepareToAppend(_ randomness: RandomSource) throws(QueueError) {
        // Room for a moment in which the disk is slow, also where segments are small.
        let size = min(1 << 20, max(256 << 10, configuration.segmentSize))
        let identity = FileIdentity(of: path)
        let name = "instrument-queue-" + randomness.identifier()
        var area: StagingArea?
        if let directory = Self.stagingDirectory, let identity {
            area = StagingArea.make(in: directory, name: name, halfSize: size, log: logNumber, folder: identity)
            if area == nil {
                report(.store("cannot make a file of \(2 * size) bytes in \(directory): emit may wait for the disk"))
            }
        }
        let made = if let area { area } else { try StagingArea.inProcess(halfSize: size) }
        do throws(QueueError) { try StagingMark.write(made, in: path) } catch {
            made.delete()
            throw error
        }
        state.withLock { $0.staging = Staging(made) }
    }

    /// Takes over what a process that ended without closing the store had staged.
    ///
    /// Without that memory the power was lost, or the container was replaced: then samples that backends already have may
    /// be missing in the log, and their numbers must not be given to others.
    func recover(_ path: String) throws(QueueError) {
        guard let area = try staged(at: path) else {
            skipNumbers()
            return StagingMark.remove(in: self.path)
        }
        try takeOver(area)
        let next = max(area.nextSequence, state.withLock { $0.log.nextSequence })
        skipNumbers(to: min(next, FolderNames.maxNumber))
        // Only now is nothing left in it that is not in the log.
        StagingMark.remove(in: self.path)
        area.delete()
    }

    /// The file that an earlier process staged samples in; nil if it is gone.
    private func staged(at path: String) throws(QueueError) -> StagingArea? {
        guard !path.isEmpty, let identity = FileIdentity(of: self.path) else { return nil }
        do throws(StagingArea.Absence) {
            return try StagingArea.open(leftAt: path, log: logNumber, folder: identity)
        } catch {
            switch error {
            case .missing: return nil
            case .unreadable(let cause): throw cause
            }
        }
    }

    private func takeOver(_ area: StagingArea) throws(QueueError) {
        leaveCutSegment()
        let first = state.withLock { $0.log.nextSequence }
        for record in area.records(from: first) {
            guard let base = record.bytes.baseAddress else { continue }
            let isNext = state.withLock { $0.log.nextSequence == record.sequence }
            if !isNext { skipNumbers(to: record.sequence) }
            let sample = try? SampleDecoder.read(UnsafeRawBufferPointer(rebasing: record.bytes.dropFirst(16)))
            let unit = Staging.Unit(
                end: record.bytes.count,
                endSequence: record.sequence + 1,
                instant: sample?.time.instant ?? MonotonicInstant(nanoseconds: 0)
            )
            try draining.withLock { (_: inout Void) throws(QueueError) in _ = try copy([unit], of: base, from: 0) }
        }
        draining.withLock { _ in sealHead() }
        state.withLock { $0.nextSequence = $0.log.nextSequence }
    }

    private func skipNumbers() {
        skipNumbers(to: state.withLock { $0.log.nextSequence } + SegmentedLog.leap)
    }

    private func skipNumbers(to end: UInt64) {
        let next = state.withLock { $0.log.nextSequence }
        if end <= next { return }
        draining.withLock { _ in sealHead() }
        leaveOut(next..<end)
        state.withLock { state in
            state.log.skip(to: end)
            state.nextSequence = max(state.nextSequence, end)
            state.skipErased()
        }
    }

    /// Moves files that cannot be opened into separate folders, where the next start finds them: they may hold samples,
    /// and what is beside them must not wait for them.
    func moveOut(_ unopened: [SegmentedLog.Unopened]) throws(QueueError) {
        for file in unopened {
            let folder = try moveOut(file)
            if let numbers = file.numbers { leaveOut(numbers) } else { skipNumbers() }
            saveChanges()
            report(.store("\(file.cause); \(file.name) was moved to \(folder); the next start retries it"))
        }
    }

    private func moveOut(_ file: SegmentedLog.Unopened) throws(QueueError) -> String {
        let folder = try Directory.makeSibling(of: path)
        try Directory.replace(folder + "/" + FolderNames.moved, by: path)
        // What is held stays held there.
        if let mark = state.withLock({ $0.heldFrom }) { try HeldMark.write(mark, in: folder) }
        try Directory.move(path + "/" + file.name, to: folder + "/" + file.name)
        return try Directory.finishSibling(folder)
    }
}

extension DirectoryStore.State {
    /// No cursor rests on a number that no sample has.
    mutating func skipErased() {
        for index in places.indices {
            places[index].row.cursor = erased.firstAbsent(from: places[index].row.cursor)
        }
    }
}

extension Bookkeeping.PlaceRow {
    /// Keeps the sums right when numbers are left out of the log that the backend has passed in part.
    mutating func leave(_ numbers: Range<UInt64>, _ erased: SequenceSet) {
        let passed = numbers.clamped(to: start..<max(start, cursor))
        carried += passed.count - erased.count(in: passed)
        if numbers.contains(cursor) { cursor = numbers.upperBound }
    }
}
