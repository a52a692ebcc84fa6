internal import Instrument

/// Positions in the log, and the sizes of its parts.
extension SegmentedLog {
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

    private func stretch(of sequence: UInt64) -> Stretch? { stretches.first { sequence < $0.endSequence } }
}
