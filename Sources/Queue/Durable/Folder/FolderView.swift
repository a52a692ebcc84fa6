internal import Instrument

/// Reads a folder, and changes nothing: the ledgers, the waiting samples and the dead letters of its backends.
struct FolderView: Sendable {
    let folder: StoreFolder

    init(_ folder: StoreFolder) { self.folder = folder }

    /// Opens a folder for reading, without a change. nil, with a diagnostic, if its bookkeeping cannot be read.
    init?(viewing path: String, report: @escaping @Sendable (Diagnostic) -> Void) {
        do {
            let number = SegmentFiles.logNumber(in: path)
            guard let bookkeeping = try Bookkeeping.copy(ofFolder: path) else {
                if number != nil { report(.store("the bookkeeping in \(path) is missing: its samples have no cursor")) }
                return nil
            }
            let rows = try bookkeeping.places()
            let logNumber = try number ?? bookkeeping.logNumber(orElse: 0)
            let absent = try bookkeeping.absent()
            var erased = try bookkeeping.erased(onlyUndone: false)
            erased.formUnion(absent)
            let atLeast = FolderOpening.firstUnused(rows, erased)
            let log = SegmentedLog(viewing: path, log: logNumber, atLeast: atLeast) { report(.store($0)) }
            let state = FolderState(
                log: log,
                places: try BackendPlace.places(rows, in: log, erased, bookkeeping),
                erased: erased,
                absent: absent,
                heldFrom: nil,
                carried: try bookkeeping.carriedSums()
            )
            folder = StoreFolder(
                path: path,
                configuration: DurableConfiguration(),
                bookkeeping: bookkeeping,
                logNumber: logNumber,
                state: OrderedLock(.state, state),
                lock: OrderedLock(.lock, nil),
                report: report
            )
        } catch {
            report(.store("the bookkeeping in \(path) cannot be read: \(error)"))
            return nil
        }
    }

    // MARK: Counts

    func ledger(of backend: BackendName) -> Ledger {
        folder.state.withLock { state in
            var ledger = Ledger()
            if let sum = state.carried[backend.description] { ledger.add(sum) }
            guard let place = state.places.first(where: { $0.row.name == backend.description }) else { return ledger }
            let row = place.row
            let numbers = row.start..<max(row.start, state.nextSequence)
            ledger.emitted += numbers.count - state.absent.count(in: numbers) + (row.drops[.refused] ?? 0) + row.carried
            ledger.acknowledged += row.acknowledged
            ledger.dead = row.dead
            ledger.drops.merge(row.drops, uniquingKeysWith: +)
            ledger.queued = state.count(state.waiting(row)) + place.retries.count
            return ledger
        }
    }

    func backlog(of backend: BackendName) -> Backlog {
        folder.state.withLock { state in
            guard let place = state.places.first(where: { $0.row.name == backend.description }) else {
                return Backlog()
            }
            let count = state.count(state.waiting(place.row)) + place.retries.count
            if count == 0 { return Backlog() }
            return Backlog(
                count: count,
                bytes: max(0, state.log.byteEnd - state.log.bytes(before: place.position)) + (state.staging?.bytes ?? 0)
            )
        }
    }

    /// Whether a backend has a place that outlives the process.
    func hasWrittenPlace(of backend: BackendName) -> Bool {
        folder.state.withLock { state in
            let place = state.places.first { $0.row.name == backend.description }
            return place.map { !$0.row.isEphemeral } ?? (state.carried[backend.description] != nil)
        }
    }

    /// The backends with a place or with sums in this folder.
    var backendNames: [String] {
        folder.state.withLock { state in Array(Set(state.places.map(\.row.name)).union(state.carried.keys)).sorted() }
    }

    /// Whether every backend has passed all samples and has no dead letter, so that the directory is no longer needed.
    var isDrained: Bool {
        folder.state.withLock { state in
            // Without a place, the samples still wait for a backend.
            if state.places.isEmpty { return state.log.stretches.isEmpty && state.staging?.isEmpty ?? true }
            return state.places.allSatisfy { place in
                place.row.cursor >= state.nextSequence && place.row.dead == 0 && place.retries.isEmpty
            }
        }
    }

    /// The sums of a drained folder, in which no sample is queued or dead.
    var settledSums: [Bookkeeping.CarriedSum] {
        backendNames.map { name in
            let ledger = ledger(of: BackendName(name))
            return Bookkeeping.CarriedSum(name: name, acknowledged: ledger.acknowledged, drops: ledger.drops)
        }
    }

    // MARK: Samples

    /// The samples that wait for a backend, without a lease. Omits staged samples.
    func queued(for backend: BackendName) -> some Sequence<[SampleRecord]> {
        let retries = folder.state.withLock { state in
            state.places.first { $0.row.name == backend.description }?.retries ?? []
        }
        let start = folder.state.withLock {
            $0.reading(for: backend, maxCount: 0, maxBytes: 0, isLeased: false)
        }
        let pages = sequence(state: start) {
            [logNumber = folder.logNumber] (reading: inout Reading?) -> [SampleRecord]? in
            guard let current = reading else { return nil }
            let read = current.read(maxCount: 1000, maxBytes: .max, log: logNumber)
            reading = read.last.map { current.continued(behind: $0) }
            return read.isEmpty ? nil : read.map(\.record)
        }
        return [AnySequence(retries.isEmpty ? [] : [retries]), AnySequence(pages)].joined()
    }

    // MARK: Letters

    /// The dead letters among letters.
    func deadLetters(_ rows: [Bookkeeping.LetterRow]) -> [DeadLetter] {
        rows.filter { !$0.isRetried }.compactMap { row in
            SampleRecord(row, of: folder.logNumber).map { DeadLetter(record: $0, reason: row.reason) }
        }
    }

    /// The dead letters and the letters to retry; nil, with a diagnostic, if they cannot be read. The caller holds
    /// `writing`, unless the folder is only read.
    func letters(of backend: BackendName) -> [Bookkeeping.LetterRow]? {
        do { return try letters(ofPlace: backend.description) } catch {
            folder.report(.store("cannot read the dead letters of \(backend) in \(folder.path): \(error)"))
            return nil
        }
    }

    /// The saved letters with the changes that are not saved yet. The caller holds `writing`, so that no change is
    /// being saved.
    func letters(ofPlace name: String) throws -> [Bookkeeping.LetterRow] {
        let saved = try folder.bookkeeping.letters(of: name)
        let (isForgotten, added, removed) = folder.state.withLock { state in
            let place = state.places.first { $0.row.name == name }
            return (state.unsavedForgotten.contains(name), place?.newLetters ?? [], place?.goneLetters ?? [])
        }
        if !isForgotten, added.isEmpty, removed.isEmpty { return saved }
        var letters: [UInt64: Bookkeeping.LetterRow] = [:]
        for letter in isForgotten ? [] : saved { letters[letter.sequence] = letter }
        // As they are saved: removed letters first.
        for sequence in removed { letters[sequence] = nil }
        for letter in added { letters[letter.sequence] = letter }
        return letters.values.sorted { $0.sequence < $1.sequence }
    }
}

/// The folders of a queue: the own one and those of earlier processes.
extension [FolderView] {
    func backlog(of backend: BackendName) -> Backlog {
        reduce(into: Backlog()) { sum, folder in
            let backlog = folder.backlog(of: backend)
            sum.count += backlog.count
            sum.bytes += backlog.bytes
        }
    }
}
