internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Samples in numbered segments, the last of which is written to.
///
/// Not thread-safe: its owner holds a lock around it. Opening reads the headers of sealed segments only, and scans the
/// one that was being written.
struct SegmentedLog {
    /// A segment and how much of it is valid.
    struct Stretch {
        let segment: Segment
        /// Where the last record ends.
        var end: Int
        /// The number behind its last sample.
        var endSequence: UInt64
        /// The size of all records before it, since the log was opened.
        let bytesBefore: Int
        /// The instant of its newest sample; nil if that was in another boot of the machine, or nobody wrote it down.
        var newest: MonotonicInstant?

        var bytes: Int { end - SegmentHeader.size }
    }

    /// A place between two records.
    struct Position {
        /// The first number of the segment that it is in.
        var segment: UInt64
        var offset: Int
    }

    let directory: String
    let log: UInt64
    private let segmentSize: Int
    private var encoder = SampleEncoder()
    private(set) var stretches: ContiguousArray<Stretch> = []
    private(set) var nextSequence: UInt64
    /// Whether the last stretch may be written to.
    private var isWritable = false
    private var firstUnsynchronized: UInt64 = 0
    /// Made ahead, so that whoever fills a segment does not wait for the disk.
    private var spare: Segment?
    /// What is left to do with files, by somebody who may wait for the disk.
    private var chores: [Chore] = []

    /// Work that waits for the disk.
    enum Chore {
        /// The spare has become a segment, and needs its name.
        case name(Segment)
        /// It was sealed with room left.
        case cut(Segment, end: Int)
    }

    /// Opens a directory; what is in it is read, not written to again.
    ///
    /// - Parameters:
    ///   - atLeast: a number below which none is given again.
    ///   - newest: the instants of the newest samples of segments, by the numbers of their first samples.
    init(
        directory: String,
        segmentSize: Int,
        log: UInt64,
        atLeast: UInt64,
        newest: [UInt64: MonotonicInstant]
    ) throws(QueueError) {
        self.directory = directory
        self.log = log
        self.segmentSize = max(4096, segmentSize)
        nextSequence = atLeast
        for name in Directory.names(in: directory)
        where name.hasSuffix(Directory.replacementEnding) && FolderNames.isFile(name) {
            Directory.delete(directory + "/" + name)
        }
        Self.nameSpare(in: directory)
        for first in Self.segmentNumbers(in: directory) { try adopt(first, newest: newest[first]) }
        if let last = stretches.last { nextSequence = max(nextSequence, last.endSequence) }
    }

    /// Opens a directory to be looked at: nothing in it is named, sealed, cut or deleted.
    init(viewing directory: String, log: UInt64, atLeast: UInt64, report: (String) -> Void) {
        (self.directory, self.log, segmentSize, nextSequence) = (directory, log, 0, atLeast)
        for first in Self.segmentNumbers(in: directory) { view(Self.name(of: first), first, report) }
        let spare = try? Segment(opening: sparePath, first: 0, isViewed: true).header?.first
        // What a crash left without its name.
        if let first = spare, stretches.last.map({ $0.endSequence <= first }) ?? true {
            view(Self.spareName, first, report)
        }
        if let last = stretches.last { nextSequence = max(nextSequence, last.endSequence) }
    }

    private mutating func view(_ name: String, _ first: UInt64, _ report: (String) -> Void) {
        do throws(QueueError) {
            guard Directory.size(of: directory + "/" + name) ?? 0 >= SegmentHeader.size else { return }
            let segment = try Segment(opening: directory + "/" + name, first: first, isViewed: true)
            let (end, endSequence, _) = Self.extent(of: segment)
            if end == SegmentHeader.size { return }
            stretches.append(Stretch(segment: segment, end: end, endSequence: endSequence, bytesBefore: byteEnd))
        } catch {
            report("\(error)")
        }
    }

    /// The number of the oldest sample that may be there.
    var startSequence: UInt64 { stretches.first?.segment.first ?? nextSequence }
    /// The size of all records.
    var bytes: Int { (stretches.last.map { $0.bytesBefore + $0.bytes } ?? 0) - (stretches.first?.bytesBefore ?? 0) }
    /// The size of all records up to the end, since the log was opened.
    var byteEnd: Int { stretches.last.map { $0.bytesBefore + $0.bytes } ?? 0 }

    /// Those that are not written to any more.
    var sealedStretches: ArraySlice<Stretch> { stretches.dropLast(isWritable ? 1 : 0) }

    /// Adds samples, all of them or none; returns their size.
    mutating func append(_ samples: [Sample]) throws(QueueError) -> Int {
        if isWritable, let size = write(samples) { return size }
        try beginSegment(atLeast: 0)
        if let size = write(samples) { return size }
        // Larger than a segment: one of its own, as large as it takes.
        var needed = segmentSize
        while needed < 1 << 30 {
            needed *= 4
            try beginSegment(atLeast: needed)
            if let size = write(samples) { return size }
        }
        throw QueueError(.storeFailed, "a sample of more than a gigabyte is not kept")
    }

    /// Lets go of whole segments that only hold samples before `sequence`, and returns them to be deleted.
    mutating func trim(to sequence: UInt64) -> [Segment] {
        let count = stretches.dropLast(isWritable ? 1 : 0).prefix { $0.endSequence <= sequence }.count
        defer { stretches.removeFirst(count) }
        return stretches.prefix(count).map(\.segment)
    }

    /// What was written to since this was last asked for.
    mutating func unsynchronizedSegments() -> [Segment] {
        defer { firstUnsynchronized = stretches.last?.segment.first ?? nextSequence }
        return stretches.filter { $0.segment.first >= firstUnsynchronized }.map(\.segment)
    }

    /// Says that nothing is younger than `now` of what it is not known how old it is, and ends the current segment if that is
    /// older than `cutoff`.
    mutating func prepareForAge(now: MonotonicInstant, cutoff: MonotonicInstant) {
        for index in stretches.indices {
            guard let newest = stretches[index].newest, newest <= now else {
                stretches[index].newest = now
                continue
            }
        }
        if isWritable, let newest = stretches.last?.newest, newest < cutoff { sealCurrent() }
    }

    /// Where a sample is, or would be; the log's end if it is not written yet.
    func position(of sequence: UInt64) -> Position {
        guard let stretch = stretch(of: sequence) else {
            return Position(segment: stretches.last?.segment.first ?? nextSequence, offset: stretches.last?.end ?? 0)
        }
        var offset = SegmentHeader.size
        var last: UInt64?
        let (segment, limit) = (stretch.segment, stretch.segment.readableEnd(stretch.end))
        while case (let found, let record)? = segment.nextRecord(
            from: offset,
            before: limit,
            after: last,
            until: stretch.endSequence
        ) {
            if record.sequence >= sequence { return Position(segment: stretch.segment.first, offset: found) }
            (offset, last) = (record.next, record.sequence)
        }
        return Position(segment: stretch.segment.first, offset: stretch.end)
    }

    /// The size of all records before a position, since the log was opened.
    func bytes(before position: Position) -> Int {
        guard let stretch = stretches.first(where: { $0.segment.first == position.segment }) else {
            return stretches.first?.bytesBefore ?? 0
        }
        return stretch.bytesBefore + max(0, position.offset - SegmentHeader.size)
    }

    /// The stretches from a position on, to be read outside the owner's lock.
    func stretches(from position: Position) -> ArraySlice<Stretch> {
        let index = stretches.firstIndex { $0.segment.first >= position.segment } ?? stretches.endIndex
        return stretches[index...]
    }

    /// Puts a rewritten segment in the place of the old one; false if that is gone already.
    mutating func replace(_ segment: Segment) -> Bool {
        guard let index = stretches.firstIndex(where: { $0.segment.first == segment.first }) else { return false }
        let old = stretches[index]
        stretches[index] = Stretch(
            segment: segment,
            end: old.end,
            endSequence: old.endSequence,
            bytesBefore: old.bytesBefore,
            newest: old.newest
        )
        return true
    }

    private func stretch(of sequence: UInt64) -> Stretch? { stretches.first { sequence < $0.endSequence } }

    // MARK: Writing

    /// Writes samples to the current segment; nil, and nothing written, if they do not fit.
    private mutating func write(_ samples: [Sample]) -> Int? {
        guard let index = stretches.indices.last else { return nil }
        let segment = stretches[index].segment
        let start = stretches[index].end
        var writer = segment.writer(at: start)
        var begins = start
        var sequence = nextSequence
        for sample in samples {
            writer.skip(Segment.recordHeaderSize)
            encoder.write(sample, to: &writer)
            let end = writer.offset
            writer.align()
            if writer.didOverflow {
                segment.takeBack(from: start, to: begins)
                return nil
            }
            segment.finish(recordAt: begins, end: end, sequence: sequence)
            segment.commit(recordAt: begins, end: end)
            begins = writer.offset
            sequence += 1
        }
        nextSequence = sequence
        stretches[index].newest = samples.last?.time.instant
        stretches[index].end = begins
        stretches[index].endSequence = sequence
        return begins - start
    }

    private mutating func beginSegment(atLeast size: Int) throws(QueueError) {
        let bytesBefore = byteEnd
        sealCurrent()
        let header = SegmentHeader(log: log, first: nextSequence)
        let segment = try nextSegment(size)
        segment.begin(header)
        stretches.append(
            Stretch(
                segment: segment,
                end: SegmentHeader.size,
                endSequence: nextSequence,
                bytesBefore: bytesBefore
            )
        )
        isWritable = true
    }

    /// The spare; without one, or if it is too small, one that is made now, which waits for the disk.
    private mutating func nextSegment(_ size: Int) throws(QueueError) -> Segment {
        guard let spare, spare.capacity >= size else {
            return try Segment(creating: path(of: nextSequence), capacity: max(segmentSize, size))
        }
        self.spare = nil
        chores.append(.name(spare))
        return spare
    }

    /// Whether there is something to do that waits for the disk.
    var needsChores: Bool { !chores.isEmpty || spare == nil && isWritable }
    /// Where a spare lies until it has a name.
    var sparePath: String { directory + "/" + Self.spareName }
    /// How large a spare has to be; nil if there is one, or nothing is written.
    var missingSpare: Int? { spare == nil && isWritable ? segmentSize : nil }

    /// What is to be done, once.
    mutating func takeChores() -> [Chore] {
        defer { chores = [] }
        return chores
    }

    /// Keeps a segment for later.
    mutating func keep(spare segment: Segment) { spare = segment }

    /// Gives up the spare, to be deleted.
    mutating func takeSpare() -> Segment? { spare.take() }

    /// Where the segment belongs that begins with a sample.
    func path(of sequence: UInt64) -> String { directory + "/" + Self.name(of: sequence) }

    /// Ends the current segment; one that holds nothing goes.
    mutating func sealCurrent() {
        guard isWritable, let last = stretches.last else { return }
        isWritable = false
        if last.end == SegmentHeader.size {
            last.segment.delete()
            stretches.removeLast()
        } else {
            last.segment.seal(count: last.endSequence - last.segment.first, end: last.end)
            chores.append(.cut(last.segment, end: last.end))
        }
    }

    /// The segment that is written to.
    var head: Segment? { isWritable ? stretches.last?.segment : nil }

    /// Writes nothing more to the current segment, not even that it has ended.
    mutating func leaveHead() { isWritable = false }

    // MARK: Opening

    private static var spareName: String { FolderNames.spare }

    /// A spare that was written to gets the name that it had no time for; one that was not goes.
    private static func nameSpare(in directory: String) {
        let path = directory + "/" + spareName
        guard let size = Directory.size(of: path) else { return }
        if size >= SegmentHeader.size, let spare = try? Segment(opening: path, first: 0), let header = spare.header,
            spare.nextRecord(from: SegmentHeader.size, before: size, after: nil) != nil,
            case let name = directory + "/" + Self.name(of: header.first), Directory.size(of: name) == nil,
            (try? spare.move(to: name)) != nil
        {
            return
        }
        Directory.delete(path)
    }

    private mutating func adopt(_ first: UInt64, newest: MonotonicInstant?) throws(QueueError) {
        let path = directory + "/" + Self.name(of: first)
        guard let size = Directory.size(of: path) else { return }
        // A crash while it was made leaves it empty.
        if size == 0 { return Directory.delete(path) }
        // Set aside, so that it is not tried again at every start, and somebody can look at it.
        if size < SegmentHeader.size { return Directory.setAside(path) }
        let segment = try Segment(opening: path, first: first)
        let (end, endSequence, isSealed) = Self.extent(of: segment)
        if !isSealed {
            if end > SegmentHeader.size, segment.header != nil { segment.seal(count: endSequence - first, end: end) }
        }
        if end == SegmentHeader.size { return segment.delete() }
        if segment.header?.sealed != nil { segment.cut(to: end) }
        stretches.append(
            Stretch(segment: segment, end: end, endSequence: endSequence, bytesBefore: byteEnd, newest: newest)
        )
    }

    /// What a segment holds: as its header says, or as far as records are found.
    private static func extent(of segment: Segment) -> (end: Int, endSequence: UInt64, isSealed: Bool) {
        guard let header = segment.header, let count = header.plausibleCount, let sealed = header.sealed else {
            let (end, endSequence) = scan(segment)
            return (end, endSequence, false)
        }
        if sealed.end <= UInt64(segment.capacity) { return (Int(sealed.end), segment.first + count, true) }
        // Cut off: numbers that were given are not given to other samples.
        let (end, endSequence) = scan(segment)
        return (end, max(endSequence, segment.first + count), false)
    }

    /// Finds the end of a segment that was not sealed, past whatever is damaged.
    private static func scan(_ segment: Segment) -> (end: Int, endSequence: UInt64) {
        var (offset, end, last): (Int, Int, UInt64?) = (SegmentHeader.size, SegmentHeader.size, nil)
        let limit = segment.capacity
        while let (_, record) = segment.nextRecord(from: offset, before: limit, after: last, until: .max) {
            // A page may stand in the place of another.
            (offset, end, last) = (record.next, max(end, record.next), record.sequence)
        }
        segment.forgetIndex()
        return (min(end, segment.capacity), last.map { $0 + 1 } ?? segment.first)
    }

    /// The random number that the segments in a directory were written under; nil if none tells.
    static func number(in directory: String) -> UInt64? {
        for first in segmentNumbers(in: directory) {
            let path = directory + "/" + name(of: first)
            guard let size = Directory.size(of: path), size >= SegmentHeader.size else { continue }
            if let header = try? Segment(opening: path, first: first, isViewed: true).header { return header.log }
        }
        return nil
    }

    static func isEmpty(_ directory: String) -> Bool { segmentNumbers(in: directory).isEmpty }

    private static func name(of first: UInt64) -> String { FolderNames.segment(first) }

    private static func segmentNumbers(in directory: String) -> [UInt64] {
        // What is no file is no segment: it is set aside when its name is needed.
        Directory.names(in: directory).filter { Directory.size(of: directory + "/" + $0) != nil }
            .compactMap(FolderNames.segmentNumber).sorted()
    }
}
