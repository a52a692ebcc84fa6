internal import Instrument

/// The offsets of the complete records of a damaged segment, in the order of their sequence numbers.
///
/// A page of the file may be damaged, missing, duplicated or in the place of another page: the index finds complete
/// records at any offset. Takes time linear in the segment's size for any content.
struct RecordIndex: Sendable {
    /// A complete record.
    struct Entry: Hashable, Sendable {
        let sequence: UInt64
        let offset: Int
    }

    /// The records in the order of their sequence numbers, each number once.
    private(set) var entries: [Entry] = []
    /// The number of bytes for which checksums were computed.
    private(set) var checkedBytes = 0

    /// Searches a segment.
    ///
    /// - Parameters:
    ///   - bytes: the segment with its header, up to the end of the records.
    ///   - first: the smallest possible sequence number.
    ///   - origin: the sequence number of the first sample, from the header.
    ///   - end: the sequence number after the last sample, if the header has it.
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

    /// The record with the smallest sequence number from `sequence` on.
    func first(from sequence: UInt64) -> Entry? {
        entries[entries.partitioningIndex { $0.sequence >= sequence }...].first
    }
}
