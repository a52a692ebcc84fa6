internal import Instrument

/// Records between `append`, which stages them, and the draining thread, which copies them into the log.
///
/// Not thread-safe: its owner protects it by a lock. Only the bytes of a taken half are read outside that lock.
struct Staging {
    /// The records of one `append`, which belong in one segment.
    struct Unit {
        /// Its end in the half.
        var end: Int
        /// The sequence number after its last sample.
        var endSequence: UInt64
        /// The instant of its last sample.
        var instant: MonotonicInstant
    }

    /// A half that is being copied.
    struct Taken {
        let base: UnsafeMutableRawPointer
        /// The beginning of the part that is not copied.
        var start: Int
        var units: ArraySlice<Unit>
    }

    let area: StagingArea
    private var encoder = SampleEncoder()
    /// The half that `append` fills.
    private var active = 0
    fileprivate var activeHalf: Int { active }
    private var filled = 0
    private var units: [Unit] = []
    private(set) var taken: Taken?
    /// The units of the last copied half, retained to reuse their memory.
    private var emptied: [Unit] = []

    init(_ area: StagingArea) {
        self.area = area
        units.reserveCapacity(256)
    }

    /// The size of all records that are not in the log yet.
    var bytes: Int { filled + (taken.map { ($0.units.last?.end ?? $0.start) - $0.start } ?? 0) }

    var isEmpty: Bool { filled == 0 && taken == nil }

    /// The reason for which samples were not staged.
    enum Refusal: Error {
        /// Both halves are in use: wait for the copy of one half.
        case full
        /// Larger than a half.
        case tooLarge
        /// Larger than `limit`.
        case overLimit
    }

    /// Stages samples, all of them or none. Returns their size.
    ///
    /// - Parameter limit: the largest size of the samples in bytes.
    mutating func add(_ samples: [Sample], from sequence: UInt64, limit: Int) throws(Refusal) -> Int {
        if let size = write(samples, from: sequence, limit: limit) { return size }
        // The empty half may have room.
        if filled > 0 {
            if taken != nil { throw .full }
            take()
        }
        if let size = write(samples, from: sequence, limit: limit) { return size }
        throw limit < area.halfSize ? .overLimit : .tooLarge
    }

    /// Takes the filled half for copying. Does nothing if no half is filled, or one half is already taken.
    mutating func take() {
        guard taken == nil, filled > 0 else { return }
        taken = Taken(base: area.half(active), start: 0, units: units[...])
        swap(&units, &emptied)
        units.removeAll(keepingCapacity: true)
        (active, filled) = (1 - active, 0)
        RecordFormat.terminate(area.half(active), at: 0)
    }

    /// Records that the first `count` units of the taken half are in the log.
    mutating func copied(_ count: Int) {
        guard var half = taken, let last = half.units.prefix(count).last else { return }
        half.start = last.end
        half.units.removeFirst(min(count, half.units.count))
        taken = half.units.isEmpty ? nil : half
    }

    /// Writes samples after the staged ones; nil, without a change, if they do not fit.
    ///
    /// Commits the first record last, so that after a crash either all records exist or none.
    private mutating func write(_ samples: [Sample], from first: UInt64, limit: Int) -> Int? {
        let base = area.half(active)
        let start = filled
        // Room for the mark after the last record.
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
    /// Overwrites the empty half, unless it is being copied.
    func wipeEmptyHalf() { if taken == nil { area.wipe(1 - activeHalf) } }
}
