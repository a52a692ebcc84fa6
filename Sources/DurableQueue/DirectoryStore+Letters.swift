internal import Instrument

/// Dead letters, and what is written down with them.
extension DirectoryStore {
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

    func keep(_ row: Bookkeeping.PlaceRow, adding letters: [Bookkeeping.LetterRow], removing: [UInt64]) {
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

    static func letter(_ record: SampleRecord, _ reason: String) -> Bookkeeping.LetterRow {
        Bookkeeping.LetterRow(
            sequence: record.sequence,
            reason: reason,
            payload: SampleEncoder.bytes(of: record.sample)
        )
    }
}
