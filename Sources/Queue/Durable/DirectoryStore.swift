internal import Dispatch
internal import Instrument

/// A store in one folder that this process has locked: a log of segments with its bookkeeping.
final class DirectoryStore: Sendable {
    let path: String
    let configuration: DurableConfiguration
    let bookkeeping: Bookkeeping
    let logNumber: UInt64
    let report: @Sendable (Diagnostic) -> Void
    let maintenance: DispatchQueue
    /// Drains staged samples. Separate from `maintenance`, which may wait longer for the disk.
    let drainer: DispatchQueue
    let state: OrderedLock<FolderState>
    let lock: OrderedLock<DirectoryLock?>
    let diskWork = DiskWork()
    /// Held while staged records are copied into the log, or the log's head is changed.
    let draining = OrderedLock(.draining, ())
    /// Held while changes are saved, so that they are saved in their order.
    let writing = OrderedLock(.writing, ())
    /// Held while files are synchronized, so that a second synchronization waits for the first one.
    let synchronizing = OrderedLock(.synchronizing, ())
    /// Held while chores are done.
    let chores = OrderedLock(.chores, ())
    /// Held during an erasure, a move of the mark, or a change of dead letters that is no delivery.
    let erasing = OrderedLock(.erasing, ())
    /// Whether this store has released the folder to other processes.
    let isReleased = OrderedLock(.isReleased, false)
    /// Whether some files could not be opened and moved to other folders.
    let hasMovedFilesOut: Bool
    /// Whether the folder is only read. Nothing in it changes.
    let isViewed: Bool

    /// Opens the folder that `lock` owns. Replaces a damaged bookkeeping, which is set aside: every backend then
    /// receives all stored samples again.
    /// - Throws: if a file in the folder cannot be opened or read at the moment. Then nothing is changed or deleted.
    init(
        path: String,
        lock: consuming sending DirectoryLock,
        configuration: DurableConfiguration,
        randomness: RandomSource,
        stagingDirectory: String? = DirectoryStore.stagingDirectory,
        report: @escaping @Sendable (Diagnostic) -> Void
    ) throws(QueueError) {
        self.path = path
        self.configuration = configuration
        self.report = report
        maintenance = DispatchQueue(label: "instrument.durable-queue")
        drainer = DispatchQueue(label: "instrument.durable-queue.drain")
        isViewed = false
        self.lock = OrderedLock(.lock, lock)
        let heldFrom = try HeldMark.read(in: path)
        let mark = try StagingMark.read(in: path)
        let wasSetAside: Bool
        (bookkeeping, wasSetAside) = try Self.openBookkeeping(path, configuration, report)
        let rows: [Bookkeeping.PlaceRow]
        let rowsLeft: [Bookkeeping.PlaceRow]
        var unopened: [SegmentedLog.Unopened] = []
        let isEndKnown: Bool
        do {
            // The headers of segments have a checksum, so that their number has precedence.
            let known = SegmentFiles.logNumber(in: path) ?? mark?.logNumber
            let kept = try bookkeeping.logNumber(orElse: known ?? randomness.next())
            logNumber = known ?? kept
            rows = try bookkeeping.places()
            var absent = try bookkeeping.absent()
            var erased = try bookkeeping.erased(onlyUndone: false)
            erased.formUnion(absent)
            let log = try SegmentedLog(
                directory: path,
                segmentSize: configuration.segmentSize,
                log: logNumber,
                atLeast: Self.firstUnused(rows, erased),
                newest: try BootSession.identifier.map(bookkeeping.newest) ?? [:],
                unopened: &unopened,
                report: { report(.store($0)) }
            )
            let forgottenLeaps = rows.isEmpty ? log.leaps : SequenceSet()
            absent.formUnion(forgottenLeaps)
            erased.formUnion(forgottenLeaps)
            Self.locateSpare(in: &unopened, log, rows, erased)
            // Segments that every backend has passed need not be opened.
            unopened.removeAll { file in
                guard let end = file.numbers?.upperBound else { return false }
                return !rows.isEmpty && rows.allSatisfy { $0.cursor >= end }
            }
            var leaving = rows
            for numbers in unopened.compactMap(\.numbers) {
                for index in leaving.indices { leaving[index].leave(numbers, erased) }
                erased.insert(numbers)
            }
            rowsLeft = leaving
            var places = try BackendPlace.places(leaving, in: log, erased, bookkeeping)
            for index in places.indices { places[index].isChanged = !unopened.isEmpty }
            hasMovedFilesOut = !unopened.isEmpty
            state = OrderedLock(
                .state,
                FolderState(
                    log: log,
                    places: places,
                    erased: erased,
                    absent: absent,
                    heldFrom: heldFrom,
                    carried: try bookkeeping.carriedSums()
                )
            )
            let isEndElsewhere = unopened.contains { $0.numbers == nil || $0.isSpare }
            // Before the file moves: after a kill, the next start must not count its samples as lost.
            if isEndElsewhere { try bookkeeping.setEndOpen(true) }
            isEndKnown = try !isEndElsewhere && !bookkeeping.isEndOpen()
            let refusedCount = try bookkeeping.refusedCount()
            state.withLock { ($0.unsavedAbsent, $0.refusedCount) = (forgottenLeaps, refusedCount) }
        } catch let error as QueueError {
            throw error
        } catch {
            throw QueueError(.storeFailed, "cannot read the bookkeeping in \(path): \(error)")
        }
        // First of all: what is saved from here on says that the samples of these files are elsewhere.
        try moveOut(unopened)
        var left = mark
        if left == nil { left = try foundMark(in: stagingDirectory) }
        if let left { try recover(left, in: stagingDirectory, rowsLeft, isEndKnown: isEndKnown) }
        let hasLostPlaces = state.withLock { state in
            state.hasLostPlaces = rows.isEmpty && !state.log.stretches.isEmpty
            return state.hasLostPlaces
        }
        if hasLostPlaces, !wasSetAside {
            report(.store("the cursors of backends in \(path) are missing; backends begin with the oldest sample"))
        }
        reportLosses(rows)
        // The end of the log's last file is unknown; a spare may be that file.
        if !isEndKnown { skipNumbersBehindOpenEnd() }
        finishErasing()
    }

    /// Finds the numbers of a spare that cannot be opened: a segment that began as a spare has that name until it is
    /// renamed, and later segments may have their names by then. Its samples are those that no other file has.
    private static func locateSpare(
        in unopened: inout [SegmentedLog.Unopened],
        _ log: SegmentedLog,
        _ rows: [Bookkeeping.PlaceRow],
        _ erased: SequenceSet
    ) {
        guard let index = unopened.firstIndex(where: \.isSpare) else { return }
        let others = unopened.compactMap(\.numbers)
        let oldest = rows.map(\.cursor).min() ?? log.startSequence
        let missing = ([oldest..<max(oldest, log.startSequence)] + log.gaps).filter { gap in
            gap.count > erased.count(in: gap) && !others.contains { $0.overlaps(gap) }
        }
        unopened[index].numbers = missing.last
    }

    private static func openBookkeeping(
        _ path: String,
        _ configuration: DurableConfiguration,
        _ report: (Diagnostic) -> Void
    ) throws(QueueError) -> (Bookkeeping, wasSetAside: Bool) {
        let file = path + "/" + FolderNames.bookkeeping
        try Bookkeeping.prepareFiles(file, report: report)
        let isSynchronous = if case .count = configuration.synchronization { true } else { false }
        do { return (try Bookkeeping.opened(path: file, isSynchronous: isSynchronous), false) } catch {
            guard Bookkeeping.isDamage(error) else {
                throw QueueError(.storeFailed, "cannot open the bookkeeping in \(path): \(error)")
            }
        }
        for ending in ["", "-wal", "-shm"] where Directory.size(of: file + ending) != nil {
            Directory.setAside(file + ending)
        }
        do {
            try Bookkeeping.prepareFiles(file, report: report)
            let bookkeeping = try Bookkeeping.opened(path: file, isSynchronous: isSynchronous)
            report(
                .store("the bookkeeping in \(path) was damaged; it was set aside, and backends begin with the oldest")
            )
            return (bookkeeping, true)
        } catch {
            throw QueueError(.storeFailed, "cannot open the bookkeeping in \(path): \(error)")
        }
    }

    /// Opens a folder for reading, without a change. nil, with a diagnostic, if its bookkeeping cannot be read.
    init?(viewing path: String, report: @escaping @Sendable (Diagnostic) -> Void) {
        do {
            let number = SegmentFiles.logNumber(in: path)
            guard let bookkeeping = try Bookkeeping.copy(ofFolder: path) else {
                if number != nil { report(.store("the bookkeeping in \(path) is missing: its samples have no cursor")) }
                return nil
            }
            let rows = try bookkeeping.places()
            logNumber = try number ?? bookkeeping.logNumber(orElse: 0)
            let absent = try bookkeeping.absent()
            var erased = try bookkeeping.erased(onlyUndone: false)
            erased.formUnion(absent)
            let atLeast = Self.firstUnused(rows, erased)
            let log = SegmentedLog(viewing: path, log: logNumber, atLeast: atLeast) { report(.store($0)) }
            let places = try BackendPlace.places(rows, in: log, erased, bookkeeping)
            self.bookkeeping = bookkeeping
            state = OrderedLock(
                .state,
                FolderState(
                    log: log,
                    places: places,
                    erased: erased,
                    absent: absent,
                    heldFrom: nil,
                    carried: try bookkeeping.carriedSums()
                )
            )
        } catch {
            report(.store("the bookkeeping in \(path) cannot be read: \(error)"))
            return nil
        }
        self.path = path
        self.report = report
        configuration = DurableConfiguration()
        maintenance = DispatchQueue(label: "instrument.durable-queue")
        drainer = DispatchQueue(label: "instrument.durable-queue.drain")
        lock = OrderedLock(.lock, nil)
        hasMovedFilesOut = false
        isViewed = true
    }

    /// The smallest sequence number that no sample has had, as the bookkeeping knows it: a sample with the number of a
    /// gap would never be delivered.
    private static func firstUnused(_ rows: [Bookkeeping.PlaceRow], _ erased: SequenceSet) -> UInt64 {
        max(rows.map(\.cursor).max() ?? 0, erased.ranges.last?.upperBound ?? 0)
    }

    /// Work that is repeated until it succeeds.
    enum Work {
        case saving, maintenance, draining, receipts
    }

    /// Reports a failure once, until the work succeeds or fails for another reason.
    func noteFailure(_ failure: String, of work: Work) {
        if state.withLock({ $0.failures.updateValue(failure, forKey: work) != failure }) { report(.store(failure)) }
    }

    func noteSuccess(of work: Work) { state.withLock { $0.failures[work] = nil } }

    /// Reports samples that were found lost at the start. Earlier losses were already reported.
    private func reportLosses(_ before: [Bookkeeping.PlaceRow]) {
        let now = state.withLock { $0.places.map(\.row) }
        for (row, old) in zip(now, before) {
            let lost = (row.drops[.corrupt] ?? 0) - (old.drops[.corrupt] ?? 0)
            if lost > 0 { report(.dropped(BackendName(row.name), count: lost, .corrupt)) }
        }
    }

    /// Seals the head, saves all changes, and releases the folder to other processes.
    func close() {
        write()
        lock.withLock { $0 = nil }
    }

    /// Deletes the folder, which is no longer needed. Returns false if it stays, because it contains other files.
    func closeAndRemove() -> Bool {
        write()
        return lock.withLock { lock in
            guard let held = lock.take() else { return true }
            return held.removeFolder()
        }
    }

    private func write() {
        draining.withLock { _ in
            do throws(QueueError) {
                try drainLocked()
                sealHead()
                isReleased.withLock { $0 = true }
                let area = state.withLock { $0.staging.take() }?.area
                if area != nil { StagingMark.remove(in: path) }
                area?.delete()
            } catch {
                // Staged samples stay in the staging area, for the next start.
                isReleased.withLock { $0 = true }
                report(.store("\(error)"))
            }
        }
        // Waits for a thread that is creating a spare segment.
        doChores()
        state.withLock { $0.log.takeSpare() }?.delete()
        _ = saveChangesRetrying()
        do throws(QueueError) { try synchronizeWritten() } catch { report(.store("\(error)")) }
        bookkeeping.close()
    }

    /// Releases the folder without closing it. Copies staged samples first, if the disk accepts them. Waits for work
    /// that changes files: from here on another store may change them.
    func letGo() {
        chores.withLock { _ in
            draining.withLock { _ in
                if isReleased.withLock({ $0 }) { return }
                do throws(QueueError) { try drainLocked() } catch { report(.store("\(error)")) }
                isReleased.withLock { $0 = true }
                // Samples that could not be copied stay in the staging area, for the next start.
                let staging = state.withLock { $0.staging.take() }
                if let staging, staging.isEmpty {
                    StagingMark.remove(in: path)
                    staging.area.delete()
                }
            }
            writing.withLock { _ in state.withLock { $0.isLetGo = true } }
        }
        // The next owner must not meet files that this connection still changes.
        bookkeeping.close()
        lock.withLock { $0 = nil }
    }
}
