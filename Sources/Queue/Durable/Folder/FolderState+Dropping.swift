internal import Instrument

/// The limits of the queue, and the samples that no backend receives any more.
extension FolderState {
    /// The largest size of the samples to append; nil if the queue is full and refuses new samples.
    func room(for count: Int, within limits: QueueLimits) -> Int? {
        limits.whenFull == .refuseNew ? roomLeft(for: count, within: limits) : .max
    }

    /// What every backend has passed fills no queue, also while its segment is still there.
    private func roomLeft(for count: Int, within limits: QueueLimits) -> Int? {
        var passed = nextSequence
        for index in places.indices { passed = min(passed, places[index].row.cursor) }
        let start = max(log.startSequence, passed)
        let bytes = limits.maxBytes - log.bytes(from: start) - (staging?.bytes ?? 0)
        let waiting = self.count(start..<max(start, nextSequence))
        return waiting + count > limits.maxCount || bytes <= 0 ? nil : bytes
    }

    mutating func countRefused(_ count: Int) {
        refusedCount += count
        staging?.area.note(refused: refusedCount)
        for index in places.indices {
            places[index].row.drops[.refused, default: 0] += count
            places[index].isChanged = true
        }
    }

    /// Moves every backend past the oldest segments, until the remaining samples are within the limits.
    mutating func makeRoom(within limits: QueueLimits) {
        guard limits.whenFull == .dropOldest else { return }
        while let oldest = log.stretches.first(where: { $0.endSequence > droppedEnd }),
            oldest.segment.first != log.stretches.last?.segment.first
        {
            let kept = max(droppedEnd, log.startSequence)
            let bytes = log.byteEnd - oldest.bytesBefore
            let isOverCount = count(kept..<log.nextSequence) > limits.maxCount
            if bytes <= limits.maxBytes, !isOverCount { return }
            drop(before: oldest.endSequence, bytes > limits.maxBytes ? .bytes : .count)
        }
    }

    /// Moves every backend past the sealed segments whose samples are all older than an instant.
    mutating func dropSealed(before cutoff: MonotonicInstant) {
        let old = log.sealedStretches.prefix { $0.newest.map { $0 < cutoff } ?? false }
        if let last = old.last, last.endSequence > droppedEnd { drop(before: last.endSequence, .age) }
    }

    private mutating func drop(before end: UInt64, _ reason: DropReason) {
        for index in places.indices where places[index].row.cursor < end {
            let count = count(places[index].row.cursor..<end)
            if count > 0 { places[index].row.drops[reason, default: 0] += count }
            places[index].row.cursor = end
            places[index].position = log.position(of: end)
            // Samples that were read and lie after the end may be in flight: the lane will settle them.
            places[index].readAhead.removeAll { $0.record.sequence < end }
            places[index].version += 1
            places[index].isChanged = true
        }
        droppedEnd = max(droppedEnd, end)
        needsMaintenance = true
    }

    /// Counts samples for the backends that have not passed them, and skips them from now on.
    mutating func remove(_ numbers: SequenceSet, countedAs reason: DropReason) {
        var all = erased
        all.formUnion(numbers)
        for index in places.indices {
            let waiting = waiting(places[index].row)
            let count = all.count(in: waiting) - erased.count(in: waiting)
            if count > 0 { places[index].row.drops[reason, default: 0] += count }
            places[index].readAhead.removeAll { numbers.contains($0.record.sequence) }
            places[index].version += 1
            places[index].isChanged = true
        }
        erased = all
        unsavedErased.formUnion(numbers)
        skipErased()
    }

    /// Moves cursors past sequence numbers without samples.
    mutating func skipErased() {
        for index in places.indices {
            places[index].row.cursor = nextPresent(from: places[index].row.cursor)
        }
    }

    /// The first number from `number` on that is not erased. Withdrawn samples that are not in the log yet have numbers
    /// behind its end: a cursor waits for them at the end.
    func nextPresent(from number: UInt64) -> UInt64 {
        min(erased.firstAbsent(from: number), max(number, log.nextSequence))
    }

    /// Counts samples as erased for the backends that have not passed them, and removes them from the samples that were
    /// read ahead. Returns the numbers of the letters that are erased.
    mutating func erase(_ sequences: SequenceSet, _ letters: [String: Set<UInt64>]) -> Set<UInt64> {
        remove(sequences, countedAs: .erased)
        var allGone: Set<UInt64> = []
        for index in places.indices {
            // A delivery may have ended since the letters were read: it settles retries, and makes letters of samples.
            let gone = (letters[places[index].row.name] ?? [])
                .union(places[index].newLetters.map(\.sequence).filter(sequences.contains))
                .subtracting(places[index].goneLetters)
            let retried = places[index].retries.filter { gone.contains($0.sequence) }.count
            if !gone.isEmpty { places[index].row.drops[.erased, default: 0] += gone.count }
            places[index].row.dead -= gone.count - retried
            places[index].retries.removeAll { gone.contains($0.sequence) }
            places[index].removeLetters(gone)
            allGone.formUnion(gone)
        }
        return allGone
    }
}
