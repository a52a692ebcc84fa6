internal import CDurableShim
internal import Instrument

extension Segment {
    /// The beginning of an erased payload; the rest is zeros.
    static var erasedKind: UInt8 { 0xFF }

    /// Replaces the file by a copy without the given samples, and returns the copy; nil if the segment contains none of
    /// them.
    ///
    /// Also overwrites bytes outside readable samples, because they may belong to an erased sample.
    ///
    /// Writes a copy, because other threads may be reading the old bytes, which are freed with the last reader. Sizes
    /// and offsets stay. The segment must be sealed.
    func rewritten(without erased: SequenceSet, end: Int) throws(QueueError) -> Segment? {
        let end = readableEnd(end)
        var bytes = [UInt8](UnsafeRawBufferPointer(start: base, count: end))
        var (offset, last): (Int, UInt64?) = (SegmentHeader.size, nil)
        var known: [Range<Int>] = []
        var isChanged = false
        while let (begin, record) = nextRecord(from: offset, before: end, after: last) {
            (offset, last) = (record.next, record.sequence)
            known.append(begin..<record.next)
            if record.payload.first == Self.erasedKind { continue }
            let isReadable = (try? SampleDecoder.read(record.payload)) != nil
            if isReadable, !erased.contains(record.sequence) { continue }
            Self.erase(recordAt: begin, length: record.payload.count, in: &bytes)
            isChanged = true
        }
        if Self.clearAll(but: known, from: SegmentHeader.size, in: &bytes) { isChanged = true }
        guard isChanged else { return nil }
        try Directory.replace(path, by: bytes)
        return try Segment.existing(path, first: first)
    }

    /// Overwrites the bytes between ranges with zeros. Returns false if they are zeros.
    private static func clearAll(but known: [Range<Int>], from start: Int, in bytes: inout [UInt8]) -> Bool {
        var (offset, isChanged) = (start, false)
        for range in known.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if offset < range.lowerBound, clear(offset..<range.lowerBound, in: &bytes) { isChanged = true }
            offset = max(offset, range.upperBound)
        }
        if offset < bytes.count, clear(offset..<bytes.count, in: &bytes) { isChanged = true }
        return isChanged
    }

    /// Overwrites bytes with zeros. Returns false if they are zeros.
    private static func clear(_ range: Range<Int>, in bytes: inout [UInt8]) -> Bool {
        let range = range.clamped(to: bytes.indices)
        guard bytes[range].contains(where: { $0 != 0 }) else { return false }
        for index in range { bytes[index] = 0 }
        return true
    }

    private static func erase(recordAt offset: Int, length: Int, in bytes: inout [UInt8]) {
        let payload = offset + recordHeaderSize..<offset + recordHeaderSize + length
        for index in payload { bytes[index] = 0 }
        bytes[payload.lowerBound] = erasedKind
        bytes.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            let crc = durable_crc32c(0, base + offset + 8, length + 8)
            base.storeBytes(of: crc.littleEndian, toByteOffset: offset + 4, as: UInt32.self)
        }
    }
}
