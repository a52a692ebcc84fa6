internal import Instrument

/// A sample that was read, and the position behind it.
struct ReadRecord {
    let record: SampleRecord
    let after: SegmentedLog.Position
}

/// What a lane reads, outside the lock.
struct Reading {
    let retries: [SampleRecord]
    let cursor: UInt64
    let position: SegmentedLog.Position
    let version: Int
    let stretches: ArraySlice<SegmentedLog.Stretch>
    /// Where the batch ends that was given before, or the log.
    let end: UInt64
    /// What may still stand in the segments for a moment.
    let erased: SequenceSet

    /// The same, from behind a record on.
    func continued(behind read: ReadRecord) -> Reading {
        Reading(
            retries: [],
            cursor: read.record.sequence + 1,
            position: read.after,
            version: version,
            stretches: stretches.drop { $0.segment.first < read.after.segment },
            end: end,
            erased: erased
        )
    }

    /// Whole records from the cursor on, past whatever is damaged.
    func read(
        maxCount: Int,
        maxBytes: Int,
        log: UInt64
    ) -> [ReadRecord] {
        var read: [ReadRecord] = []
        var bytes = 0
        var last = cursor == 0 ? nil : cursor - 1
        for stretch in stretches {
            let first = stretch.segment.first
            var offset = first == position.segment ? position.offset : SegmentHeader.size
            let limit = stretch.segment.readableEnd(stretch.end)
            let (segment, endSequence) = (stretch.segment, stretch.endSequence)
            while let (begin, record) = segment.nextRecord(from: offset, before: limit, after: last, until: endSequence)
            {
                (offset, last) = (record.next, record.sequence)
                if record.sequence >= end { return read }
                if erased.contains(record.sequence) { continue }
                // A record that is whole and makes no sense is of another version, or worse luck than a checksum allows.
                guard let sample = try? SampleDecoder.read(record.payload) else { continue }
                bytes += record.next - begin
                if bytes > maxBytes, !read.isEmpty { return read }
                let id = SampleID(log: log, sequence: record.sequence)
                read.append(
                    ReadRecord(
                        record: SampleRecord(id: id, sequence: record.sequence, sample: sample),
                        after: SegmentedLog.Position(segment: first, offset: offset)
                    )
                )
                if read.count == maxCount { return read }
            }
        }
        return read
    }
}
