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
    private let configuration: DurableConfiguration
    let bookkeeping: Bookkeeping
    let logNumber: UInt64
    let report: @Sendable (Diagnostic) -> Void
    private let maintenance: DispatchQueue
    let state: Lock<State>
    private let lock: Lock<DirectoryLock?>
    /// Held while chores are done.
    private let chores = Lock(())
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
            logNumber = try bookkeeping.logNumber(orElse: SegmentedLog.number(in: path) ?? randomness.next())
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
                let letters = try bookkeeping.letters(of: places[index].row.name).filter(\.isRetried)
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

    private static func place(_ row: Bookkeeping.PlaceRow, in log: SegmentedLog, _ erased: SequenceSet) -> Place {
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

    // MARK: The path of emit

    func append(_ samples: [Sample]) throws(QueueError) -> Int {
        let (size, isMaintenanceDue, areChoresDue) = try state.withLock {
            (state: inout State) throws(QueueError) -> (Int, Bool, Bool) in
            if state.places.isEmpty { return (0, false, false) }
            dropOld(samples.last?.time.instant, in: &state)
            try refuseIfFull(&state, samples)
            let size = try state.log.append(samples)
            if exceeds(state.log, count: 0) { makeRoom(in: &state) }
            let areChoresNew = !state.areChoresDue && state.log.needsChores
            if areChoresNew { state.areChoresDue = true }
            return (size, state.needsMaintenance || isSynchronizationDue(&state, samples.count), areChoresNew)
        }
        if isMaintenanceDue { scheduleMaintenance() }
        if areChoresDue { maintenance.async { [weak self] in self?.doChores() } }
        return size
    }

    private func refuseIfFull(_ state: inout State, _ samples: [Sample]) throws(QueueError) {
        guard configuration.limits.whenFull == .refuseNew, exceeds(state.log, count: samples.count) else { return }
        for index in state.places.indices {
            state.places[index].row.drops[.refused, default: 0] += samples.count
        }
        throw QueueError(.full, "the queue in \(path) is at its limit; deliver what is in it, or raise the limit")
    }

    private func exceeds(_ log: SegmentedLog, count: Int) -> Bool {
        let limits = configuration.limits
        return Int(log.nextSequence - log.startSequence) + count > limits.maxCount || log.bytes > limits.maxBytes
    }

    /// Moves everybody past the oldest segment, until what is kept is within the limits.
    private func makeRoom(in state: inout State) {
        guard let oldest = state.log.stretches.first, state.log.stretches.count > 1 else { return }
        let reason: DropReason = state.log.bytes > configuration.limits.maxBytes ? .bytes : .count
        drop(before: oldest.endSequence, reason, in: &state)
    }

    /// Moves everybody past the segments that hold nothing younger than `maxAge`, by the samples' own instants.
    private func dropOld(_ now: MonotonicInstant?, in state: inout State) {
        guard let maxAge = configuration.limits.maxAge, let now else { return }
        let cutoff = now.advanced(by: .zero - maxAge)
        state.log.prepareForAge(now: now, cutoff: cutoff)
        let old = state.log.sealedStretches.prefix { $0.newest.map { $0 < cutoff } ?? false }
        if let last = old.last { drop(before: last.endSequence, .age, in: &state) }
    }

    private func drop(before end: UInt64, _ reason: DropReason, in state: inout State) {
        for index in state.places.indices where state.places[index].row.cursor < end {
            let count = state.count(state.places[index].row.cursor..<end)
            if count > 0 { state.places[index].row.drops[reason, default: 0] += count }
            state.places[index].row.cursor = end
            state.places[index].position = state.log.position(of: end)
            // What was read and lies behind may be on its way: it will be settled.
            state.places[index].readAhead.removeAll { $0.record.sequence < end }
            state.places[index].version += 1
        }
        state.needsMaintenance = true
    }

    /// Whether a sync has to be set off for what was just written; once for all that comes until then.
    private func isSynchronizationDue(_ state: inout State, _ count: Int) -> Bool {
        state.unsynchronized += count
        guard !state.isSynchronizationDue else { return false }
        switch configuration.synchronization {
        case .never: return false
        case .interval: state.isSynchronizationDue = true
        case .count(let limit): state.isSynchronizationDue = state.unsynchronized >= limit
        }
        return state.isSynchronizationDue
    }

    // MARK: Maintenance, on a queue of its own

    private func scheduleMaintenance() {
        switch configuration.synchronization {
        case .interval(let interval):
            maintenance.asyncAfter(deadline: .now() + .nanoseconds(Int(interval.nanoseconds))) { [weak self] in
                self?.maintain()
            }
        default: maintenance.async { [weak self] in self?.maintain() }
        }
    }

    private func maintain() {
        let (segments, rows) = state.withLock { state -> ([Segment], [Bookkeeping.PlaceRow]) in
            let segments = state.log.unsynchronizedSegments()
            defer { (state.isSynchronizationDue, state.unsynchronized, state.needsMaintenance) = (false, 0, false) }
            return (segments, state.needsMaintenance ? state.places.map(\.row) : [])
        }
        if configuration.synchronization != .never {
            for segment in segments where !segment.synchronize() {
                report(.store("cannot synchronize \(segment.path)"))
            }
        }
        if !rows.isEmpty { save(rows) }
    }

    /// Names, cuts and makes files, so that whoever appends does not wait for the disk.
    func doChores() {
        chores.withLock { _ in
            let (chores, missing) = state.withLock { state in
                state.areChoresDue = false
                return (state.log.takeChores(), state.log.missingSpare)
            }
            for chore in chores { perform(chore) }
            if !chores.isEmpty { noteAges() }
            if let missing { makeSpare(of: missing) }
        }
    }

    /// Writes down how old segments are, for the next run of this boot.
    private func noteAges() {
        guard configuration.limits.maxAge != nil, let boot = BootSession.identifier else { return }
        let newest = state.withLock { state in
            state.log.sealedStretches.compactMap { stretch in
                stretch.newest.map { (stretch.segment.first, $0) }
            }
        }
        try? bookkeeping.save(newest: newest, boot: boot)
    }

    private func perform(_ chore: SegmentedLog.Chore) {
        switch chore {
        case .cut(let segment, let end): segment.cut(to: end)
        case .name(let segment):
            do throws(QueueError) {
                try segment.move(to: state.withLock { $0.log.path(of: segment.first) })
            } catch {
                // It may be deleted already. If not, the next start names it.
                if Directory.size(of: segment.path) != nil { report(.store("\(error)")) }
            }
        }
    }

    /// If there is no room for a spare, whoever needs the next segment will be told.
    private func makeSpare(of size: Int) {
        guard let spare = try? Segment(creating: state.withLock { $0.log.sparePath }, capacity: size) else { return }
        spare.touch()
        state.withLock { $0.log.keep(spare: spare) }
    }

    func save(_ rows: [Bookkeeping.PlaceRow]) {
        do {
            for row in rows { try bookkeeping.save(row) }
            trim()
        } catch {
            report(.store("cannot keep the places of backends: \(error)"))
        }
    }

    /// Deletes segments that every backend is past; only after the bookkeeping says so, too.
    func trim() {
        let (segments, start) = state.withLock { state -> ([Segment], UInt64?) in
            let segments = state.log.trim(to: state.places.map(\.row.cursor).min() ?? state.log.nextSequence)
            if segments.isEmpty || state.erased.isEmpty { return (segments, nil) }
            state.erased.removeAll(below: state.log.startSequence)
            return (segments, state.log.startSequence)
        }
        for segment in segments { segment.delete() }
        if let start { try? bookkeeping.forgetErased(below: start) }
    }

    // MARK: The lanes' side

    func attach(_ backend: BackendName, atOldest: Bool) {
        let row = state.withLock { state -> Bookkeeping.PlaceRow? in
            if state.places.contains(where: { $0.row.name == backend.description }) { return nil }
            let start = atOldest ? state.log.startSequence : state.log.nextSequence
            let row = Bookkeeping.PlaceRow(
                name: backend.description,
                start: start,
                cursor: start,
                acknowledged: 0,
                dead: 0,
                drops: [:]
            )
            state.places.append(Place(row: row, position: state.log.position(of: start)))
            return row
        }
        if let row { save([row]) }
    }

    func forget(_ backend: BackendName) {
        state.withLock { $0.places.removeAll { $0.row.name == backend.description } }
        do {
            try bookkeeping.remove(backend.description)
            trim()
        } catch {
            report(.store("cannot forget \(backend): \(error)"))
        }
    }

    func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] {
        while true {
            guard maxCount > 0, let found = reading(for: backend, maxCount: maxCount) else { return [] }
            if !found.retries.isEmpty { return found.retries }
            // Decoded outside the lock, so that no emit waits for it: what is before a stretch's end never changes.
            let read = found.read(maxCount: maxCount, maxBytes: maxBytes, log: logNumber)
            if read.isEmpty {
                skipDamaged(backend, found)
                return []
            }
            // If not, somebody dropped or erased meanwhile: what was read may not be there any more.
            if lease(read, found, to: backend) { return read.map(\.record) }
        }
    }

    /// What waits for a backend, to be looked at: nothing is noted.
    func queued(for backend: BackendName) -> some Sequence<[SampleRecord]> {
        let retries = state.withLock { state in
            state.places.first { $0.row.name == backend.description }?.retries ?? []
        }
        let start = reading(for: backend, maxCount: 0, isLeased: false)
        let pages = sequence(state: start) { [logNumber] (reading: inout Reading?) -> [SampleRecord]? in
            guard let current = reading else { return nil }
            let read = current.read(maxCount: 1000, maxBytes: .max, log: logNumber)
            reading = read.last.map { current.continued(behind: $0) }
            return read.isEmpty ? nil : read.map(\.record)
        }
        return [AnySequence(retries.isEmpty ? [] : [retries]), AnySequence(pages)].joined()
    }

    /// Notes what is given, so that it comes again as it is; false if it is outdated.
    private func lease(_ read: [ReadRecord], _ reading: Reading, to backend: BackendName) -> Bool {
        guard let last = read.last?.record.sequence else { return false }
        let (isCurrent, news) = state.withLock { state -> (Bool, Bookkeeping.PlaceRow?) in
            guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }),
                state.places[index].version == reading.version
            else { return (false, nil) }
            state.places[index].readAhead = read
            if state.places[index].row.leaseEnd == last + 1 { return (true, nil) }
            state.places[index].row.leaseEnd = last + 1
            return (true, state.places[index].row)
        }
        // Written down before anything is sent: the next run sends the same batch.
        if let news { keep(news, adding: [], removing: []) }
        return isCurrent
    }

    private func reading(for backend: BackendName, maxCount: Int, isLeased: Bool = true) -> Reading? {
        state.withLock { state in
            guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }) else { return nil }
            let place = state.places[index]
            if isLeased { state.places[index].isServingRetries = !place.retries.isEmpty }
            guard !place.retries.isEmpty || place.row.cursor < state.log.nextSequence else { return nil }
            let isLeased = isLeased && place.row.leaseEnd > place.row.cursor
            return Reading(
                retries: Array(place.retries.prefix(maxCount)),
                cursor: place.row.cursor,
                position: place.position,
                version: place.version,
                stretches: state.log.stretches(from: place.position),
                end: isLeased ? min(place.row.leaseEnd, state.log.nextSequence) : state.log.nextSequence,
                erased: state.erased
            )
        }
    }

    /// Nothing of what is left can be read: it is counted as lost, so that nobody waits for it.
    private func skipDamaged(_ backend: BackendName, _ reading: Reading) {
        let row = state.withLock { state -> Bookkeeping.PlaceRow? in
            guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }),
                state.places[index].version == reading.version
            else { return nil }
            let lost = state.count(reading.cursor..<reading.end)
            if lost > 0 { state.places[index].row.drops[.corrupt, default: 0] += lost }
            state.places[index].row.cursor = reading.end
            state.places[index].position = state.log.position(of: reading.end)
            state.places[index].version += 1
            return state.places[index].row
        }
        if let row { save([row]) }
    }

    func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String]) {
        if settleRetries(backend, through: sequence, dead) { return }
        let settled = state.withLock { state -> (Bookkeeping.PlaceRow, [Bookkeeping.LetterRow])? in
            guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }),
                sequence >= state.places[index].row.cursor, sequence < state.log.nextSequence
            else { return nil }
            var place = state.places[index]
            let count = place.readAhead.prefix { $0.record.sequence <= sequence }.count
            let passed = place.readAhead.prefix(count)
            let letters = passed.compactMap { entry in
                dead[entry.record.sequence].map { Self.letter(entry.record, $0) }
            }
            // Numbers between those that could be read, and that nobody erased: they are lost.
            let lost = state.count(place.row.cursor..<sequence + 1) - passed.count
            if lost > 0 { place.row.drops[.corrupt, default: 0] += lost }
            place.row.acknowledged += passed.count - letters.count
            place.row.dead += letters.count
            place.row.cursor = state.erased.firstAbsent(from: sequence + 1)
            place.position = passed.last?.after ?? state.log.position(of: sequence + 1)
            place.readAhead.removeFirst(count)
            place.version += 1
            state.places[index] = place
            return (place.row, letters)
        }
        guard let (row, letters) = settled else { return }
        keep(row, adding: letters, removing: [])
    }

    /// Settles what was tried again; false if that was not what the backend was served.
    private func settleRetries(_ backend: BackendName, through sequence: UInt64, _ dead: [UInt64: String]) -> Bool {
        let settled = state.withLock { state -> (Bookkeeping.PlaceRow, [SampleRecord])? in
            guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }),
                state.places[index].isServingRetries
            else { return nil }
            let passed = state.places[index].retries.filter { $0.sequence <= sequence }
            state.places[index].isServingRetries = false
            state.places[index].retries.removeFirst(passed.count)
            let deadAgain = passed.filter { dead[$0.sequence] != nil }.count
            state.places[index].row.dead += deadAgain
            state.places[index].row.acknowledged += passed.count - deadAgain
            return (state.places[index].row, passed)
        }
        guard let (row, passed) = settled else { return false }
        let letters = passed.compactMap { record in dead[record.sequence].map { Self.letter(record, $0) } }
        keep(row, adding: letters, removing: passed.map(\.sequence).filter { dead[$0] == nil })
        return true
    }

    /// Takes dead letters out: to be tried again, or thrown away. Returns how many there were.
    func takeOut(_ ids: Set<SampleID>, of backend: BackendName, toRetry: Bool) -> Int {
        guard let rows = try? bookkeeping.letters(of: backend.description).filter({ !$0.isRetried }) else { return 0 }
        var chosen = rows.filter { ids.contains(SampleID(log: logNumber, sequence: $0.sequence)) }
        let row = state.withLock { state -> Bookkeeping.PlaceRow? in
            guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }) else { return nil }
            state.places[index].row.dead -= chosen.count
            if toRetry {
                let records = chosen.compactMap { Self.record($0, log: logNumber) }
                state.places[index].retries = (state.places[index].retries + records).sorted {
                    $0.sequence < $1.sequence
                }
            } else {
                state.places[index].row.drops[.discarded, default: 0] += chosen.count
            }
            return state.places[index].row
        }
        guard let row else { return 0 }
        for index in chosen.indices { chosen[index].isRetried = true }
        keep(row, adding: toRetry ? chosen : [], removing: toRetry ? [] : chosen.map(\.sequence))
        return chosen.count
    }

    private func keep(_ row: Bookkeeping.PlaceRow, adding letters: [Bookkeeping.LetterRow], removing: [UInt64]) {
        do {
            try bookkeeping.save(row, adding: letters, removing: removing)
            trim()
        } catch {
            report(.store("cannot keep the place of \(row.name): \(error)"))
        }
    }

    static func record(_ row: Bookkeeping.LetterRow, log: UInt64) -> SampleRecord? {
        guard let sample = row.payload.withUnsafeBytes({ try? SampleDecoder.read($0) }) else { return nil }
        return SampleRecord(id: SampleID(log: log, sequence: row.sequence), sequence: row.sequence, sample: sample)
    }

    private static func letter(_ record: SampleRecord, _ reason: String) -> Bookkeeping.LetterRow {
        Bookkeeping.LetterRow(
            sequence: record.sequence,
            reason: reason,
            payload: SampleEncoder.bytes(of: record.sample)
        )
    }

    func ledger(of backend: BackendName) -> Ledger {
        state.withLock { state in
            guard let place = state.places.first(where: { $0.row.name == backend.description }) else {
                return Ledger()
            }
            let row = place.row
            var ledger = Ledger()
            ledger.emitted = Int(state.log.nextSequence - row.start) + (row.drops[.refused] ?? 0) + row.carried
            ledger.acknowledged = row.acknowledged
            ledger.dead = row.dead
            ledger.drops = row.drops
            ledger.queued = state.count(row.cursor..<state.log.nextSequence) + place.retries.count
            return ledger
        }
    }

    func backlog(of backend: BackendName) -> Backlog {
        state.withLock { state in
            guard let place = state.places.first(where: { $0.row.name == backend.description }) else {
                return Backlog()
            }
            return Backlog(
                count: state.count(place.row.cursor..<state.log.nextSequence) + place.retries.count,
                bytes: max(0, state.log.byteEnd - state.log.bytes(before: place.position))
            )
        }
    }

    func deadLetters(of backend: BackendName) -> [DeadLetter] {
        guard let rows = try? bookkeeping.letters(of: backend.description).filter({ !$0.isRetried }) else { return [] }
        return rows.compactMap { row in
            Self.record(row, log: logNumber).map { DeadLetter(record: $0, reason: row.reason) }
        }
    }

    var backendNames: [String] { state.withLock { $0.places.map(\.row.name) } }

    /// Whether every backend is past everything and nobody has a dead letter: then the directory is of no more use.
    var isDrained: Bool {
        state.withLock { state in
            state.places.allSatisfy { place in
                place.row.cursor >= state.log.nextSequence && place.row.dead == 0 && place.retries.isEmpty
            }
        }
    }

    /// Takes over what a drained store counted for a backend. What it refused was never in its log.
    func carry(_ ledger: Ledger, of backend: BackendName) {
        let row = state.withLock { state -> Bookkeeping.PlaceRow? in
            guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }) else { return nil }
            state.places[index].row.carried += ledger.emitted - (ledger.drops[.refused] ?? 0)
            state.places[index].row.acknowledged += ledger.acknowledged
            state.places[index].row.dead += ledger.dead
            state.places[index].row.drops.merge(ledger.drops, uniquingKeysWith: +)
            return state.places[index].row
        }
        if let row { save([row]) }
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

/// A sample that was read, and the position behind it.
struct ReadRecord {
    let record: SampleRecord
    let after: SegmentedLog.Position
}

/// What a lane reads, outside the lock.
struct Reading {
    let retries: [SampleRecord]
    let cursor: UInt64
    let position: SegmentedLog.Position
    let version: Int
    let stretches: ArraySlice<SegmentedLog.Stretch>
    /// Where the batch ends that was given before, or the log.
    let end: UInt64
    /// What may still stand in the segments for a moment.
    let erased: SequenceSet

    /// The same, from behind a record on.
    func continued(behind read: ReadRecord) -> Reading {
        Reading(
            retries: [],
            cursor: read.record.sequence + 1,
            position: read.after,
            version: version,
            stretches: stretches.drop { $0.segment.first < read.after.segment },
            end: end,
            erased: erased
        )
    }

    /// Whole records from the cursor on, past whatever is damaged.
    func read(
        maxCount: Int,
        maxBytes: Int,
        log: UInt64
    ) -> [ReadRecord] {
        var read: [ReadRecord] = []
        var bytes = 0
        var last = cursor == 0 ? nil : cursor - 1
        for stretch in stretches {
            let first = stretch.segment.first
            var offset = first == position.segment ? position.offset : SegmentHeader.size
            while let (begin, record) = stretch.segment.nextRecord(from: offset, before: stretch.end, after: last) {
                (offset, last) = (record.next, record.sequence)
                if record.sequence >= end { return read }
                if erased.contains(record.sequence) { continue }
                // A record that is whole and makes no sense is of another version, or worse luck than a checksum allows.
                guard let sample = try? SampleDecoder.read(record.payload) else { continue }
                bytes += record.next - begin
                if bytes > maxBytes, !read.isEmpty { return read }
                let id = SampleID(log: log, sequence: record.sequence)
                read.append(
                    ReadRecord(
                        record: SampleRecord(id: id, sequence: record.sequence, sample: sample),
                        after: SegmentedLog.Position(segment: first, offset: offset)
                    )
                )
                if read.count == maxCount { return read }
            }
        }
        return read
    }
}
