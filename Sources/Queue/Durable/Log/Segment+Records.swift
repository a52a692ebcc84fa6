internal import Instrument

extension Segment {
    /// The smallest size of a record.
    static var minRecordSize: Int { recordHeaderSize + 8 }
    /// The largest number of sequence numbers without samples in a segment, after failed writes.
    static var maxGap: UInt64 { 1 << 16 }

    /// The next complete record by sequence number. Skips damage.
    ///
    /// Without damage, records are adjacent and their sequence numbers have no gap. The first record that differs
    /// starts a search through the whole segment (``RecordIndex``), whose result is cached.
    /// - Parameters:
    ///   - offset: the offset of the record if nothing is damaged.
    ///   - limit: the end of the last record.
    ///   - sequence: the sequence number before the wanted record; nil for the first record.
    ///   - endSequence: the sequence number after the last record, if known; otherwise the header's, if the segment is
    ///     sealed.
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
        // Either every record was found, or the remaining records are in a wrong place.
        guard wanted < endSequence ?? sealedEndSequence ?? 0 else { return nil }
        return next(wanted, in: index(limit), limit)
    }

    /// Discards the cached index, because the segment's end has become known or its bytes have changed.
    func forgetIndex() { damageIndex.withLock { $0 = nil } }

    private func next(_ wanted: UInt64, in index: RecordIndex, _ limit: Int) -> (offset: Int, record: Record)? {
        var wanted = wanted
        while let entry = index.first(from: wanted) {
            if let record = record(at: entry.offset, before: limit) { return (entry.offset, record) }
            // The damage is newer than the index.
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

    /// The sequence number after the last record, from the header; nil if it is missing or impossible.
    var sealedEndSequence: UInt64? {
        guard let header else { return .max }
        return header.plausibleCount.map { header.first + $0 }
    }
}

extension SegmentHeader {
    /// The number of samples, if the segment is sealed and has room for them.
    var plausibleCount: UInt64? {
        guard let sealed, sealed.end >= UInt64(Self.size), sealed.end < UInt64(Int64.max),
            sealed.count <= (sealed.end - UInt64(Self.size)) / UInt64(Segment.minRecordSize) + Segment.maxGap
        else { return nil }
        return sealed.count
    }
}
