internal import Instrument

/// Writes into memory of a fixed size. Omits bytes that do not fit, and records that it has omitted some.
struct RecordWriter {
    private let base: UnsafeMutableRawPointer
    private let capacity: Int
    private(set) var offset: Int
    private(set) var didOverflow = false

    init(base: UnsafeMutableRawPointer, offset: Int, capacity: Int) {
        self.base = base
        self.offset = offset
        self.capacity = capacity
    }

    @inline(__always)
    private mutating func hasRoom(_ count: Int) -> Bool {
        if capacity - offset >= count { return true }
        didOverflow = true
        return false
    }

    /// Reserves room for a later write.
    mutating func skip(_ count: Int) { if hasRoom(count) { offset += count } }

    /// Pads with zeros to a multiple of eight.
    mutating func align() {
        guard offset % 8 != 0, hasRoom(8) else { return }
        base.storeBytes(of: 0, toByteOffset: offset, as: UInt64.self)
        offset = (offset + 7) & ~7
    }

    @inline(__always)
    mutating func byte(_ value: UInt8) {
        guard hasRoom(1) else { return }
        base.storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
        offset += 1
    }

    @inline(__always)
    mutating func fixed(_ value: UInt64) {
        guard hasRoom(8) else { return }
        base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
        offset += 8
    }

    @inline(__always)
    mutating func varint(_ value: UInt64) {
        guard hasRoom(Self.varintSize) else { return }
        offset = base.distance(to: Self.put(varint: value, at: base + offset))
    }

    /// The largest size of a number.
    static var varintSize: Int { 10 }

    /// Writes a number into memory that has room for it. Returns the place after it.
    @inline(__always)
    static func put(varint value: UInt64, at start: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        var (rest, place) = (value, start)
        while rest > 0x7F {
            place.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, as: UInt8.self)
            place += 1
            rest >>= 7
        }
        place.storeBytes(of: UInt8(truncatingIfNeeded: rest), as: UInt8.self)
        return place + 1
    }

    /// Small numbers of either sign are short ("zigzag").
    @inline(__always)
    mutating func signed(_ value: Int64) {
        guard hasRoom(Self.varintSize) else { return }
        offset = base.distance(to: Self.put(signed: value, at: base + offset))
    }

    /// Writes a number of either sign into memory that has room for it. Returns the place after it.
    @inline(__always)
    static func put(signed value: Int64, at start: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        put(varint: UInt64(bitPattern: value << 1 ^ value >> 63), at: start)
    }

    @inline(__always)
    mutating func bytes(_ bytes: UnsafeRawBufferPointer) {
        guard hasRoom(bytes.count), let start = bytes.baseAddress else { return }
        (base + offset).copyMemory(from: start, byteCount: bytes.count)
        offset += bytes.count
    }

    /// Writes two words at once, of which the first bytes are used.
    @inline(__always)
    mutating func packed(_ packed: PackedBytes) {
        guard hasRoom(16) else { return }
        base.storeBytes(of: packed.words.0, toByteOffset: offset, as: UInt64.self)
        base.storeBytes(of: packed.words.1, toByteOffset: offset + 8, as: UInt64.self)
        offset += packed.count
    }

    /// Writes four words at once, of which the first bytes are used.
    @inline(__always)
    mutating func head(_ head: RecordHead) {
        guard hasRoom(RecordHead.capacity) else { return }
        base.storeBytes(of: head.words.0, toByteOffset: offset, as: UInt64.self)
        base.storeBytes(of: head.words.1, toByteOffset: offset + 8, as: UInt64.self)
        base.storeBytes(of: head.words.2, toByteOffset: offset + 16, as: UInt64.self)
        base.storeBytes(of: head.words.3, toByteOffset: offset + 24, as: UInt64.self)
        offset += head.count
    }

    /// Writes as `body` does, which gets the place of the next byte and the end of the memory, and returns the place
    /// after its last byte, which is not behind the end.
    @inline(__always)
    mutating func write(
        _ body: (_ start: UnsafeMutableRawPointer, _ end: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer
    ) {
        offset = base.distance(to: body(base + offset, base + max(offset, capacity)))
    }

    mutating func text(_ text: String) {
        varint(UInt64(text.utf8.count))
        let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable { bytes(UnsafeRawBufferPointer($0)) }
        // A string that is not native UTF-8 is copied byte by byte.
        if isWritten == nil { for unit in text.utf8 { byte(unit) } }
    }
}

/// Reads the output of a ``RecordWriter``, from bytes that may have any value.
struct RecordReader {
    /// The bytes are not valid.
    struct Damaged: Error {}

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }
    var remaining: Int { bytes.count - offset }

    mutating func byte() throws(Damaged) -> UInt8 {
        guard offset < bytes.count else { throw Damaged() }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func fixed() throws(Damaged) -> UInt64 {
        guard remaining >= 8 else { throw Damaged() }
        defer { offset += 8 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    mutating func varint() throws(Damaged) -> UInt64 {
        // Most numbers are below 128.
        if offset < bytes.count, case let first = bytes[offset], first < 0x80 {
            offset += 1
            return UInt64(first)
        }
        return try longVarint()
    }

    @inline(never)
    private mutating func longVarint() throws(Damaged) -> UInt64 {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while shift < 64 {
            let byte = try byte()
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw Damaged()
    }

    mutating func signed() throws(Damaged) -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// A length that is not larger than the remaining bytes.
    mutating func count() throws(Damaged) -> Int {
        let count = try varint()
        guard count <= UInt64(remaining) else { throw Damaged() }
        return Int(count)
    }

    mutating func text() throws(Damaged) -> String { try Self.text(try textBytes()) }

    /// The bytes of a text, which may be damaged.
    mutating func textBytes() throws(Damaged) -> UnsafeRawBufferPointer {
        let count = try count()
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// The text of bytes that ``textBytes()`` has returned.
    static func text(_ bytes: UnsafeRawBufferPointer) throws(Damaged) -> String {
        guard let text = String(validUTF8: bytes) else { throw Damaged() }
        return text
    }

    /// The bytes between this place and that of a reader that is further on in the same record.
    func bytes(before ahead: RecordReader) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[offset..<max(offset, ahead.offset)])
    }
}
