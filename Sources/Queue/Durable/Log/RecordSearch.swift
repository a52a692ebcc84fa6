internal import CDurableShim

/// A complete record that a search has found.
struct FoundRecord: Hashable {
    let sequence: UInt64
    let offset: Int
    let next: Int
    let isErased: Bool
}

/// Tries every offset of a segment at which a record may begin.
///
/// A segment in which many offsets look like long records would need quadratic time for their checksums. Therefore the
/// search computes the checksum of a long range from checksums of the segment's beginnings, which it computes once.
struct RecordSearch {
    private let bytes: UnsafeRawBufferPointer
    private let numbers: Range<UInt64>
    /// Checksums of the first `step`, twice `step` … bytes.
    private var beginnings: [UInt32] = []
    private(set) var checkedBytes = 0

    private static var step: Int { 64 }

    init(_ bytes: UnsafeRawBufferPointer, _ numbers: Range<UInt64>) {
        self.bytes = bytes
        self.numbers = numbers
    }

    /// All complete records in the order of their offsets. Adjacent records without a gap form a run.
    mutating func runs() -> [[FoundRecord]] {
        var runs: [[FoundRecord]] = []
        // Another page may be in the place of the header's page.
        let hasHeader = bytes.count >= SegmentHeader.size && bytes.baseAddress.flatMap { SegmentHeader($0) } != nil
        var offset = hasHeader ? SegmentHeader.size : 0
        while offset + Segment.recordHeaderSize < bytes.count {
            guard let record = record(at: offset) else {
                offset += 8
                continue
            }
            if let last = runs.last?.last, last.next == offset, last.sequence + 1 == record.sequence {
                runs[runs.count - 1].append(record)
            } else {
                runs.append([record])
            }
            offset = record.next
        }
        return runs
    }

    private mutating func record(at offset: Int) -> FoundRecord? {
        let length = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        let start = offset + Segment.recordHeaderSize
        guard length > 0, length <= bytes.count - start else { return nil }
        let sequence = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
        guard numbers.contains(sequence) else { return nil }
        let crc = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self))
        guard crc == checksum(offset + 8..<start + length) else { return nil }
        return FoundRecord(
            sequence: sequence,
            offset: offset,
            next: (start + length + 7) & ~7,
            isErased: bytes[start] == Segment.erasedKind
        )
    }

    private mutating func checksum(_ range: Range<Int>) -> UInt32 {
        let (first, last) = ((range.lowerBound + Self.step - 1) / Self.step, range.upperBound / Self.step)
        if last - first < 2 { return checksum(range, after: 0) }
        if beginnings.isEmpty { computeBeginnings() }
        let (lower, upper) = (first * Self.step, last * Self.step)
        let head = checksum(range.lowerBound..<lower, after: 0)
        // Checksums are linear: the checksum of a range follows from those of two beginnings.
        let shifted = durable_crc32c_shift(head ^ beginnings[first], UInt64(upper - lower))
        return checksum(upper..<range.upperBound, after: shifted ^ beginnings[last])
    }

    private mutating func computeBeginnings() {
        var crc: UInt32 = 0
        beginnings.reserveCapacity(bytes.count / Self.step + 1)
        beginnings.append(crc)
        for end in stride(from: Self.step, through: bytes.count, by: Self.step) {
            crc = checksum(end - Self.step..<end, after: crc)
            beginnings.append(crc)
        }
    }

    private mutating func checksum(_ range: Range<Int>, after crc: UInt32) -> UInt32 {
        checkedBytes += range.count
        return durable_crc32c(crc, bytes.baseAddress.map { $0 + range.lowerBound }, range.count)
    }
}
