/// Where the whole records of a damaged segment are, in the order of their numbers.
///
/// A page of the file may be damaged, missing, doubled, or stand in the place of another: what is whole is found wherever it
/// is. Takes time linear in the segment's size, whatever is in it.
struct RecordIndex: Sendable {
    /// A whole record.
    struct Entry: Hashable, Sendable {
        let sequence: UInt64
        let offset: Int
    }

    /// In the order of their numbers, each number once.
    private(set) var entries: [Entry] = []
    /// How many bytes went into checksums.
    private(set) var checkedBytes = 0

    /// Searches a segment.
    ///
    /// - Parameters:
    ///   - bytes: the segment, header included, up to where records may end.
    ///   - first: the smallest number that may be in it.
    ///   - origin: the number of its first sample, as its header says.
    ///   - end: the number behind its last sample, if its header says so.
    init(of bytes: UnsafeRawBufferPointer, first: UInt64, origin: UInt64, end: UInt64?) {
        let room = UInt64(max(0, bytes.count - SegmentHeader.size) / Segment.minRecordSize)
        let most = max(origin, first) + room + Segment.maxGap
        let numbers = first..<max(first, min(end ?? most, most))
        var search = RecordSearch(bytes, numbers)
        let runs = search.runs()
        checkedBytes = search.checkedBytes
        var choice = RecordChoice(runs, isEndKnown: end.map { $0 <= most } ?? false)
        entries = choice.entries()
    }

    /// The record with the smallest number from `sequence` on.
    func first(from sequence: UInt64) -> Entry? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].sequence >= sequence { high = middle } else { low = middle + 1 }
        }
        return low < entries.count ? entries[low] : nil
    }
}
