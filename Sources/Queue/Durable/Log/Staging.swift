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
        /// The area of records that are larger than a half; nil for records in the half.
        var large: Large?
    }

    /// Records that are larger than a half, in a separate area.
    struct Large {
        let area: StagingArea
        let size: Int
    }

    /// Samples that were staged.
    struct Added {
        /// The size of their records in bytes.
        let size: Int
        /// Whether they are larger than a half.
        var isLarge = false
        /// Whether their memory outlives the process.
        let isLasting: Bool
    }

    /// A half that is being copied.
    struct Taken {
        /// Keeps the memory of the half: the store may give its area up during the copy.
        let area: StagingArea
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

    /// The size of the records in separate areas.
    private var largeBytes = 0

    /// The size of all records that are not in the log yet.
    var bytes: Int { filled + largeBytes + (taken.map { ($0.units.last?.end ?? $0.start) - $0.start } ?? 0) }

    var isEmpty: Bool { units.isEmpty && taken == nil }

    /// The areas of records that are larger than a half.
    var largeAreas: [StagingArea] { ((taken?.units ?? []) + units).compactMap { $0.large?.area } }

    /// The largest size of all records that are larger than a half: a disk that does not respond must not fill the
    /// memory. A single append may be larger.
    static var largeLimit: Int { 16 << 20 }

    /// The reason for which samples were not staged.
    enum Refusal: Error {
        /// The memory is in use: wait for the copy of one half.
        case full
        /// Larger than `limit`.
        case overLimit
        /// The system has no memory for records that are larger than a half.
        case failed(QueueError)
    }

    /// Stages samples, all of them or none.
    ///
    /// - Parameter limit: the largest size of the samples in bytes.
    mutating func add(_ samples: [Sample], from sequence: UInt64, limit: Int) throws(Refusal) -> Added {
        if let size = write(samples, from: sequence, limit: limit) { return added(size) }
        // The empty half may have room.
        if taken == nil, !units.isEmpty {
            take()
            if let size = write(samples, from: sequence, limit: limit) { return added(size) }
        }
        if filled > 0, limit >= area.halfSize, fitsEmptyHalf(samples) { throw .full }
        let records = samples.enumerated().flatMap { index, sample in
            RecordFormat.bytes(of: SampleEncoder.bytes(of: sample), sequence: sequence + UInt64(index))
        }
        if records.count > limit { throw .overLimit }
        // A writer reserves a few bytes more than it needs.
        if filled > 0, records.count <= area.halfSize - 64 { throw .full }
        return try addLarge(records, next: sequence + UInt64(samples.count), samples.last?.time.instant)
    }

    /// Whether samples are so much smaller than a half that nobody need encode them to know that they have room in an
    /// empty one.
    private func fitsEmptyHalf(_ samples: [Sample]) -> Bool {
        samples.reduce(0) { $0 + $1.estimatedSize } <= area.halfSize / 4
    }

    private func added(_ size: Int) -> Added { Added(size: size, isLasting: area.outlivesProcess) }

    /// Stages records in a separate area.
    private mutating func addLarge(
        _ records: [UInt8],
        next: UInt64,
        _ instant: MonotonicInstant?
    ) throws(Refusal) -> Added {
        if largeBytes > 0, largeBytes + records.count > Self.largeLimit { throw .full }
        let large: Large
        do throws(QueueError) {
            // Room for the mark after the last record, which new memory has.
            large = Large(area: try area.makeSibling(size: records.count + 8, first: next), size: records.count)
        } catch { throw .failed(error) }
        area.note(next: next)
        large.area.note(next: next)
        large.area.fill(with: records)
        area.note(staged: next)
        largeBytes += records.count
        let instant = instant ?? MonotonicInstant(nanoseconds: 0)
        units.append(Unit(end: filled, endSequence: next, instant: instant, large: large))
        return Added(size: records.count, isLarge: true, isLasting: large.area.outlivesProcess)
    }

    /// Takes the filled half for copying. Does nothing if no half is filled, or one half is already taken.
    mutating func take() {
        guard taken == nil, !units.isEmpty else { return }
        taken = Taken(area: area, base: area.half(active), start: 0, units: units[...])
        swap(&units, &emptied)
        units.removeAll(keepingCapacity: true)
        (active, filled) = (1 - active, 0)
        RecordFormat.terminate(area.half(active), at: 0)
    }

    /// Records that the first `count` units of the taken half are in the log.
    mutating func copied(_ count: Int) {
        guard var half = taken, let last = half.units.prefix(count).last else { return }
        for large in half.units.prefix(count).lazy.compactMap(\.large) {
            largeBytes -= large.size
            // These units would hold the area's memory until a later half is taken.
            emptied = []
        }
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
        // By index: a loop over the elements would copy each sample.
        for index in samples.indices {
            let begin = writer.offset
            writer.skip(RecordFormat.headerSize)
            encoder.write(samples[index], to: &writer)
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
        area.note(staged: sequence)
        filled = writer.offset
        units.append(Unit(end: filled, endSequence: sequence, instant: last.time.instant))
        return filled - start
    }
}

extension Staging {
    /// Overwrites the empty half, unless it is being copied.
    func wipeEmptyHalf() { if taken == nil { area.wipe(1 - activeHalf) } }
}
