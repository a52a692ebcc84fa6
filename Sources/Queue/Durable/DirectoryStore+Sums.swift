internal import Instrument

/// The ledgers of backends.
extension DirectoryStore {
    func ledger(of backend: BackendName) -> Ledger {
        state.withLock { state in
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
        state.withLock { state in
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

    func deadLetters(of backend: BackendName) -> [DeadLetter] {
        let rows = writing.withLock { _ in letters(of: backend) ?? [] }
        return rows.filter { !$0.isRetried }.compactMap { row in
            SampleRecord(row, of: logNumber).map { DeadLetter(record: $0, reason: row.reason) }
        }
    }

    /// Whether a backend has a place that outlives the process.
    func hasWrittenPlace(of backend: BackendName) -> Bool {
        state.withLock { state in
            let place = state.places.first { $0.row.name == backend.description }
            return place.map { !$0.row.isEphemeral } ?? (state.carried[backend.description] != nil)
        }
    }

    /// The backends with a place or with sums in this store.
    var backendNames: [String] {
        state.withLock { state in Array(Set(state.places.map(\.row.name)).union(state.carried.keys)).sorted() }
    }

    /// Whether every backend has passed all samples and has no dead letter, so that the directory is no longer needed.
    var isDrained: Bool {
        state.withLock { state in
            // Without a place, the samples still wait for a backend.
            if state.places.isEmpty { return state.log.stretches.isEmpty && state.staging?.isEmpty ?? true }
            return state.places.allSatisfy { place in
                place.row.cursor >= state.nextSequence && place.row.dead == 0 && place.retries.isEmpty
            }
        }
    }
}

/// The folders of a store: the own one and those of earlier processes.
extension [DirectoryStore] {
    func backlog(of backend: BackendName) -> Backlog {
        reduce(into: Backlog()) { sum, store in
            let backlog = store.backlog(of: backend)
            sum.count += backlog.count
            sum.bytes += backlog.bytes
        }
    }

    /// The dead letters, the oldest first.
    func deadLetters(of backend: BackendName) -> [DeadLetter] { flatMap { $0.deadLetters(of: backend) } }
}
