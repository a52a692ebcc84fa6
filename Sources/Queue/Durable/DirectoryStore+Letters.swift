internal import Instrument

/// Dead letters and their bookkeeping.
extension DirectoryStore {
    /// Removes dead letters, to retry or to discard them. Returns their number.
    func takeOut(_ ids: Set<SampleID>, of backend: BackendName, toRetry: Bool) -> Int {
        saveChanges()
        guard let rows = letters(of: backend)?.filter({ !$0.isRetried }) else { return 0 }
        var chosen = rows.filter { ids.contains(SampleID(log: logNumber, sequence: $0.sequence)) }
        for index in chosen.indices { chosen[index].isRetried = true }
        let isKnown = state.withLock { [chosen] state -> Bool in
            guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }) else {
                return false
            }
            state.places[index].row.dead -= chosen.count
            if toRetry {
                let records = chosen.compactMap { Self.record($0, log: logNumber) }
                state.places[index].retries = (state.places[index].retries + records).sorted {
                    $0.sequence < $1.sequence
                }
                state.places[index].newLetters += chosen
            } else {
                state.places[index].row.drops[.discarded, default: 0] += chosen.count
                state.places[index].goneLetters += chosen.map(\.sequence)
            }
            state.places[index].isChanged = true
            return true
        }
        if !isKnown { return 0 }
        saveChanges()
        return chosen.count
    }

    /// The saved dead letters; nil, with a diagnostic, if they cannot be read.
    func letters(of backend: BackendName) -> [Bookkeeping.LetterRow]? {
        do { return try bookkeeping.letters(of: backend.description) } catch {
            report(.store("cannot read the dead letters of \(backend) in \(path): \(error)"))
            return nil
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
            payload: SampleEncoder.bytes(of: record.storedSample)
        )
    }
}
