internal import Instrument

/// The interface for lanes: the next batch of a backend, and its outcome.
extension DirectoryStore {
    /// Creates a place for a backend. Once this method returns, the place survives a loss of power. Waits for the disk.
    ///
    /// An ephemeral place is not saved and ends with this process.
    func attach(_ backend: BackendName, atOldest: Bool, isEphemeral: Bool = false) {
        if state.withLock({ state in state.places.contains { $0.row.name == backend.description } }) { return }
        do throws(QueueError) {
            try drain()
            addPlace(backend, atOldest, isEphemeral)
            if !isEphemeral { try saveLastingly() }
        } catch {
            addPlace(backend, atOldest, isEphemeral)
            report(.store("the cursor of \(backend) may not survive a loss of power: \(error)"))
        }
    }

    private func addPlace(_ backend: BackendName, _ atOldest: Bool, _ isEphemeral: Bool) {
        state.withLock { state in
            let atOldest = !isEphemeral && (atOldest || state.hasLostPlaces)
            state.addPlace(backend.description, atOldest: atOldest, isEphemeral: isEphemeral)
        }
    }

    /// Deletes a backend's place. Deletes all samples with the last place: samples without a place are a sign of
    /// damage.
    func forget(_ backend: BackendName) {
        erasing.withLock { _ in
            draining.withLock { _ in
                let isLast = state.withLock { state in
                    state.places.removeAll { $0.row.name == backend.description }
                    state.carried[backend.description] = nil
                    state.unsavedForgotten.insert(backend.description)
                    return state.places.isEmpty
                }
                if !isLast { return }
                do throws(QueueError) { try drainLocked() } catch { report(.store("\(error)")) }
                sealHead()
            }
            if saveChanges() { trim(areUnclaimed: true) }
        }
    }

    func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] {
        do throws(QueueError) {
            try drain()
            noteSuccess(of: .draining)
        } catch {
            noteFailure("\(error)", of: .draining)
        }
        while true {
            guard maxCount > 0, let found = reading(for: backend, maxCount: maxCount, maxBytes: maxBytes) else {
                return []
            }
            if !found.retries.isEmpty { return found.retries }
            // Decoded outside the lock, so that no emit waits: bytes before the end of a stretch never change.
            let read = found.read(maxCount: maxCount, maxBytes: maxBytes, log: logNumber)
            if read.isEmpty {
                skipDamaged(backend, found)
                return []
            }
            // Otherwise a drop or an erasure has made the samples that were read invalid.
            if lease(read, found, to: backend) { return read.map(\.record) }
        }
    }

    /// The samples that wait for a backend, without a lease.
    func queued(for backend: BackendName) -> some Sequence<[SampleRecord]> {
        do throws(QueueError) { try drain() } catch { report(.store("\(error)")) }
        let retries = state.withLock { state in
            state.places.first { $0.row.name == backend.description }?.retries ?? []
        }
        let start = reading(for: backend, maxCount: 0, maxBytes: 0, isLeased: false)
        let pages = sequence(state: start) { [logNumber] (reading: inout Reading?) -> [SampleRecord]? in
            guard let current = reading else { return nil }
            let read = current.read(maxCount: 1000, maxBytes: .max, log: logNumber)
            reading = read.last.map { current.continued(behind: $0) }
            return read.isEmpty ? nil : read.map(\.record)
        }
        return [AnySequence(retries.isEmpty ? [] : [retries]), AnySequence(pages)].joined()
    }

    /// Records the lease, so that the next call returns the same batch. Returns false if the batch is outdated.
    private func lease(_ read: [ReadRecord], _ reading: Reading, to backend: BackendName) -> Bool {
        guard let last = read.last?.record.sequence else { return false }
        let (isCurrent, isNews) = state.withLock { state -> (Bool, Bool) in
            guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }),
                state.places[index].version == reading.version
            else { return (false, false) }
            state.places[index].readAhead = read
            if state.places[index].row.leaseEnd == last + 1 { return (true, false) }
            state.places[index].row.leaseEnd = last + 1
            state.places[index].isChanged = true
            return (true, true)
        }
        // Saved before the delivery, so that the next run delivers the same batch.
        if isNews { saveChanges() }
        return isCurrent
    }

    private func reading(
        for backend: BackendName,
        maxCount: Int,
        maxBytes: Int,
        isLeased: Bool = true
    ) -> Reading? {
        state.withLock { state in
            guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }) else { return nil }
            let retries = isLeased ? state.places[index].leaseRetries(maxCount, maxBytes) : []
            let place = state.places[index]
            guard !retries.isEmpty || place.row.cursor < state.log.nextSequence else { return nil }
            let isLeased = isLeased && place.isLogLeased
            return Reading(
                retries: retries,
                cursor: place.row.cursor,
                position: place.position,
                version: place.version,
                stretches: state.log.stretches(from: place.position),
                end: isLeased ? min(place.row.leaseEnd, state.log.nextSequence) : state.log.nextSequence,
                erased: state.erased
            )
        }
    }

    /// Counts the remaining samples, none of which can be read, as lost, so that no flush waits for them.
    private func skipDamaged(_ backend: BackendName, _ reading: Reading) {
        let isSkipped = state.withLock { state -> Bool in
            guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }),
                state.places[index].version == reading.version
            else { return false }
            let lost = state.count(reading.cursor..<reading.end)
            if lost > 0 { state.places[index].row.drops[.corrupt, default: 0] += lost }
            state.places[index].row.cursor = reading.end
            state.places[index].position = state.log.position(of: reading.end)
            state.places[index].version += 1
            state.places[index].isChanged = true
            return true
        }
        if isSkipped { saveChanges() }
    }

    func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String]) {
        if !settleRetries(backend, through: sequence, dead) { settleRead(backend, through: sequence, dead) }
        saveChanges()
    }

    /// Settles leased samples of the log.
    private func settleRead(_ backend: BackendName, through sequence: UInt64, _ dead: [UInt64: String]) {
        let settled = state.withLock { state -> [ReadRecord] in
            guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }),
                sequence >= state.places[index].row.cursor, sequence < state.places[index].row.leaseEnd,
                sequence < state.log.nextSequence
            else { return [] }
            let readAhead = state.places[index].readAhead
            state.places[index].readAhead = []
            var place = state.places[index]
            let passed = readAhead.prefix { $0.record.sequence <= sequence }
            let letters =
                dead.isEmpty
                ? [] : passed.compactMap { entry in dead[entry.record.sequence].map { Self.letter(entry.record, $0) } }
            // Samples between readable ones that were not erased are lost.
            let lost = state.count(place.row.cursor..<sequence + 1) - passed.count
            if lost > 0 { place.row.drops[.corrupt, default: 0] += lost }
            place.row.acknowledged += passed.count - letters.count
            place.row.dead += letters.count
            place.row.cursor = state.nextPresent(from: sequence + 1)
            place.position = passed.last?.after ?? state.log.position(of: sequence + 1)
            place.readAhead = Array(readAhead[passed.endIndex...])
            place.version += 1
            place.newLetters += letters
            place.isChanged = true
            state.places[index] = place
            return readAhead
        }
        // Freed outside the lock: freeing takes time, and `emit` may be waiting.
        withExtendedLifetime(settled) {}
    }

    /// Settles the leased retries, and no letter that became a retry since. Returns false if no retry is leased.
    private func settleRetries(_ backend: BackendName, through sequence: UInt64, _ dead: [UInt64: String]) -> Bool {
        state.withLock { state in
            guard let index = state.places.firstIndex(where: { $0.row.name == backend.description }),
                let leased = state.places[index].leasedRetries
            else { return false }
            let numbers = Set(leased.prefix { $0 <= sequence })
            let passed = state.places[index].retries.filter { numbers.contains($0.sequence) }
            let letters = passed.compactMap { record in dead[record.sequence].map { Self.letter(record, $0) } }
            let left = leased.dropFirst(numbers.count)
            state.places[index].leasedRetries = left.isEmpty ? nil : Array(left)
            state.places[index].retries.removeAll { numbers.contains($0.sequence) }
            state.places[index].row.dead += letters.count
            state.places[index].row.acknowledged += passed.count - letters.count
            state.places[index].removeLetters(Set(passed.map(\.sequence).filter { dead[$0] == nil }))
            state.places[index].newLetters += letters
            state.places[index].isChanged = true
            return true
        }
    }
}

extension DirectoryStore.Place {
    /// Leases retries, at least one if any waits. Returns the leased ones as long as they are not settled, and none
    /// while samples of the log are leased: a batch stays the same until it is settled.
    fileprivate mutating func leaseRetries(_ maxCount: Int, _ maxBytes: Int) -> [SampleRecord] {
        let leased = leasedRetries.map { Set($0) }
        var waiting = leased.map { leased in retries.filter { leased.contains($0.sequence) } } ?? []
        // The leased retries may have been erased.
        if waiting.isEmpty { waiting = isLogLeased ? [] : retries }
        var bytes = 0
        let batch = waiting.prefix(maxCount).prefix { record in
            let isFirst = bytes == 0
            bytes += record.sample.estimatedSize
            return isFirst || bytes <= maxBytes
        }
        let isSameLease = leased.map { leased in batch.allSatisfy { leased.contains($0.sequence) } } ?? false
        if batch.isEmpty { leasedRetries = nil } else if !isSameLease { leasedRetries = batch.map(\.sequence) }
        return Array(batch)
    }
}

extension DirectoryStore.State {
    /// Adds a place at the beginning or at the end of the log, unless a place has that name.
    fileprivate mutating func addPlace(_ name: String, atOldest: Bool, isEphemeral: Bool) {
        if places.contains(where: { $0.row.name == name }) { return }
        let start = atOldest ? log.startSequence : nextSequence
        var row = Bookkeeping.PlaceRow(name: name, start: start, cursor: start, acknowledged: 0, dead: 0, drops: [:])
        row.isEphemeral = isEphemeral
        var place = DirectoryStore.Place(row: row, position: log.position(of: start))
        place.isChanged = true
        places.append(place)
    }
}
