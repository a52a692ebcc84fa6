internal import Instrument

extension Segment {
    /// The smallest room that a record takes.
    static var minRecordSize: Int { recordHeaderSize + 8 }
    /// How many numbers may be left out in a segment, because what had them could not be written.
    static var maxGap: UInt64 { 1 << 16 }

    /// The next whole record by number, whatever is damaged between.
    ///
    /// As long as nothing is damaged, records follow one another without gaps in their numbers. The first one that does not
    /// leads to a search through the whole segment (``RecordIndex``), whose result is kept.
    /// - Parameters:
    ///   - offset: where the record stands if nothing is damaged.
    ///   - limit: where the last record ends.
    ///   - sequence: the number that the wanted record comes after; nil for the first one.
    ///   - endSequence: the number behind the last record, if it is known; otherwise the header's, if it is sealed.
    func nextRecord(
        from offset: Int,
        before limit: Int,
        after sequence: UInt64?,
        until endSequence: UInt64? = nil
    ) -> (offset: Int, record: Record)? {
        let wanted = max(sequence.map { $0 &+ 1 } ?? first, first)
        if let index = knownIndex(limit) { return next(wanted, in: index, limit) }
        var offset = (max(offset, SegmentHeader.size) + 7) & ~7
        while offset + Self.recordHeaderSize < limit {
            guard let record = record(at: offset, before: limit), record.sequence <= wanted else {
                return next(wanted, in: index(limit), limit)
            }
            if record.sequence == wanted { return (offset, record) }
            offset = record.next
        }
        // All records that should be there were there, or the rest stands in a wrong place.
        guard wanted < endSequence ?? sealedEndSequence ?? 0 else { return nil }
        return next(wanted, in: index(limit), limit)
    }

    /// Forgets where records are: the segment's end has become known, or its bytes have changed.
    func forgetIndex() { damageIndex.withLock { $0 = nil } }

    private func next(_ wanted: UInt64, in index: RecordIndex, _ limit: Int) -> (offset: Int, record: Record)? {
        var wanted = wanted
        while let entry = index.first(from: wanted) {
            if let record = record(at: entry.offset, before: limit) { return (entry.offset, record) }
            // Damaged since.
            wanted = entry.sequence + 1
        }
        return nil
    }

    private func knownIndex(_ limit: Int) -> RecordIndex? {
        damageIndex.withLock { known in known.flatMap { $0.limit == limit ? $0.index : nil } }
    }

    private func index(_ limit: Int) -> RecordIndex {
        damageIndex.withLock { known in
            if let known, known.limit == limit { return known.index }
            let limit = min(limit, capacity)
            let bytes = UnsafeRawBufferPointer(start: base, count: readableEnd(limit))
            let index = RecordIndex(of: bytes, first: first, origin: header?.first ?? first, end: sealedEndSequence)
            known = (limit, index)
            return index
        }
    }

    /// The number behind the last record, by the header; nil if it does not tell, or says what cannot be.
    var sealedEndSequence: UInt64? {
        guard let header else { return .max }
        return header.plausibleCount.map { header.first + $0 }
    }
}

extension SegmentHeader {
    /// How many samples are in the segment, if it is sealed and has room for them.
    var plausibleCount: UInt64? {
        guard let sealed, sealed.end >= UInt64(Self.size), sealed.end < UInt64(Int64.max),
            first < FolderNames.maxNumber,
            sealed.count <= (sealed.end - UInt64(Self.size)) / UInt64(Segment.minRecordSize) + Segment.maxGap
        else { return nil }
        return sealed.count
    }
}
