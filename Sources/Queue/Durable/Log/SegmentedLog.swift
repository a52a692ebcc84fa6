internal import Instrument

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
    /// The work on files that an append leaves to a thread that may wait for the disk.
    private var chores = SegmentChores()

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
        var files = SegmentFiles.numbers(names, in: directory).map { (first: $0, name: FolderNames.segment($0)) }
        if names.contains(FolderNames.spare) {
            do throws(QueueError) {
                if let spare = try SegmentFiles.nameSpare(in: directory, report) {
                    files = (files + [spare]).sorted { $0.first < $1.first }
                }
            } catch {
                if error.code == .lacksResources { throw error }
                unopened.append(Unopened(name: FolderNames.spare, numbers: nil, cause: error))
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
        let numbers = SegmentFiles.numbers(Directory.names(in: directory), in: directory)
        var files = numbers.map { (first: $0, name: FolderNames.segment($0)) }
        let spare = try? Segment.existing(sparePath, first: 0, isViewed: true).header?.first
        // A segment with the spare's name is the newest one, unless its renaming failed.
        if let first = spare, !numbers.contains(first) {
            files = (files + [(first, FolderNames.spare)]).sorted { $0.first < $1.first }
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
            segment.releaseFile()
            let (end, endSequence, _) = SegmentFiles.extent(of: segment)
            if end == SegmentHeader.size { return }
            stretches.append(Stretch(segment: segment, end: end, endSequence: endSequence, bytesBefore: byteEnd))
        } catch {
            report("\(error)")
        }
    }

    /// The number of sequence numbers to skip where samples may be missing: more than the missing samples can have.
    static var leap: UInt64 { 1 << 32 }

    /// The numbers between segments that were skipped by a leap, for a log whose bookkeeping was lost: a gap that large
    /// is no loss.
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
            segments: stretches(since: firstUnsynchronized).map(\.segment),
            hasNewNames: hasNewNames,
            first: firstUnsynchronized
        )
    }

    /// The stretches of unsynchronized writes, with what was written to them since.
    func stretches(of work: Unsynchronized) -> [Stretch] { stretches(since: work.first) }

    private func stretches(since first: UInt64) -> [Stretch] { stretches.filter { $0.segment.first >= first } }

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
        chores.cut(last.segment, to: last.end)
    }

    /// Removes an empty head, and returns it for deletion.
    mutating func takeEmptyHead() -> Segment? {
        guard isWritable, let last = stretches.last, last.end == SegmentHeader.size else { return nil }
        isWritable = false
        stretches.removeLast()
        return last.segment
    }

    /// The sequence number after the last sample that a segment has; nil without segments.
    var recordedEnd: UInt64? { stretches.last?.endSequence }

    /// Continues with a number that is smaller than the next one, for a sample that a segment should have.
    mutating func resume(at sequence: UInt64) { nextSequence = max(sequence, recordedEnd ?? 0) }

    /// Skips sequence numbers, so that no other sample uses them.
    mutating func skip(to sequence: UInt64) { nextSequence = max(nextSequence, sequence) }

    // MARK: Work on files

    /// Whether work that waits for the disk is due.
    var needsChores: Bool { chores.isDue || missingSpare != nil }
    /// The path of the spare.
    var sparePath: String { directory + "/" + FolderNames.spare }
    /// The size of the next spare; nil if a spare exists, the log has no head, or a segment still has the spare's name.
    var missingSpare: Int? { isWritable && chores.canCreateSpare ? nextSegmentSize : nil }
    /// The size of the next segment. It doubles with every 4,096 segments, because the system limits the number of
    /// mappings of a process (65,530 on Linux).
    var nextSegmentSize: Int { segmentSize << min(stretches.count >> 12, 10) }

    /// Returns the due work, once.
    mutating func takeChores() -> [SegmentChores.Chore] {
        let due = chores.take()
        hasNewNames = hasNewNames || !due.isEmpty
        return due
    }

    /// Returns the spare if it is large enough. Otherwise the caller creates a segment.
    mutating func takeSpare(atLeast size: Int) -> Segment? { chores.takeSpare(atLeast: size) }

    /// Records that the renaming of a segment failed, for a retry.
    mutating func retryNaming(_ segment: Segment) { chores.retryNaming(segment) }

    /// Records that no segment has the spare's name any more.
    mutating func spareNameIsFree() { chores.spareNameIsFree() }

    /// Sets the spare.
    mutating func keep(spare segment: Segment) { chores.keep(spare: segment) }

    /// Removes the spare, and returns it for deletion.
    mutating func takeSpare() -> Segment? { chores.takeSpare() }

    /// The path of the segment that begins with a sample.
    func path(of sequence: UInt64) -> String { directory + "/" + FolderNames.segment(sequence) }

    // MARK: Opening

    private mutating func adopt(
        _ file: (first: UInt64, name: String),
        newest: MonotonicInstant?,
        _ report: (String) -> Void
    ) throws(QueueError) {
        let first = file.first
        guard let segment = try SegmentFiles.openOrDiscard(directory + "/" + file.name, first: first, report) else {
            return
        }
        let (end, endSequence, isSealed) = SegmentFiles.extent(of: segment)
        if !isSealed, end > SegmentHeader.size, segment.header != nil {
            segment.seal(count: endSequence - first, end: end)
        }
        if end == SegmentHeader.size { return SegmentFiles.discard(segment, report) }
        if segment.header?.sealed != nil { segment.cut(to: end) }
        segment.releaseFile()
        stretches.append(
            Stretch(segment: segment, end: end, endSequence: endSequence, bytesBefore: byteEnd, newest: newest)
        )
        if file.name == FolderNames.spare { chores.name(segment) }
    }
}
