internal import Instrument

/// A sample that was read, with the position after it.
struct ReadRecord {
    let record: SampleRecord
    let after: SegmentedLog.Position
}

/// The stretches that a lane reads outside the lock.
struct Reading {
    let retries: [SampleRecord]
    let cursor: UInt64
    let position: SegmentedLog.Position
    let version: Int
    let stretches: ArraySlice<SegmentedLog.Stretch>
    /// The end of the leased batch, or of the log.
    let end: UInt64
    /// Erased samples that may still be in the segments.
    let erased: SequenceSet

    /// The same reading, from the position after a record.
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

    /// Complete records from the cursor on. Skips damage.
    func read(
        maxCount: Int,
        maxBytes: Int,
        log: UInt64
    ) -> [ReadRecord] {
        var read: [ReadRecord] = []
        var decoder = SampleDecoder()
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
                // A complete record that cannot be decoded belongs to another version, or has damage that the checksum
                // did not detect.
                guard let sample = try? decoder.read(record.payload) else { continue }
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
