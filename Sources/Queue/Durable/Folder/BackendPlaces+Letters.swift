internal import Instrument

/// Dead letters and their bookkeeping.
extension BackendPlaces {
    /// Removes dead letters, to retry or to discard them. Returns their number.
    ///
    /// Excludes erasures and other calls of this method, so that no letter is taken out twice or after its erasure.
    func takeOut(_ ids: Set<SampleID>, of backend: BackendName, toRetry: Bool) -> Int {
        let count = eraser.erasing.withLock { _ in
            saver.writing.withLock { _ in
                guard let letters = view.letters(of: backend) else { return 0 }
                let chosen = letters.filter { letter in
                    !letter.isRetried && ids.contains(SampleID(log: folder.logNumber, sequence: letter.sequence))
                }
                return toRetry ? retry(chosen, of: backend) : discard(chosen, of: backend)
            }
        }
        if count > 0 { saver.saveChanges() }
        return count
    }

    private func retry(_ letters: [Bookkeeping.LetterRow], of backend: BackendName) -> Int {
        // A letter that cannot be decoded stays dead.
        let found = letters.compactMap { letter in SampleRecord(letter, of: folder.logNumber).map { (letter, $0) } }
        return change(backend) { place in
            place.row.dead -= found.count
            place.retries = (place.retries + found.map(\.1)).sorted { $0.sequence < $1.sequence }
            place.newLetters += found.map { letter, _ in letter.retried }
            return found.count
        }
    }

    private func discard(_ letters: [Bookkeeping.LetterRow], of backend: BackendName) -> Int {
        change(backend) { place in
            place.row.dead -= letters.count
            place.row.drops[.discarded, default: 0] += letters.count
            place.removeLetters(Set(letters.map(\.sequence)))
            return letters.count
        }
    }

    /// Changes a backend's place; does nothing without one.
    private func change(_ backend: BackendName, _ body: (inout BackendPlace) -> Int) -> Int {
        folder.state.withLock { state in
            guard let index = state.index(of: backend) else { return 0 }
            state.places[index].isChanged = true
            return body(&state.places[index])
        }
    }

    func deadLetters(of backend: BackendName) -> [DeadLetter] {
        view.deadLetters(saver.writing.withLock { _ in view.letters(of: backend) ?? [] })
    }
}

extension SampleRecord {
    /// The sample of a letter; nil if it cannot be decoded.
    init?(_ letter: Bookkeeping.LetterRow, of log: UInt64) {
        guard let sample = letter.payload.withUnsafeBytes({ try? SampleDecoder.read($0) }) else { return nil }
        self.init(id: SampleID(log: log, sequence: letter.sequence), sequence: letter.sequence, sample: sample)
    }
}

extension Bookkeeping.LetterRow {
    /// A letter of a sample that a backend refused.
    init(_ record: SampleRecord, reason: String) {
        self.init(
            sequence: record.sequence,
            reason: reason,
            payload: SampleEncoder.bytes(of: record.storedSample)
        )
    }

    /// The letter, waiting for a retry.
    fileprivate var retried: Bookkeeping.LetterRow {
        var letter = self
        letter.isRetried = true
        return letter
    }
}
