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
    let segmentSize: Int
    private(set) var stretches: ContiguousArray<Stretch> = []
    /// The number behind the last sample in the log.
    private(set) var nextSequence: UInt64
    /// Whether the last stretch may be written to.
    private var isWritable = false
    private var firstUnsynchronized: UInt64 = 0
    /// Whether files got names that the directory may lose with the power.
    private var hasNewNames = false
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

    /// A file that may hold samples and cannot be opened at the moment.
    struct Unopened {
        let name: String
        /// The numbers that its samples have; nil if nobody knows where they end, because nothing follows.
        let numbers: Range<UInt64>?
        let cause: QueueError
    }

    /// Opens a directory; what is in it is read, not written to again.
    ///
    /// - Parameters:
    ///   - atLeast: a number below which none is given again.
    ///   - newest: the instants of the newest samples of segments, by the numbers of their first samples.
    ///   - unopened: receives the files that cannot be opened; their numbers are left out.
    ///   - report: receives what was found damaged.
    init(
        directory: String,
        segmentSize: Int,
        log: UInt64,
        atLeast: UInt64,
        newest: [UInt64: MonotonicInstant],
        unopened: inout [Unopened],
        report: (String) -> Void
    ) throws(QueueError) {
        self.directory = directory
        self.log = log
        self.segmentSize = max(4096, segmentSize)
        nextSequence = atLeast
        let names = try Directory.entries(of: directory)
        for name in names where FolderNames.isReplacement(name) {
            Directory.delete(directory + "/" + name)
        }
        var numbers = Self.segmentNumbers(names, in: directory)
        if names.contains(Self.spareName) {
            do throws(QueueError) {
                if let first = try Self.nameSpare(in: directory, report) { numbers = (numbers + [first]).sorted() }
            } catch {
                if error.code == .lacksResources { throw error }
                unopened.append(Unopened(name: Self.spareName, numbers: nil, cause: error))
            }
        }
        for (first, following) in zip(numbers, numbers.dropFirst().map { Optional($0) } + [nil]) {
            do throws(QueueError) { try adopt(first, newest: newest[first], report) } catch {
                // What the process lacks now it may have at the next start: then everything comes in its order.
                if error.code == .lacksResources { throw error }
                let numbers = following.map { first..<$0 }
                unopened.append(Unopened(name: Self.name(of: first), numbers: numbers, cause: error))
                nextSequence = max(nextSequence, following ?? first)
            }
        }
        if let last = stretches.last { nextSequence = max(nextSequence, last.endSequence) }
    }

    /// Opens a directory to be looked at: nothing in it is named, sealed, cut or deleted.
    init(viewing directory: String, log: UInt64, atLeast: UInt64, report: (String) -> Void) {
        (self.directory, self.log, segmentSize, nextSequence) = (directory, log, 0, atLeast)
        for first in Self.segmentNumbers(Directory.names(in: directory), in: directory) {
            view(Self.name(of: first), first, report)
        }
        let spare = try? Segment.existing(sparePath, first: 0, isViewed: true).header?.first
        // What a crash left without its name.
        if let first = spare, stretches.last.map({ $0.endSequence <= first }) ?? true {
            view(Self.spareName, first, report)
        }
        if let last = stretches.last { nextSequence = max(nextSequence, last.endSequence) }
    }

    private mutating func view(_ name: String, _ first: UInt64, _ report: (String) -> Void) {
        do throws(QueueError) {
            let path = directory + "/" + name
            guard case .segment(let segment) = try Segment.opened(path, first: first, isViewed: true) else { return }
            let (end, endSequence, _) = Self.extent(of: segment)
            if end == SegmentHeader.size { return }
            stretches.append(Stretch(segment: segment, end: end, endSequence: endSequence, bytesBefore: byteEnd))
        } catch {
            report("\(error)")
        }
    }

    /// How many numbers are left out where samples may be missing: more than any of them can have had.
    static var leap: UInt64 { 1 << 32 }

    /// The number of the oldest sample that may be there.
    var startSequence: UInt64 { stretches.first?.segment.first ?? nextSequence }
    /// The size of all records.
    var bytes: Int { (stretches.last.map { $0.bytesBefore + $0.bytes } ?? 0) - (stretches.first?.bytesBefore ?? 0) }
    /// The size of all records up to the end, since the log was opened.
    var byteEnd: Int { stretches.last.map { $0.bytesBefore + $0.bytes } ?? 0 }

    /// Those that are not written to any more.
    var sealedStretches: ArraySlice<Stretch> { stretches.dropLast(isWritable ? 1 : 0) }

    /// Lets go of whole segments that only hold samples before `sequence`, and returns them to be deleted.
    mutating func trim(to sequence: UInt64) -> [Segment] {
        let count = stretches.dropLast(isWritable ? 1 : 0).prefix { $0.endSequence <= sequence }.count
        defer { stretches.removeFirst(count) }
        return stretches.prefix(count).map(\.segment)
    }

    /// Whether whole segments hold only samples before `sequence`.
    func canTrim(to sequence: UInt64) -> Bool { sealedStretches.first.map { $0.endSequence <= sequence } ?? false }

    /// What was written since this was last asked for, and has to be synchronized.
    struct Unsynchronized {
        let segments: [Segment]
        let hasNewNames: Bool
        fileprivate let first: UInt64

        var isEmpty: Bool { segments.isEmpty && !hasNewNames }
    }

    /// Hands out what was written since this was last called.
    mutating func takeUnsynchronized() -> Unsynchronized {
        defer {
            firstUnsynchronized = isWritable ? stretches.last?.segment.first ?? nextSequence : nextSequence
            hasNewNames = false
        }
        return Unsynchronized(
            segments: stretches.filter { $0.segment.first >= firstUnsynchronized }.map(\.segment),
            hasNewNames: hasNewNames,
            first: firstUnsynchronized
        )
    }

    /// Takes back what could not be synchronized, to be handed out again.
    mutating func putBack(_ work: Unsynchronized) {
        firstUnsynchronized = min(firstUnsynchronized, work.first)
        hasNewNames = hasNewNames || work.hasNewNames
    }

    /// Gives each stretch of unknown age the age `now`.
    mutating func prepareForAge(now: MonotonicInstant) {
        for index in stretches.indices {
            guard let newest = stretches[index].newest, newest <= now else {
                stretches[index].newest = now
                continue
            }
        }
    }

    /// Where a sample is, or would be; the log's end if it is not written yet.
    func position(of sequence: UInt64) -> Position {
        guard let stretch = stretch(of: sequence) else {
            return Position(segment: stretches.last?.segment.first ?? nextSequence, offset: stretches.last?.end ?? 0)
        }
        // Nothing has to be read to find the beginning of a segment: `append` may ask, and must not wait for a disk.
        if sequence <= stretch.segment.first {
            return Position(segment: stretch.segment.first, offset: SegmentHeader.size)
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
    //
    // The owner copies records into the head outside its lock, and changes this value before and after.

    /// The segment that is written to, and where its last record ends.
    var head: (segment: Segment, end: Int)? { isWritable ? stretches.last.map { ($0.segment, $0.end) } : nil }

    /// When the newest sample of the head was made.
    var headNewest: MonotonicInstant? { isWritable ? stretches.last?.newest : nil }

    /// Says how far the head is filled.
    mutating func fill(to end: Int, endSequence: UInt64, newest: MonotonicInstant?) {
        guard isWritable, let index = stretches.indices.last else { return }
        stretches[index].end = end
        stretches[index].endSequence = endSequence
        if let newest { stretches[index].newest = newest }
        nextSequence = endSequence
    }

    /// Takes the spare if it is large enough; the caller makes a segment otherwise.
    mutating func takeSpare(atLeast size: Int) -> Segment? {
        guard let spare, spare.capacity >= size else { return nil }
        self.spare = nil
        chores.append(.name(spare))
        return spare
    }

    /// Makes a segment the head; it begins with the sample that comes next.
    mutating func begin(_ segment: Segment) {
        stretches.append(
            Stretch(segment: segment, end: SegmentHeader.size, endSequence: segment.first, bytesBefore: byteEnd)
        )
        nextSequence = segment.first
        isWritable = true
        hasNewNames = true
    }

    /// Writes nothing more to the head, not even that it has ended.
    mutating func leaveHead() { isWritable = false }

    /// Says that the head was sealed: nothing more is written to it.
    mutating func headIsSealed() {
        guard isWritable, let last = stretches.last else { return }
        isWritable = false
        chores.append(.cut(last.segment, end: last.end))
    }

    /// Takes out a head that holds nothing, to be deleted.
    mutating func takeEmptyHead() -> Segment? {
        guard isWritable, let last = stretches.last, last.end == SegmentHeader.size else { return nil }
        isWritable = false
        stretches.removeLast()
        return last.segment
    }

    /// Leaves out numbers, so that none of them is given to another sample.
    mutating func skip(to sequence: UInt64) { nextSequence = max(nextSequence, sequence) }

    /// Whether there is something to do that waits for the disk.
    var needsChores: Bool { !chores.isEmpty || spare == nil && isWritable }
    /// Where a spare lies until it has a name.
    var sparePath: String { directory + "/" + Self.spareName }
    /// How large a spare has to be; nil if there is one, or nothing is written.
    var missingSpare: Int? { spare == nil && isWritable ? segmentSize : nil }

    /// What is to be done, once.
    mutating func takeChores() -> [Chore] {
        defer {
            hasNewNames = hasNewNames || !chores.isEmpty
            chores = []
        }
        return chores
    }

    /// Keeps a segment for later.
    mutating func keep(spare segment: Segment) { spare = segment }

    /// Gives up the spare, to be deleted.
    mutating func takeSpare() -> Segment? { spare.take() }

    /// Where the segment belongs that begins with a sample.
    func path(of sequence: UInt64) -> String { directory + "/" + Self.name(of: sequence) }

    // MARK: Opening

    private static var spareName: String { FolderNames.spare }

    /// Names a spare that was written to, and returns the number of its first sample; deletes one that holds nothing.
    ///
    /// - Throws: if the spare cannot be read or named: it stays. `QueueError.Code.lacksResources` if that is because of what the
    ///   process lacks at the moment.
    private static func nameSpare(in directory: String, _ report: (String) -> Void) throws(QueueError) -> UInt64? {
        let path = directory + "/" + spareName
        guard let spare = try openOrDiscard(path, first: 0, report) else { return nil }
        guard let (_, record) = spare.nextRecord(from: SegmentHeader.size, before: spare.capacity, after: nil) else {
            discard(spare, report)
            return nil
        }
        let first = spare.header?.first ?? record.sequence
        let named = directory + "/" + name(of: first)
        if Directory.size(of: named) != nil {
            report("\(path) begins with the same sample as \(named)")
            Directory.setAside(path)
            return nil
        }
        try spare.move(to: named)
        return first
    }

    private mutating func adopt(
        _ first: UInt64,
        newest: MonotonicInstant?,
        _ report: (String) -> Void
    ) throws(QueueError) {
        guard let segment = try Self.openOrDiscard(directory + "/" + Self.name(of: first), first: first, report) else {
            return
        }
        let (end, endSequence, isSealed) = Self.extent(of: segment)
        if !isSealed, end > SegmentHeader.size, segment.header != nil {
            segment.seal(count: endSequence - first, end: end)
        }
        if end == SegmentHeader.size { return Self.discard(segment, report) }
        if segment.header?.sealed != nil { segment.cut(to: end) }
        stretches.append(
            Stretch(segment: segment, end: end, endSequence: endSequence, bytesBefore: byteEnd, newest: newest)
        )
    }

    /// Opens a file; nil if there is nothing in it that could be a sample.
    private static func openOrDiscard(
        _ path: String,
        first: UInt64,
        _ report: (String) -> Void
    ) throws(QueueError) -> Segment? {
        switch try Segment.opened(path, first: first) {
        case .segment(let segment): return segment
        case .missing: return nil
        case .empty:
            // A crash while the file was made leaves it empty.
            Directory.delete(path)
            return nil
        case .tooShort:
            report("\(path) is shorter than a segment's header; it was set aside")
            Directory.setAside(path)
            return nil
        }
    }

    /// Deletes a segment without records if it was never written to; sets it aside if it was, and is damaged.
    private static func discard(_ segment: Segment, _ report: (String) -> Void) {
        if segment.isBlank { return segment.delete() }
        report("\(segment.path) holds no readable sample; it was set aside")
        Directory.setAside(segment.path)
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
        let names = Directory.names(in: directory)
        for path in segmentNumbers(names, in: directory).map({ directory + "/" + name(of: $0) }) + [
            directory + "/" + spareName
        ] {
            // One that cannot be opened tells nothing; the next one, or the bookkeeping, knows the same number.
            if case .segment(let segment)? = try? Segment.opened(path, first: 0, isViewed: true),
                let header = segment.header
            {
                return header.log
            }
        }
        return nil
    }

    static func name(of first: UInt64) -> String { FolderNames.segment(first) }

    private static func segmentNumbers(_ names: [String], in directory: String) -> [UInt64] {
        // What is no file is no segment: it is set aside when its name is needed.
        names.compactMap { name in
            guard let number = FolderNames.segmentNumber(name) else { return nil }
            let status = Directory.status(of: directory + "/" + name)
            return status.map(Directory.isFile) ?? true ? number : nil
        }.sorted()
    }
}
