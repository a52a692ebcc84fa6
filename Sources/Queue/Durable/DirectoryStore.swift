internal import Dispatch
internal import Instrument

/// A store in one folder that this process has locked: a log of segments with its bookkeeping.
final class DirectoryStore: Sendable {
    /// A backend's place. The bookkeeping saves it a moment later.
    struct Place {
        var row: Bookkeeping.PlaceRow
        var position: SegmentedLog.Position
        /// The samples that were read and not settled, each with the position after it.
        var readAhead: [ReadRecord] = []
        /// Dead letters to retry. They come first, in separate batches.
        var retries: [SampleRecord] = []
        /// The numbers of the leased retries; nil while no retry is leased.
        var leasedRetries: [UInt64]?
        /// Counts the changes that make a concurrent read outdated.
        var version = 0
        /// Whether the place has unsaved changes, and the unsaved dead letters.
        var isChanged = false
        var newLetters: [Bookkeeping.LetterRow] = []
        var goneLetters: [UInt64] = []
        /// The saved cursor.
        var savedCursor: UInt64

        /// Whether samples of the log are leased.
        var isLogLeased: Bool { row.leaseEnd > row.cursor }

        init(row: Bookkeeping.PlaceRow, position: SegmentedLog.Position, savedCursor: UInt64? = nil) {
            self.row = row
            self.position = position
            self.savedCursor = savedCursor ?? row.cursor
        }

        /// Deletes letters, also those that are not saved yet.
        mutating func removeLetters(_ sequences: Set<UInt64>) {
            if sequences.isEmpty { return }
            newLetters.removeAll { sequences.contains($0.sequence) }
            goneLetters += sequences.sorted()
        }
    }

    struct State: ~Copyable {
        var log: SegmentedLog
        /// The samples that were appended and not copied into the log; nil while this store is only read.
        var staging: Staging?
        /// The sequence number after the last appended sample.
        var nextSequence: UInt64
        /// The sequence number after the last sample that survives a loss of power.
        var synchronizedEnd: UInt64 = 0
        var places: [Place] = []
        var isSynchronizationDue = false
        var unsynchronized = 0
        var needsMaintenance = false
        var areChoresDue = false
        var isDrainScheduled = false
        /// Whether a drain has been scheduled that has not begun.
        var isDrainQueued = false
        /// Whether a retry of a drain that failed is scheduled.
        var isDrainRetryQueued = false
        /// The clock by which a drain that failed is retried.
        var retryClock: any SchedulingClock = SystemClock()
        /// Whether a search for deleted files is scheduled.
        var isRestoringQueued = false
        /// Whether the disk has not responded in time.
        var isStalled = false
        var drainFailures = 0
        var drainFailure: QueueError?
        /// The end of the dropped samples.
        var droppedEnd: UInt64 = 0
        /// Erased samples that are still in the segments, and sequence numbers without samples.
        var erased = SequenceSet()
        /// Sequence numbers without samples.
        var absent = SequenceSet()
        /// The absent numbers, the erased samples and the forgotten backends that the bookkeeping does not have yet.
        var unsavedAbsent = SequenceSet()
        var unsavedErased = SequenceSet()
        var unsavedForgotten: Set<String> = []
        /// The first held sample.
        var heldFrom: UInt64?
        /// The sums of deleted logs, by backend.
        var carried: [String: Bookkeeping.CarriedSum]
        /// The number of refused samples that the places have counted.
        var refusedCount = 0
        /// Whether the folder was released without being closed: work that was scheduled before changes no file.
        var isLetGo = false
        /// The failures that were reported and have not ended.
        var failures: [Work: String] = [:]
        /// Whether the log has samples but no place: then the places were lost, and backends begin with the oldest
        /// sample.
        var hasLostPlaces = false

        init(
            log: consuming SegmentedLog,
            places: [Place],
            erased: SequenceSet,
            absent: SequenceSet,
            heldFrom: UInt64?,
            carried: [String: Bookkeeping.CarriedSum]
        ) {
            self.carried = carried
            nextSequence = log.nextSequence
            self.log = log
            self.places = places
            self.erased = erased
            self.absent = absent
            self.heldFrom = heldFrom
        }

        /// The sequence numbers that a backend has not passed.
        func waiting(_ row: Bookkeeping.PlaceRow) -> Range<UInt64> { row.cursor..<max(row.cursor, nextSequence) }

        /// The number of samples in a range of sequence numbers, including samples that were deleted after delivery.
        func count(_ range: Range<UInt64>) -> Int { range.count - erased.count(in: range) }
    }

    let path: String
    let configuration: DurableConfiguration
    let bookkeeping: Bookkeeping
    let logNumber: UInt64
    let report: @Sendable (Diagnostic) -> Void
    let maintenance: DispatchQueue
    /// Drains staged samples. Separate from `maintenance`, which may wait longer for the disk.
    let drainer: DispatchQueue
    let state: OrderedLock<State>
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
            var places = try Self.places(leaving, in: log, erased, bookkeeping)
            for index in places.indices { places[index].isChanged = !unopened.isEmpty }
            hasMovedFilesOut = !unopened.isEmpty
            state = OrderedLock(
                .state,
                State(
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
            let places = try Self.places(rows, in: log, erased, bookkeeping)
            self.bookkeeping = bookkeeping
            state = OrderedLock(
                .state,
                State(
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

    static func places(
        _ rows: [Bookkeeping.PlaceRow],
        in log: SegmentedLog,
        _ erased: SequenceSet,
        _ bookkeeping: Bookkeeping
    ) throws -> [Place] {
        let number = log.log
        return try rows.map { row in
            var place = place(row, in: log, erased)
            let all = try bookkeeping.letters(of: row.name)
            let letters = all.filter(\.isRetried)
            // Counted again, because a letter with a damaged mark is either dead or retried, not both.
            place.row.dead = all.count - letters.count
            // A letter whose row was damaged is lost, and the ledger says so.
            let lost = row.dead - all.count
            if lost > 0 { place.row.drops[.corrupt, default: 0] += lost }
            place.retries = letters.compactMap { record($0, log: number) }
            return place
        }
    }

    static func place(_ row: Bookkeeping.PlaceRow, in log: SegmentedLog, _ erased: SequenceSet) -> Place {
        var row = row
        // Samples that are missing at the beginning of the log were passed by every backend, or are lost.
        if row.cursor < log.startSequence {
            let gone = row.cursor..<log.startSequence
            let lost = gone.count - erased.count(in: gone)
            if lost > 0 { row.drops[.corrupt, default: 0] += lost }
            row.cursor = log.startSequence
        }
        return Place(row: row, position: log.position(of: row.cursor))
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
