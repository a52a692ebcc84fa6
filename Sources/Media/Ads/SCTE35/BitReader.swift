/// Reads fields of a number of bits from bytes, and never past their end.
struct BitReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int
    private let end: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        (position, end) = (0, bytes.count * 8)
    }

    /// The number of whole bytes left.
    var remainingBytes: Int { (end - position) / 8 }
    var isAtEnd: Bool { position >= end }
    /// The number of bytes read so far.
    var consumedBytes: Int { (position + 7) / 8 }

    /// Reads an unsigned number of at most 64 bits.
    mutating func number(_ count: Int, _ field: StaticString) throws(SpliceError) -> UInt64 {
        guard end - position >= count else {
            let message = "`\(field)` must have \(count) bits (found \(end - position))"
            throw SpliceError(.truncated, message)
        }
        var value: UInt64 = 0
        for _ in 0..<count {
            let byte = bytes[bytes.startIndex + position / 8]
            value = value << 1 | UInt64(byte >> UInt8(7 - position % 8) & 1)
            position += 1
        }
        return value
    }

    /// Reads a number of `count` bits.
    mutating func integer<Value: FixedWidthInteger>(
        _ count: Int,
        _ field: StaticString
    ) throws(SpliceError) -> Value {
        Value(truncatingIfNeeded: try number(count, field))
    }

    /// Reads a number of as many bits as its type has.
    mutating func integer<Value: FixedWidthInteger>(_ field: StaticString) throws(SpliceError) -> Value {
        try integer(Value.bitWidth, field)
    }

    mutating func flag(_ field: StaticString) throws(SpliceError) -> Bool { try number(1, field) == 1 }

    mutating func skip(_ count: Int) throws(SpliceError) { _ = try number(count, "reserved") }

    /// Reads whole bytes; the position must be at a byte's start.
    mutating func take(_ count: Int, _ field: StaticString) throws(SpliceError) -> ArraySlice<UInt8> {
        guard remainingBytes >= count else {
            let message = "`\(field)` must have \(count) bytes (found \(remainingBytes))"
            throw SpliceError(.truncated, message)
        }
        let start = bytes.startIndex + position / 8
        position += count * 8
        return bytes[start..<(start + count)]
    }

    mutating func rest() -> [UInt8] {
        let start = bytes.startIndex + consumedBytes
        position = end
        return Array(bytes[start...])
    }
}
