internal import Instrument

/// Records on their way into the log: what `append` fills, and what a thread that may wait for the disk copies.
///
/// Not thread-safe: its owner holds a lock around it. Only the bytes of a half that was taken are read outside that lock.
struct Staging {
    /// What one `append` staged: it goes into one segment, wholly.
    struct Unit {
        /// Where it ends in its half.
        var end: Int
        /// The number behind its last sample.
        var endSequence: UInt64
        /// When its last sample was made.
        var instant: MonotonicInstant
    }

    /// A half that is being copied.
    struct Taken {
        let base: UnsafeMutableRawPointer
        /// Where the part begins that was not copied yet.
        var start: Int
        var units: ArraySlice<Unit>
    }

    let area: StagingArea
    private var encoder = SampleEncoder()
    /// The half that is filled.
    private var active = 0
    fileprivate var activeHalf: Int { active }
    private var filled = 0
    private var units: [Unit] = []
    private(set) var taken: Taken?
    /// The units of the half that was copied last, kept for their memory.
    private var emptied: [Unit] = []

    init(_ area: StagingArea) {
        self.area = area
        units.reserveCapacity(256)
    }

    /// The size of all records that are not in the log yet.
    var bytes: Int { filled + (taken.map { ($0.units.last?.end ?? $0.start) - $0.start } ?? 0) }

    var isEmpty: Bool { filled == 0 && taken == nil }

    /// Why samples were not staged.
    enum Refusal: Error {
        /// Both halves are in use: wait until one was copied.
        case full
        /// Larger than a half.
        case tooLarge
        /// Larger than `limit`.
        case overLimit
    }

    /// Stages samples, all of them or none; returns their size.
    ///
    /// - Parameter limit: the most bytes that they may take.
    mutating func add(_ samples: [Sample], from sequence: UInt64, limit: Int) throws(Refusal) -> Int {
        if let size = write(samples, from: sequence, limit: limit) { return size }
        // Perhaps the empty half has room.
        if filled > 0 {
            if taken != nil { throw .full }
            take()
        }
        if let size = write(samples, from: sequence, limit: limit) { return size }
        throw limit < area.halfSize ? .overLimit : .tooLarge
    }

    /// Hands out the half that was filled; nil if no half is filled, or a half is handed out already.
    mutating func take() {
        guard taken == nil, filled > 0 else { return }
        taken = Taken(base: area.half(active), start: 0, units: units[...])
        swap(&units, &emptied)
        units.removeAll(keepingCapacity: true)
        (active, filled) = (1 - active, 0)
        RecordFormat.terminate(area.half(active), at: 0)
    }

    /// Says that the first `count` units of the half that was taken are in the log.
    mutating func copied(_ count: Int) {
        guard var half = taken, let last = half.units.prefix(count).last else { return }
        half.start = last.end
        half.units.removeFirst(min(count, half.units.count))
        taken = half.units.isEmpty ? nil : half
    }

    /// Writes samples behind those that wait; nil, and nothing staged, if they do not fit.
    ///
    /// The first record is committed last: after a crash, either all of them are there or none.
    private mutating func write(_ samples: [Sample], from first: UInt64, limit: Int) -> Int? {
        let base = area.half(active)
        let start = filled
        // Room for the mark behind the last record.
        let capacity = min(area.halfSize - 8, limit < area.halfSize ? start + limit : .max)
        var writer = RecordWriter(base: base, offset: start, capacity: capacity)
        var sequence = first
        var firstEnd = 0
        for sample in samples {
            let begin = writer.offset
            writer.skip(RecordFormat.headerSize)
            encoder.write(sample, to: &writer)
            let end = writer.offset
            writer.align()
            if writer.didOverflow { return nil }
            RecordFormat.terminate(base, at: writer.offset)
            RecordFormat.finish(base, recordAt: begin, end: end, sequence: sequence)
            if begin == start { firstEnd = end } else { RecordFormat.commit(base, recordAt: begin, end: end) }
            sequence += 1
        }
        guard let last = samples.last else { return 0 }
        area.note(next: sequence)
        RecordFormat.commit(base, recordAt: start, end: firstEnd)
        filled = writer.offset
        units.append(Unit(end: filled, endSequence: sequence, instant: last.time.instant))
        return filled - start
    }
}

extension Staging {
    /// Overwrites the half that is not filled, unless it is being copied.
    func wipeEmptyHalf() { if taken == nil { area.wipe(1 - activeHalf) } }
}
