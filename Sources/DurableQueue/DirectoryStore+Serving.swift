internal import Instrument

/// The lanes' side: what comes next for a backend, and what became of it.
extension DirectoryStore {
    func attach(_ backend: BackendName, atOldest: Bool, isEphemeral: Bool = false) {
        let row = state.withLock { state -> Bookkeeping.PlaceRow? in
            if state.places.contains(where: { $0.row.name == backend.description }) { return nil }
            let start = atOldest ? state.log.startSequence : state.log.nextSequence
            let row = Bookkeeping.PlaceRow(
                name: backend.description,
                start: start,
                cursor: start,
                acknowledged: 0,
                dead: 0,
                drops: [:],
                isEphemeral: isEphemeral
            )
            state.places.append(Place(row: row, position: state.log.position(of: start)))
            return row
        }
        if let row { save([row]) }
    }

    func forget(_ backend: BackendName) {
        state.withLock { state in
            state.places.removeAll { $0.row.name == backend.description }
            state.carried[backend.description] = nil
        }
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
}
