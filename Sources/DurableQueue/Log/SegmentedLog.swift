internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Samples in numbered segments, of which the last one is the head.
///
/// Not thread-safe: its owner protects it by a lock. Opening reads only the headers of sealed segments, and scans the
/// last head.
struct SegmentedLog {
    /// A segment and its valid part.
    struct Stretch {
        let segment: Segment
        /// The end of the last record.
        var end: Int
        /// The sequence number after its last sample.
        var endSequence: UInt64
        /// The size of all records before this segment, since the log was opened.
        let bytesBefore: Int
        /// The instant of its newest sample; nil if unknown or of another boot of the machine.
        var newest: MonotonicInstant?

        var bytes: Int { end - SegmentHeader.size }
    }

    /// A position between two records.
    struct Position {
        /// The first sequence number of its segment.
        var segment: UInt64
        var offset: Int
    }

    let directory: String
    let log: UInt64
    let segmentSize: Int
    private(set) var stretches: ContiguousArray<Stretch> = []
    /// The sequence number after the last sample in the log.
    private(set) var nextSequence: UInt64
    /// Whether the last stretch is writable.
    private var isWritable = false
    private var firstUnsynchronized: UInt64 = 0
    /// Whether files have new names that a loss of power may revert.
    private var hasNewNames = false
    /// A segment that is created ahead, so that an append does not wait for the disk.
    private var spare: Segment?
    /// Whether a segment still has the spare's name, so that no spare can be created.
    private var isSpareNameTaken = false
    /// Work on files for a thread that may wait for the disk.
    private var chores: [Chore] = []

    /// Work that waits for the disk.
    enum Chore {
        /// The spare has become a segment and needs a new name.
        case name(Segment, isRetry: Bool = false)
        /// The segment was sealed with unused bytes.
        case cut(Segment, end: Int)
    }

    /// A file that may hold samples and cannot be opened at the moment.
    struct Unopened {
        let name: String
        /// The sequence numbers of its samples; nil if their end is unknown, because no segment follows.
        var numbers: Range<UInt64>?
        let cause: QueueError
        /// Whether it has the spare's name, and may have begun anywhere.
        var isSpare: Bool { name == FolderNames.spare }
    }

    /// Opens a directory. Existing segments are read and not extended.
    ///
    /// - Parameters:
    ///   - atLeast: the smallest sequence number for new samples.
    ///   - newest: the instants of the newest samples of segments, by the sequence numbers of their first samples.
    ///   - unopened: receives the files that cannot be opened; their sequence numbers are skipped.
    ///   - report: receives diagnostics about damage.
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
        var files = Self.segmentNumbers(names, in: directory).map { (first: $0, name: Self.name(of: $0)) }
        if names.contains(Self.spareName) {
            do throws(QueueError) {
                if let spare = try Self.nameSpare(in: directory, report) {
                    files = (files + [spare]).sorted { $0.first < $1.first }
                }
            } catch {
                if error.code == .lacksResources { throw error }
                unopened.append(Unopened(name: Self.spareName, numbers: nil, cause: error))
            }
        }
        for (file, following) in zip(files, files.dropFirst().map { Optional($0.first) } + [nil]) {
            do throws(QueueError) { try adopt(file, newest: newest[file.first], report) } catch {
                // The lack of a resource may end before the next start, which then reads all segments in their order.
                if error.code == .lacksResources { throw error }
                let numbers = following.map { file.first..<$0 }
                unopened.append(Unopened(name: file.name, numbers: numbers, cause: error))
                nextSequence = max(nextSequence, following ?? file.first)
            }
        }
        if let last = stretches.last { nextSequence = max(nextSequence, last.endSequence) }
    }

    /// Opens a directory for reading. Renames, seals, truncates and deletes nothing.
    init(viewing directory: String, log: UInt64, atLeast: UInt64, report: (String) -> Void) {
        (self.directory, self.log, segmentSize, nextSequence) = (directory, log, 0, atLeast)
        let numbers = Self.segmentNumbers(Directory.names(in: directory), in: directory)
        var files = numbers.map { (first: $0, name: Self.name(of: $0)) }
        let spare = try? Segment.existing(sparePath, first: 0, isViewed: true).header?.first
        // A segment with the spare's name is the newest one, unless its renaming failed.
        if let first = spare, !numbers.contains(first) {
            files = (files + [(first, Self.spareName)]).sorted { $0.first < $1.first }
        }
        for file in files where stretches.last.map({ $0.endSequence <= file.first }) ?? true {
            view(file.name, file.first, report)
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

    /// The number of sequence numbers to skip where samples may be missing: more than the missing samples can have.
    static var leap: UInt64 { 1 << 32 }

    /// The numbers between segments that were skipped by a leap, for a log whose bookkeeping was lost: a gap that large is no loss.
    var leaps: SequenceSet {
        var leaps = SequenceSet()
        for gap in gaps where UInt64(gap.count) >= Self.leap { leaps.append(gap) }
        return leaps
    }

    /// The numbers between segments.
    var gaps: [Range<UInt64>] {
        zip(stretches, stretches.dropFirst()).map { $0.endSequence..<max($0.endSequence, $1.segment.first) }
            .filter { !$0.isEmpty }
    }

    /// The sequence number of the oldest sample that may be stored.
    var startSequence: UInt64 { stretches.first?.segment.first ?? nextSequence }
    /// The size of all records up to the end, since the log was opened.
    var byteEnd: Int { stretches.last.map { $0.bytesBefore + $0.bytes } ?? 0 }

    /// The stretches that are no longer writable.
    var sealedStretches: ArraySlice<Stretch> { stretches.dropLast(isWritable ? 1 : 0) }

    /// Removes the segments whose samples are all before `sequence`, and returns them for deletion.
    mutating func trim(to sequence: UInt64) -> [Segment] {
        let count = stretches.dropLast(isWritable ? 1 : 0).prefix { $0.endSequence <= sequence }.count
        defer { stretches.removeFirst(count) }
        return stretches.prefix(count).map(\.segment)
    }

    /// Whether a segment has only samples before `sequence`.
    func canTrim(to sequence: UInt64) -> Bool { sealedStretches.first.map { $0.endSequence <= sequence } ?? false }

    /// The writes since the last synchronization.
    struct Unsynchronized {
        let segments: [Segment]
        let hasNewNames: Bool
        fileprivate let first: UInt64

        var isEmpty: Bool { segments.isEmpty && !hasNewNames }
    }

    /// Returns the unsynchronized writes, once.
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

    /// Restores writes whose synchronization failed, so that the next call returns them.
    mutating func putBack(_ work: Unsynchronized) {
        firstUnsynchronized = min(firstUnsynchronized, work.first)
        hasNewNames = hasNewNames || work.hasNewNames
    }

    /// Sets the age of each stretch of unknown age to `now`.
    mutating func prepareForAge(now: MonotonicInstant) {
        for index in stretches.indices {
            guard let newest = stretches[index].newest, newest <= now else {
                stretches[index].newest = now
                continue
            }
        }
    }

    /// The position of a sequence number; the log's end if its sample is not written yet.
    func position(of sequence: UInt64) -> Position {
        guard let stretch = stretch(of: sequence) else {
            return Position(segment: stretches.last?.segment.first ?? nextSequence, offset: stretches.last?.end ?? 0)
        }
        // The beginning of a segment is known without reading, because `append` calls this method and must not wait for
        // a disk.
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

    /// The size of the segments with samples from a sequence number on.
    func bytes(from sequence: UInt64) -> Int {
        if sequence >= nextSequence { return 0 }
        let index = stretches.partitioningIndex { sequence < $0.endSequence }
        return index < stretches.endIndex ? byteEnd - stretches[index].bytesBefore : 0
    }

    /// The size of all records before a position, since the log was opened.
    func bytes(before position: Position) -> Int {
        guard let stretch = stretches.first(where: { $0.segment.first == position.segment }) else {
            return stretches.first?.bytesBefore ?? 0
        }
        return stretch.bytesBefore + max(0, position.offset - SegmentHeader.size)
    }

    /// The stretches from a position on, for reading outside the owner's lock.
    func stretches(from position: Position) -> ArraySlice<Stretch> {
        let index = stretches.firstIndex { $0.segment.first >= position.segment } ?? stretches.endIndex
        return stretches[index...]
    }

    /// Replaces a segment by its rewritten copy. Returns false if the segment was removed.
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

    /// The writable segment, and the end of its last record.
    var head: (segment: Segment, end: Int)? { isWritable ? stretches.last.map { ($0.segment, $0.end) } : nil }

    /// The instant of the head's newest sample.
    var headNewest: MonotonicInstant? { isWritable ? stretches.last?.newest : nil }

    /// Sets the end of the head.
    mutating func fill(to end: Int, endSequence: UInt64, newest: MonotonicInstant?) {
        guard isWritable, let index = stretches.indices.last else { return }
        stretches[index].end = end
        stretches[index].endSequence = endSequence
        if let newest { stretches[index].newest = newest }
        nextSequence = endSequence
    }

    /// Returns the spare if it is large enough. Otherwise the caller creates a segment.
    mutating func takeSpare(atLeast size: Int) -> Segment? {
        guard let spare, spare.capacity >= size else { return nil }
        self.spare = nil
        noteUnnamed(spare)
        return spare
    }

    /// Makes a segment the head. It begins with the next sample.
    mutating func begin(_ segment: Segment) {
        stretches.append(
            Stretch(segment: segment, end: SegmentHeader.size, endSequence: segment.first, bytesBefore: byteEnd)
        )
        nextSequence = segment.first
        isWritable = true
        hasNewNames = true
    }

    /// Ends the writes to the head, without a seal.
    mutating func leaveHead() { isWritable = false }

    /// Records that the head was sealed and is no longer writable.
    mutating func headIsSealed() {
        guard isWritable, let last = stretches.last else { return }
        isWritable = false
        chores.append(.cut(last.segment, end: last.end))
    }

    /// Removes an empty head, and returns it for deletion.
    mutating func takeEmptyHead() -> Segment? {
        guard isWritable, let last = stretches.last, last.end == SegmentHeader.size else { return nil }
        isWritable = false
        stretches.removeLast()
        return last.segment
    }

    /// Skips sequence numbers, so that no other sample uses them.
    mutating func skip(to sequence: UInt64) { nextSequence = max(nextSequence, sequence) }

    /// Whether work that waits for the disk is due.
    var needsChores: Bool { !chores.isEmpty || missingSpare != nil }
    /// The path of the spare.
    var sparePath: String { directory + "/" + Self.spareName }
    /// The size of the next spare; nil if a spare exists, the log has no head, or a segment still has the spare's name.
    var missingSpare: Int? { spare == nil && isWritable && !isSpareNameTaken ? segmentSize : nil }

    /// Returns the due work, once.
    mutating func takeChores() -> [Chore] {
        defer {
            hasNewNames = hasNewNames || !chores.isEmpty
            chores = []
        }
        return chores
    }

    private mutating func noteUnnamed(_ segment: Segment) {
        isSpareNameTaken = true
        chores.append(.name(segment))
    }

    /// Records that the renaming of a segment failed, for a retry.
    mutating func retryNaming(_ segment: Segment) { chores.append(.name(segment, isRetry: true)) }

    /// Records that no segment has the spare's name any more.
    mutating func spareNameIsFree() { isSpareNameTaken = false }

    /// Sets the spare.
    mutating func keep(spare segment: Segment) { spare = segment }

    /// Removes the spare, and returns it for deletion.
    mutating func takeSpare() -> Segment? { spare.take() }

    /// The path of the segment that begins with a sample.
    func path(of sequence: UInt64) -> String { directory + "/" + Self.name(of: sequence) }

    // MARK: Opening

    private static var spareName: String { FolderNames.spare }

    /// Renames a spare that contains samples, and returns the sequence number of its first sample and its name. Deletes
    /// an empty spare. A spare that cannot be renamed keeps its name; its samples are nevertheless read in their order.
    ///
    /// - Throws: if the spare cannot be read; then it stays. `QueueError.Code.lacksResources` if the process
    ///   temporarily lacks a resource.
    private static func nameSpare(
        in directory: String,
        _ report: (String) -> Void
    ) throws(QueueError) -> (first: UInt64, name: String)? {
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
        do throws(QueueError) { try spare.move(to: named) } catch {
            report("\(error); the store retries it")
            return (first, spareName)
        }
        return (first, name(of: first))
    }

    private mutating func adopt(
        _ file: (first: UInt64, name: String),
        newest: MonotonicInstant?,
        _ report: (String) -> Void
    ) throws(QueueError) {
        let first = file.first
        guard let segment = try Self.openOrDiscard(directory + "/" + file.name, first: first, report) else { return }
        let (end, endSequence, isSealed) = Self.extent(of: segment)
        if !isSealed, end > SegmentHeader.size, segment.header != nil {
            segment.seal(count: endSequence - first, end: end)
        }
        if end == SegmentHeader.size { return Self.discard(segment, report) }
        if segment.header?.sealed != nil { segment.cut(to: end) }
        stretches.append(
            Stretch(segment: segment, end: end, endSequence: endSequence, bytesBefore: byteEnd, newest: newest)
        )
        if file.name == Self.spareName { noteUnnamed(segment) }
    }

    /// Opens a file; nil if it cannot contain samples.
    private static func openOrDiscard(
        _ path: String,
        first: UInt64,
        _ report: (String) -> Void
    ) throws(QueueError) -> Segment? {
        switch try Segment.opened(path, first: first) {
        case .segment(let segment): return segment
        case .missing: return nil
        case .empty:
            // A crash during its creation leaves an empty file.
            Directory.delete(path)
            return nil
        case .tooShort:
            report("\(path) is shorter than a segment's header; it was set aside")
            Directory.setAside(path)
            return nil
        }
    }

    /// Deletes a segment that was never written. Sets a damaged segment without records aside.
    private static func discard(_ segment: Segment, _ report: (String) -> Void) {
        if segment.isBlank { return segment.delete() }
        report("\(segment.path) holds no readable sample; it was set aside")
        Directory.setAside(segment.path)
    }

    /// The content of a segment, from its header or from its records.
    private static func extent(of segment: Segment) -> (end: Int, endSequence: UInt64, isSealed: Bool) {
        guard let header = segment.header, let count = header.plausibleCount, let sealed = header.sealed else {
            let (end, endSequence) = scan(segment)
            return (end, endSequence, false)
        }
        if sealed.end <= UInt64(segment.capacity) { return (Int(sealed.end), segment.first + count, true) }
        // The file was truncated: the sequence numbers of its samples are not used again.
        let (end, endSequence) = scan(segment)
        return (end, max(endSequence, segment.first + count), false)
    }

    /// Finds the end of an unsealed segment. Skips damage.
    private static func scan(_ segment: Segment) -> (end: Int, endSequence: UInt64) {
        var (offset, end, last): (Int, Int, UInt64?) = (SegmentHeader.size, SegmentHeader.size, nil)
        let limit = segment.capacity
        while let (_, record) = segment.nextRecord(from: offset, before: limit, after: last, until: .max) {
            // A page may be in the place of another page.
            (offset, end, last) = (record.next, max(end, record.next), record.sequence)
        }
        segment.forgetIndex()
        return (min(end, segment.capacity), last.map { $0 + 1 } ?? segment.first)
    }

    /// The log number in the headers of a directory's segments; nil if no header is readable.
    static func number(in directory: String) -> UInt64? {
        let names = Directory.names(in: directory)
        for path in segmentNumbers(names, in: directory).map({ directory + "/" + name(of: $0) }) + [
            directory + "/" + spareName
        ] {
            // The next segment, or the bookkeeping, has the same number.
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
        // Only regular files are segments. Others are set aside when their name is needed.
        names.compactMap { name in
            guard let number = FolderNames.segmentNumber(name) else { return nil }
            let status = Directory.status(of: directory + "/" + name)
            return status.map(Directory.isFile) ?? true ? number : nil
        }.sorted()
    }
}
