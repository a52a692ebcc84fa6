/// Erasure: the log keeps empty positions for erased samples and frees their memory.
extension InMemoryStore {
    /// Erases samples from the log and from the dead letters. The search delays no `emit`.
    @discardableResult
    public func erase(where isErased: (SampleRecord) -> Bool) -> Int {
        let (start, kept) = state.withLock { state in
            (state.log.start, state.log.part(from: state.log.start, maxCount: .max))
        }
        var found: [UInt64] = []
        kept.forEach { distance, entry in
            let sequence = start + UInt64(distance)
            if let sample = entry.sample, isErased(record(sample, sequence)) { found.append(sequence) }
            return true
        }
        let (count, freed) = state.withLock { erase(found, deadLettersWhere: isErased, in: &$0) }
        withExtendedLifetime(freed) {}
        return count
    }

    /// Marks the end of the log. The mark lasts as long as the store, like the samples.
    public func hold() {
        state.withLock { state in
            if state.heldFrom == nil { state.heldFrom = state.log.end }
            state.consent = .pending
        }
    }

    /// The consent that applies to the samples.
    public var consent: Consent { state.withLock { $0.consent } }

    /// Removes the mark.
    public func release() { state.withLock { ($0.heldFrom, $0.consent) = (nil, .granted) } }

    /// Erases the samples that were appended after the mark.
    @discardableResult
    public func eraseHeld() -> Int {
        let (count, freed) = state.withLock { state -> (Int, [SampleLog.Chunk]) in
            state.consent = .denied
            guard let first = state.heldFrom else { return (0, []) }
            state.heldFrom = nil
            let held = Array(max(first, state.log.start)..<max(first, state.log.end))
            return erase(held, deadLettersWhere: { $0.sequence >= first }, in: &state)
        }
        withExtendedLifetime(freed) {}
        return count
    }

    private func erase(
        _ sequences: [UInt64],
        deadLettersWhere isErased: (SampleRecord) -> Bool,
        in state: inout State
    ) -> (Int, [SampleLog.Chunk]) {
        let queued = sequences.filter { state.log.sample($0) != nil }
        let gone = Set(queued)
        let erased = gone.union(eraseDeadLetters(where: isErased, in: &state))
        for index in state.places.indices {
            count(queued, forPlaceAt: index, in: &state)
            state.places[index].receipts.removeAll { gone.contains($0.sequence) }
        }
        state.log.erase(queued)
        for index in state.places.indices {
            _ = moveCursor(ofPlaceAt: index, to: state.places[index].cursor, in: &state)
        }
        return (erased.count, trim(&state))
    }

    private func eraseDeadLetters(where isErased: (SampleRecord) -> Bool, in state: inout State) -> [UInt64] {
        var erased: [UInt64] = []
        for index in state.places.indices {
            let letters = state.places[index].dead.filter { isErased($0.record) }.map(\.record.sequence)
            if letters.isEmpty { continue }
            state.places[index].dead.removeAll { isErased($0.record) }
            state.places[index].ledger.dead -= letters.count
            state.places[index].ledger.drops[.erased, default: 0] += letters.count
            erased += letters
        }
        return erased
    }

    /// Counts the erased samples that a backend has not passed.
    private func count(_ erased: [UInt64], forPlaceAt index: Int, in state: inout State) {
        let cursor = state.places[index].cursor
        let waiting = erased.drop { $0 < cursor }
        if waiting.isEmpty { return }
        state.places[index].ledger.drops[.erased, default: 0] += waiting.count
        state.places[index].erasedAhead += waiting.count
        state.places[index].byteCursor += waiting.reduce(0) { $0 + state.log.size(of: $1) }
    }
}
