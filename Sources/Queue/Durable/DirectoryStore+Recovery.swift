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
        let name = "instrument-queue-" + randomness.identifier()
        var area: StagingArea?
        if let directory = stagingDirectory {
            area = (try? FileIdentity(of: path)).flatMap {
                StagingArea.make(in: directory, name: name, halfSize: size, log: logNumber, folder: $0)
            }
            if area == nil {
                report(.store("cannot create a file of \(2 * size) bytes in \(directory): emit may wait for the disk"))
            }
        }
        let made = if let area { area } else { try StagingArea.inProcess(halfSize: size) }
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
    func recover(_ path: String) throws(QueueError) {
        let area = try staged(at: path)
        var areas = area.map { [$0] } ?? []
        for sibling in path.isEmpty ? [] : try StagingArea.siblings(of: path) {
            if let large = try staged(at: sibling) { areas.append(large) }
        }
        try takeOver(areas)
        if let area {
            let next = max(area.nextSequence, state.withLock { $0.log.nextSequence })
            skipNumbers(to: min(next, FolderNames.maxNumber))
        } else {
            if !path.isEmpty {
                report(
                    .store("\(path) is missing: samples of the last moments before a loss of power, if any, are lost")
                )
            }
            skipNumbers()
        }
        try keepGaps()
        // Only now every staged sample is in the log, and every gap in the bookkeeping.
        StagingMark.remove(in: self.path)
        for area in areas { area.delete() }
    }

    /// Makes sure that the skipped sequence numbers are saved, because the next start would count them as lost samples.
    /// - Throws: if they cannot be saved; the next start recovers the same samples and skips the same numbers.
    private func keepGaps() throws(QueueError) {
        if state.withLock({ $0.unsavedAbsent.isEmpty }) || saveChangesRetrying() { return }
        throw QueueError(.storeFailed, "cannot save the gaps between samples in \(path)")
    }

    /// The staging file of an earlier process; nil if it is missing.
    private func staged(at path: String) throws(QueueError) -> StagingArea? {
        if path.isEmpty { return nil }
        let identity = try FileIdentity(of: self.path)
        do throws(StagingArea.Absence) {
            return try StagingArea.open(leftAt: path, log: logNumber, folder: identity)
        } catch {
            switch error {
            case .missing: return nil
            case .unreadable(let cause): throw cause
            }
        }
    }

    private func takeOver(_ areas: [StagingArea]) throws(QueueError) {
        if areas.isEmpty { return }
        leaveCutSegment()
        let first = state.withLock { $0.log.nextSequence }
        let records = areas.flatMap { $0.records(from: first) }.sorted { $0.sequence < $1.sequence }
        for record in records {
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

    func skipNumbers() {
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
        for numbers in unopened.compactMap(\.numbers) { leaveOut(numbers) }
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

extension DirectoryStore.State {
    /// Moves cursors past sequence numbers without samples.
    mutating func skipErased() {
        for index in places.indices {
            places[index].row.cursor = nextPresent(from: places[index].row.cursor)
        }
    }

    /// The first number from `number` on that is not erased. Withdrawn samples that are not in the log yet have numbers
    /// behind its end: a cursor waits for them at the end.
    func nextPresent(from number: UInt64) -> UInt64 {
        min(erased.firstAbsent(from: number), max(number, log.nextSequence))
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
