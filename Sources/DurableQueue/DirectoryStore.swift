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
            var places = rows.map { Self.place($0, in: log, erased) }
            for index in places.indices {
                let all = try bookkeeping.letters(of: places[index].row.name)
                let letters = all.filter(\.isRetried)
                // Counted anew: a letter whose mark is damaged is one or the other, not both.
                places[index].row.dead = all.count - letters.count
                places[index].retries = letters.compactMap { [logNumber] in Self.record($0, log: logNumber) }
            }
            state = Lock(State(log: log, places: places, erased: erased, heldFrom: HeldMark.read(in: path)))
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
        let file = path + "/bookkeeping.sqlite"
        let isNew = Directory.size(of: file) == nil && !SegmentedLog.isEmpty(path)
        if let bookkeeping = try? Bookkeeping(path: file) { return (bookkeeping, isNew) }
        for ending in ["", "-wal", "-shm"] where Directory.size(of: file + ending) != nil {
            Directory.setAside(file + ending)
        }
        do {
            let bookkeeping = try Bookkeeping(path: file)
            report(
                .store("the bookkeeping in \(path) was damaged; it was set aside, and backends begin with the oldest")
            )
            return (bookkeeping, true)
        } catch {
            throw QueueError(.storeFailed, "cannot open the bookkeeping in \(path): \(error)")
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
        let (rows, spare) = state.withLock { state in
            state.log.sealCurrent()
            return (state.places.map(\.row), state.log.takeSpare())
        }
        doChores()
        spare?.delete()
        save(rows)
        maintain()
        bookkeeping.close()
        lock.withLock { $0 = nil }
    }
}
