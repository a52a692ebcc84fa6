internal import Instrument

/// A backend's place. The bookkeeping saves it a moment later.
struct BackendPlace {
    var row: Bookkeeping.PlaceRow
    var position: SegmentedLog.Position
    /// The samples that were read and not settled, each with the position after it.
    var readAhead: [ReadRecord] = []
    /// Dead letters to retry. They come first, in separate batches.
    var retries: [SampleRecord] = []
    /// The numbers of the leased retries; nil while no retry is leased.
    var leasedRetries: [UInt64]?
    /// Counts the changes that make a concurrent read outdated.
    var version = 0
    /// Whether the place has unsaved changes, and the unsaved dead letters.
    var isChanged = false
    var newLetters: [Bookkeeping.LetterRow] = []
    var goneLetters: [UInt64] = []
    /// The saved cursor.
    var savedCursor: UInt64

    /// Whether samples of the log are leased.
    var isLogLeased: Bool { row.leaseEnd > row.cursor }

    init(row: Bookkeeping.PlaceRow, position: SegmentedLog.Position, savedCursor: UInt64? = nil) {
        self.row = row
        self.position = position
        self.savedCursor = savedCursor ?? row.cursor
    }

    /// Deletes letters, also those that are not saved yet.
    mutating func removeLetters(_ sequences: Set<UInt64>) {
        if sequences.isEmpty { return }
        newLetters.removeAll { sequences.contains($0.sequence) }
        goneLetters += sequences.sorted()
    }
}

extension BackendPlace {
    /// Computes the places of saved rows in a log.
    static func places(
        _ rows: [Bookkeeping.PlaceRow],
        in log: SegmentedLog,
        _ erased: SequenceSet,
        _ bookkeeping: Bookkeeping
    ) throws -> [BackendPlace] {
        try rows.map { row in
            var place = BackendPlace(row, in: log, erased)
            place.take(try bookkeeping.letters(of: row.name), of: log.log)
            return place
        }
    }

    private init(_ row: Bookkeeping.PlaceRow, in log: SegmentedLog, _ erased: SequenceSet) {
        var row = row
        // Samples that are missing at the beginning of the log were passed by every backend, or are lost.
        if row.cursor < log.startSequence {
            let gone = row.cursor..<log.startSequence
            let lost = gone.count - erased.count(in: gone)
            if lost > 0 { row.drops[.corrupt, default: 0] += lost }
            row.cursor = log.startSequence
        }
        self.init(row: row, position: log.position(of: row.cursor))
    }

    /// Takes over the saved letters, and counts them.
    mutating func take(_ all: [Bookkeeping.LetterRow], of log: UInt64) {
        let letters = all.filter(\.isRetried)
        // A letter whose row was damaged is lost, and the ledger says so.
        let lost = row.dead - all.count
        // Counted again, because a letter with a damaged mark is either dead or retried, not both.
        row.dead = all.count - letters.count
        if lost > 0 { row.drops[.corrupt, default: 0] += lost }
        retries = letters.compactMap { SampleRecord($0, of: log) }
    }

    /// Leases retries, at least one if any waits. Returns the leased ones as long as they are not settled, and none
    /// while samples of the log are leased: a batch stays the same until it is settled.
    mutating func leaseRetries(_ maxCount: Int, _ maxBytes: Int) -> [SampleRecord] {
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
