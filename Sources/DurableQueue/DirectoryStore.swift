internal import Dispatch
internal import Instrument

/// A store in one directory that this process has locked: a log of segments, and the bookkeeping beside it.
final class DirectoryStore: Sendable {
    /// A backend's place. The bookkeeping has the same, a moment later.
    struct Place {
        var row: Bookkeeping.PlaceRow
        var position: SegmentedLog.Position
        /// What was read and not settled yet, each with the position behind it.
        var readAhead: [ReadRecord] = []
        /// Dead letters that are to be retried; they go first, in separate batches.
        var retries: [SampleRecord] = []
        var isServingRetries = false
        /// Counts what would make a read that is under way outdated.
        var version = 0
        /// Whether the bookkeeping does not have all of this yet, and the dead letters that it does not have.
        var isChanged = false
        var newLetters: [Bookkeeping.LetterRow] = []
        var goneLetters: [UInt64] = []
        /// The cursor that the bookkeeping has.
        var savedCursor: UInt64

        init(row: Bookkeeping.PlaceRow, position: SegmentedLog.Position, savedCursor: UInt64? = nil) {
            self.row = row
            self.position = position
            self.savedCursor = savedCursor ?? row.cursor
        }
    }

    struct State: ~Copyable {
        var log: SegmentedLog
        /// What was appended and is not in the log yet; nil as long as this store is only read.
        var staging: Staging?
        /// The number behind the last sample that was appended.
        var nextSequence: UInt64
        /// The number after the last sample that is known to survive a loss of power.
        var synchronizedEnd: UInt64 = 0
        var places: [Place] = []
        var isSynchronizationDue = false
        var unsynchronized = 0
        var needsMaintenance = false
        var areChoresDue = false
        var isDrainScheduled = false
        /// The disk has not answered for a while.
        var isStalled = false
        var drainFailures = 0
        var drainFailure: QueueError?
        /// Up to where samples were dropped.
        var droppedEnd: UInt64 = 0
        /// What was erased and would still be there, and numbers that no sample has.
        var erased = SequenceSet()
        /// Numbers that no sample has.
        var absent = SequenceSet()
        /// From where on samples are held.
        var heldFrom: UInt64?
        /// What counts here of logs that are gone, by backend.
        var carried: [String: Bookkeeping.CarriedSum]

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

        /// How many samples of a range of numbers there are, or were before somebody passed them.
        func count(_ range: Range<UInt64>) -> Int { range.count - erased.count(in: range) }
    }

    let path: String
    let configuration: DurableConfiguration
    let bookkeeping: Bookkeeping
    let logNumber: UInt64
    let report: @Sendable (Diagnostic) -> Void
    let maintenance: DispatchQueue
    /// Drains what is staged. Apart from `maintenance`, which may wait for the disk for longer.
    let drainer: DispatchQueue
    let state: Lock<State>
    let lock: Lock<DirectoryLock?>
    let diskWork = DiskWork()
    /// Held while staged records are copied into the log, or the log's head is changed.
    let draining = Lock(())
    /// Held while the bookkeeping is written to, so that what changed later is written later.
    let writing = Lock(())
    /// Held while files are synchronized, so that nobody believes that what is under way is done.
    let synchronizing = Lock(())
    /// Held while chores are done.
    let chores = Lock(())
    /// Held while something is erased or a mark is moved, one at a time.
    let erasing = Lock(())
    /// Whether another process may have the directory by now.
    let isReleased = Lock(false)
    /// Whether there are samples and no place at all: then places were lost, and backends begin with the oldest.
    let hasLostPlaces: Bool
    /// Whether the folder is only looked at: nothing in it changes.
    let isViewed: Bool

    /// Opens the directory, which `lock` says is ours. A bookkeeping that is damaged is set aside and begun again: every
    /// backend then gets what is still there once more.
    /// - Throws: if something in it cannot be opened or read at the moment: nothing of it is changed or deleted then.
    init(
        path: String,
        lock: consuming sending DirectoryLock,
        configuration: DurableConfiguration,
        randomness: RandomSource,
        report: @escaping @Sendable (Diagnostic) -> Void
    ) throws(QueueError) {
        self.path = path
        self.configuration = configuration
        self.report = report
        maintenance = DispatchQueue(label: "instrument.durable-queue")
        drainer = DispatchQueue(label: "instrument.durable-queue.drain")
        isViewed = false
        self.lock = Lock(lock)
        let heldFrom = try HeldMark.read(in: path)
        let staged = try StagingMark.read(in: path)
        let wasSetAside: Bool
        (bookkeeping, wasSetAside) = try Self.openBookkeeping(path, configuration, report)
        let rows: [Bookkeeping.PlaceRow]
        var unopened: [SegmentedLog.Unopened] = []
        do {
            // Segments' headers have a checksum, so that theirs counts.
            let known = SegmentedLog.number(in: path)
            let kept = try bookkeeping.logNumber(orElse: known ?? randomness.next())
            logNumber = known ?? kept
            rows = try bookkeeping.places()
            let log = try SegmentedLog(
                directory: path,
                segmentSize: configuration.segmentSize,
                log: logNumber,
                atLeast: rows.map(\.cursor).max() ?? 0,
                newest: try BootSession.identifier.map(bookkeeping.newest) ?? [:],
                unopened: &unopened,
                report: { report(.store($0)) }
            )
            let absent = try bookkeeping.absent()
            var erased = try bookkeeping.erased(onlyUndone: false)
            erased.formUnion(absent)
            // What every backend is past need not be opened.
            unopened.removeAll { file in
                guard let end = file.numbers?.upperBound else { return false }
                return !rows.isEmpty && rows.allSatisfy { $0.cursor >= end }
            }
            var left = rows
            for numbers in unopened.compactMap(\.numbers) {
                for index in left.indices { left[index].leave(numbers, erased) }
                erased.insert(numbers)
            }
            var places = try Self.places(left, in: log, erased, bookkeeping)
            for index in places.indices { places[index].isChanged = !unopened.isEmpty }
            hasLostPlaces = rows.isEmpty && !log.stretches.isEmpty
            state = Lock(
                State(
                    log: log,
                    places: places,
                    erased: erased,
                    absent: absent,
                    heldFrom: heldFrom,
                    carried: try bookkeeping.carriedSums()
                )
            )
        } catch let error as QueueError {
            throw error
        } catch {
            throw QueueError(.storeFailed, "cannot read the bookkeeping in \(path): \(error)")
        }
        if hasLostPlaces, !wasSetAside {
            report(.store("the cursors of backends in \(path) are missing; backends begin with the oldest sample"))
        }
        reportLosses(rows)
        if let staged { try recover(staged) }
        try moveOut(unopened)
        finishErasing()
    }

    private static func openBookkeeping(
        _ path: String,
        _ configuration: DurableConfiguration,
        _ report: (Diagnostic) -> Void
    ) throws(QueueError) -> (Bookkeeping, wasSetAside: Bool) {
        let file = path + "/" + FolderNames.bookkeeping
        try Bookkeeping.prepareFiles(file, report: report)
        let isSynchronous = if case .count = configuration.synchronization { true } else { false }
        do { return (try Bookkeeping(path: file, isSynchronous: isSynchronous), false) } catch {
            guard Bookkeeping.isDamage(error) else {
                throw QueueError(.storeFailed, "cannot open the bookkeeping in \(path): \(error)")
            }
        }
        for ending in ["", "-wal", "-shm"] where Directory.size(of: file + ending) != nil {
            Directory.setAside(file + ending)
        }
        do {
            try Bookkeeping.prepareFiles(file, report: report)
            let bookkeeping = try Bookkeeping(path: file, isSynchronous: isSynchronous)
            report(
                .store("the bookkeeping in \(path) was damaged; it was set aside, and backends begin with the oldest")
            )
            return (bookkeeping, true)
        } catch {
            throw QueueError(.storeFailed, "cannot open the bookkeeping in \(path): \(error)")
        }
    }

    /// Opens a folder to be looked at; nothing in it changes. nil if its bookkeeping cannot be read, which is reported.
    init?(viewing path: String, report: @escaping @Sendable (Diagnostic) -> Void) {
        do {
            let number = SegmentedLog.number(in: path)
            guard let bookkeeping = try Bookkeeping.copy(ofFolder: path) else {
                if number != nil { report(.store("the bookkeeping in \(path) is missing: its samples have no cursor")) }
                return nil
            }
            let rows = try bookkeeping.places()
            logNumber = try number ?? bookkeeping.logNumber(orElse: 0)
            let atLeast = rows.map(\.cursor).max() ?? 0
            let log = SegmentedLog(viewing: path, log: logNumber, atLeast: atLeast) { report(.store($0)) }
            let absent = try bookkeeping.absent()
            var erased = try bookkeeping.erased(onlyUndone: false)
            erased.formUnion(absent)
            let places = try Self.places(rows, in: log, erased, bookkeeping)
            self.bookkeeping = bookkeeping
            state = Lock(
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
        lock = Lock(nil)
        hasLostPlaces = false
        isViewed = true
    }

    private static func places(
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
            // Counted again: a letter whose mark is damaged is one or the other, not both.
            place.row.dead = all.count - letters.count
            place.retries = letters.compactMap { record($0, log: number) }
            return place
        }
    }

    static func place(_ row: Bookkeeping.PlaceRow, in log: SegmentedLog, _ erased: SequenceSet) -> Place {
        var row = row
        // What is gone from the log's beginning was past everybody, or is lost.
        if row.cursor < log.startSequence {
            let gone = row.cursor..<log.startSequence
            let lost = gone.count - erased.count(in: gone)
            if lost > 0 { row.drops[.corrupt, default: 0] += lost }
            row.cursor = log.startSequence
        }
        return Place(row: row, position: log.position(of: row.cursor))
    }

    /// Says what was found lost at the beginning; what was lost before has been said.
    private func reportLosses(_ before: [Bookkeeping.PlaceRow]) {
        let now = state.withLock { $0.places.map(\.row) }
        for (row, old) in zip(now, before) {
            let lost = (row.drops[.corrupt] ?? 0) - (old.drops[.corrupt] ?? 0)
            if lost > 0 { report(.dropped(BackendName(row.name), count: lost, .corrupt)) }
        }
    }

    /// Ends the current segment and writes everything down; the directory may be locked by others afterwards.
    func close() {
        write()
        lock.withLock { $0 = nil }
    }

    /// Deletes the folder, which nobody needs any more; false if it stays, because it holds something else, too.
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
                // What is staged stays there, for the next start.
                isReleased.withLock { $0 = true }
                report(.store("\(error)"))
            }
        }
        // Waits for whoever makes a spare at this moment.
        doChores()
        state.withLock { $0.log.takeSpare() }?.delete()
        saveChanges()
        do throws(QueueError) { try synchronizeWritten() } catch { report(.store("\(error)")) }
        bookkeeping.close()
    }

    /// Lets the directory go without closing it; what is staged is copied first, if the disk takes it.
    func letGo() {
        draining.withLock { _ in
            if isReleased.withLock({ $0 }) { return }
            do throws(QueueError) { try drainLocked() } catch { report(.store("\(error)")) }
            isReleased.withLock { $0 = true }
            // What could not be copied stays there for the next start.
            let staging = state.withLock { $0.staging.take() }
            if let staging, staging.isEmpty {
                StagingMark.remove(in: path)
                staging.area.delete()
            }
        }
        lock.withLock { $0 = nil }
    }
}
