internal import Instrument

/// Where a backend's samples are, counted.
extension DirectoryStore {
    func ledger(of backend: BackendName) -> Ledger {
        state.withLock { state in
            guard let place = state.places.first(where: { $0.row.name == backend.description }) else {
                return Ledger()
            }
            let row = place.row
            var ledger = Ledger()
            let numbers = row.start..<max(row.start, state.nextSequence)
            ledger.emitted = numbers.count - state.absent.count(in: numbers) + (row.drops[.refused] ?? 0) + row.carried
            ledger.acknowledged = row.acknowledged
            ledger.dead = row.dead
            ledger.drops = row.drops
            ledger.queued = state.count(row.cursor..<state.nextSequence) + place.retries.count
            return ledger
        }
    }

    func backlog(of backend: BackendName) -> Backlog {
        state.withLock { state in
            guard let place = state.places.first(where: { $0.row.name == backend.description }) else {
                return Backlog()
            }
            return Backlog(
                count: state.count(place.row.cursor..<state.nextSequence) + place.retries.count,
                bytes: max(0, state.log.byteEnd - state.log.bytes(before: place.position)) + (state.staging?.bytes ?? 0)
            )
        }
    }

    func deadLetters(of backend: BackendName) -> [DeadLetter] {
        saveChanges()
        return (letters(of: backend) ?? []).filter { !$0.isRetried }.compactMap { row in
            Self.record(row, log: logNumber).map { DeadLetter(record: $0, reason: row.reason) }
        }
    }

    var backendNames: [String] { state.withLock { $0.places.map(\.row.name) } }

    /// Whether every backend is past everything and nobody has a dead letter: then the directory is of no more use.
    var isDrained: Bool {
        state.withLock { state in
            state.places.allSatisfy { place in
                place.row.cursor >= state.nextSequence && place.row.dead == 0 && place.retries.isEmpty
            }
        }
    }

    /// Takes over what a drained store counted for a backend. What it refused was never in its log.
    func carry(_ ledger: Ledger, of backend: BackendName) {
        state.withLock { state in
            guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }) else { return }
            state.places[index].row.carried += ledger.emitted - (ledger.drops[.refused] ?? 0)
            state.places[index].row.acknowledged += ledger.acknowledged
            state.places[index].row.dead += ledger.dead
            state.places[index].row.drops.merge(ledger.drops, uniquingKeysWith: +)
            state.places[index].isChanged = true
        }
        saveChanges()
    }
}
