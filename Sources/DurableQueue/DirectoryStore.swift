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
        /// Dead letters that somebody wants to be tried again; they go first, in batches of their own.
        var retries: [SampleRecord] = []
        var isServingRetries = false
        /// Counts what would make a read that is under way outdated.
        var version = 0
    }

    struct State: ~Copyable {
        var log: SegmentedLog
        var places: [Place] = []
        var isSynchronizationDue = false
        var unsynchronized = 0
        var needsMaintenance = false
        var areChoresDue = false
        /// What was erased and would still be there.
        var erased = SequenceSet()
        /// From where on samples are held.
        var heldFrom: UInt64?
        /// What counts here of logs that are gone, by backend.
        var carried: [String: Bookkeeping.CarriedSum] = [:]

        /// How many samples of a range of numbers there are, or were before somebody passed them.
        func count(_ range: Range<UInt64>) -> Int { range.count - erased.count(in: range) }
    }

    let path: String
    let configuration: DurableConfiguration
    let bookkeeping: Bookkeeping
    let logNumber: UInt64
    let report: @Sendable (Diagnostic) -> Void
    let maintenance: DispatchQueue
    let state: Lock<State>
    let lock: Lock<DirectoryLock?>
    /// Held while chores are done.
    let chores = Lock(())
    /// Held while something is erased or a mark is moved, one at a time.
    let erasing = Lock(())

    /// Opens the directory, which `lock` says is ours. A bookkeeping that cannot be opened is set aside and begun anew: every
    /// backend then gets what is still there once more.
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
        let (bookkeeping, isNew) = try Self.openBookkeeping(path, report)
        self.bookkeeping = bookkeeping
        let rows: [Bookkeeping.PlaceRow]
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
                newest: try BootSession.identifier.map(bookkeeping.newest) ?? [:]
            )
            let erased = try bookkeeping.erased(onlyUndone: false)
            let places = try Self.places(rows, in: log, erased, bookkeeping)
            state = Lock(
                State(
                    log: log,
                    places: places,
                    erased: erased,
                    heldFrom: HeldMark.read(in: path),
                    carried: try bookkeeping.carriedSums()
                )
            )
        } catch let error as QueueError {
            throw error
        } catch {
            throw QueueError(.storeFailed, "cannot read the bookkeeping in \(path): \(error)")
        }
        maintenance = DispatchQueue(label: "instrument.durable-queue")
        self.lock = Lock(lock)
        isBookkeepingNew = isNew
        reportLosses(rows)
        finishErasing()
    }

    /// Whether the places were lost, so that backends have to begin with the oldest.
    let isBookkeepingNew: Bool

    private static func openBookkeeping(
        _ path: String,
        _ report: (Diagnostic) -> Void
    ) throws(QueueError) -> (Bookkeeping, isNew: Bool) {
        let file = path + "/" + FolderNames.bookkeeping
        try Bookkeeping.prepareFiles(file, report: report)
        // A crash may leave it empty.
        let isNew = (Directory.size(of: file) ?? 0) == 0 && !SegmentedLog.isEmpty(path)
        if let bookkeeping = try? Bookkeeping(path: file) { return (bookkeeping, isNew) }
        for ending in ["", "-wal", "-shm"] where Directory.size(of: file + ending) != nil {
            Directory.setAside(file + ending)
        }
        do {
            try Bookkeeping.prepareFiles(file, report: report)
            let bookkeeping = try Bookkeeping(path: file)
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
                if number != nil { report(.store("the bookkeeping in \(path) is missing: its samples have no place")) }
                return nil
            }
            let rows = try bookkeeping.places()
            logNumber = try number ?? bookkeeping.logNumber(orElse: 0)
            let atLeast = rows.map(\.cursor).max() ?? 0
            let log = SegmentedLog(viewing: path, log: logNumber, atLeast: atLeast) { report(.store($0)) }
            let erased = try bookkeeping.erased(onlyUndone: false)
            let places = try Self.places(rows, in: log, erased, bookkeeping)
            self.bookkeeping = bookkeeping
            state = Lock(State(log: log, places: places, erased: erased, carried: try bookkeeping.carriedSums()))
        } catch {
            report(.store("the bookkeeping in \(path) cannot be read: \(error)"))
            return nil
        }
        self.path = path
        self.report = report
        configuration = DurableConfiguration()
        maintenance = DispatchQueue(label: "instrument.durable-queue")
        lock = Lock(nil)
        isBookkeepingNew = false
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
            // Counted anew: a letter whose mark is damaged is one or the other, not both.
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
        let rows = state.withLock { state in
            state.log.sealCurrent()
            return state.places.map(\.row)
        }
        // Waits for whoever makes a spare at this moment.
        doChores()
        state.withLock { $0.log.takeSpare() }?.delete()
        save(rows)
        maintain()
        bookkeeping.close()
    }
}
