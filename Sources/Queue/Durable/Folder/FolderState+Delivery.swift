internal import Instrument

/// The next batch of a backend, its lease and its outcome.
extension FolderState {
    /// The index of a backend's place; nil without one.
    func index(of backend: BackendName) -> Int? { places.firstIndex { $0.row.name == backend.description } }

    /// Adds a place at the beginning or at the end of the log, unless a place has that name.
    mutating func addPlace(_ name: String, atOldest: Bool, isEphemeral: Bool) {
        if places.contains(where: { $0.row.name == name }) { return }
        let start = atOldest ? log.startSequence : nextSequence
        var row = Bookkeeping.PlaceRow(name: name, start: start, cursor: start, acknowledged: 0, dead: 0, drops: [:])
        row.isEphemeral = isEphemeral
        var place = BackendPlace(row: row, position: log.position(of: start))
        place.isChanged = true
        places.append(place)
    }

    /// Removes a backend's place and its sums. Returns whether it was the last place.
    mutating func forget(_ backend: BackendName) -> Bool {
        places.removeAll { $0.row.name == backend.description }
        carried[backend.description] = nil
        unsavedForgotten.insert(backend.description)
        return places.isEmpty
    }

    /// The stretches to read for a backend, or its retries; nil if no sample waits.
    mutating func reading(for backend: BackendName, maxCount: Int, maxBytes: Int, isLeased: Bool) -> Reading? {
        guard let index = index(of: backend) else { return nil }
        let retries = isLeased ? places[index].leaseRetries(maxCount, maxBytes) : []
        let place = places[index]
        guard !retries.isEmpty || place.row.cursor < log.nextSequence else { return nil }
        let isLeased = isLeased && place.isLogLeased
        return Reading(
            retries: retries,
            cursor: place.row.cursor,
            position: place.position,
            version: place.version,
            stretches: log.stretches(from: place.position),
            end: isLeased ? min(place.row.leaseEnd, log.nextSequence) : log.nextSequence,
            erased: erased
        )
    }

    /// Leases samples that were read. Returns whether they are current, and whether the lease is new.
    mutating func lease(_ read: [ReadRecord], through last: UInt64, of reading: Reading, to backend: BackendName) -> (
        isCurrent: Bool, isNews: Bool
    ) {
        guard let index = index(of: backend), places[index].version == reading.version else { return (false, false) }
        places[index].readAhead = read
        if places[index].row.leaseEnd == last + 1 { return (true, false) }
        places[index].row.leaseEnd = last + 1
        places[index].isChanged = true
        return (true, true)
    }

    /// Counts the samples of a reading, none of which can be read, as lost. Returns false if the reading is outdated.
    mutating func skipDamaged(_ reading: Reading, of backend: BackendName) -> Bool {
        guard let index = index(of: backend), places[index].version == reading.version else { return false }
        let lost = count(reading.cursor..<reading.end)
        if lost > 0 { places[index].row.drops[.corrupt, default: 0] += lost }
        places[index].row.cursor = reading.end
        places[index].position = log.position(of: reading.end)
        places[index].version += 1
        places[index].isChanged = true
        return true
    }

    /// Settles leased samples of the log. Returns the samples that were read ahead, which the caller frees outside the
    /// lock.
    mutating func settleRead(
        _ backend: BackendName,
        through sequence: UInt64,
        _ dead: [UInt64: String]
    ) -> [ReadRecord] {
        guard let index = index(of: backend), sequence >= places[index].row.cursor,
            sequence < places[index].row.leaseEnd, sequence < log.nextSequence
        else { return [] }
        let readAhead = places[index].readAhead
        places[index].readAhead = []
        var place = places[index]
        let passed = readAhead.prefix { $0.record.sequence <= sequence }
        let letters =
            dead.isEmpty
            ? []
            : passed.compactMap { entry in
                dead[entry.record.sequence].map { Bookkeeping.LetterRow(entry.record, reason: $0) }
            }
        // Samples between readable ones that were not erased are lost.
        let lost = count(place.row.cursor..<sequence + 1) - passed.count
        if lost > 0 { place.row.drops[.corrupt, default: 0] += lost }
        place.row.acknowledged += passed.count - letters.count
        place.row.dead += letters.count
        place.row.cursor = nextPresent(from: sequence + 1)
        place.position = passed.last?.after ?? log.position(of: sequence + 1)
        place.readAhead = Array(readAhead[passed.endIndex...])
        place.version += 1
        place.newLetters += letters
        place.isChanged = true
        places[index] = place
        return readAhead
    }

    /// Settles the leased retries, and no letter that became a retry since. Returns false if no retry is leased.
    mutating func settleRetries(
        _ backend: BackendName,
        through sequence: UInt64,
        _ dead: [UInt64: String]
    ) -> Bool {
        guard let index = index(of: backend), let leased = places[index].leasedRetries else { return false }
        let numbers = Set(leased.prefix { $0 <= sequence })
        let passed = places[index].retries.filter { numbers.contains($0.sequence) }
        let letters = passed.compactMap { record in
            dead[record.sequence].map { Bookkeeping.LetterRow(record, reason: $0) }
        }
        let left = leased.dropFirst(numbers.count)
        places[index].leasedRetries = left.isEmpty ? nil : Array(left)
        places[index].retries.removeAll { numbers.contains($0.sequence) }
        places[index].row.dead += letters.count
        places[index].row.acknowledged += passed.count - letters.count
        places[index].removeLetters(Set(passed.map(\.sequence).filter { dead[$0] == nil }))
        places[index].newLetters += letters
        places[index].isChanged = true
        return true
    }
}
