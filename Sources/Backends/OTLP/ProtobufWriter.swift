internal import InstrumentText

/// Writes Protocol Buffers (protobuf.dev, "Encoding"): the types of fields that OTLP uses, straight into bytes.
struct ProtobufWriter: ~Copyable {
    private enum Wire: UInt64 { case varint = 0, fixed64 = 1, length = 2, fixed32 = 5 }

    private var output: ByteWriter

    init(capacity: Int = 1024) { output = ByteWriter(capacity: capacity) }

    /// A copy of the bytes.
    var bytes: [UInt8] { output.bytes }

    // MARK: Fields

    /// `string`.
    mutating func string(_ field: UInt64, _ text: String) {
        tag(field, .length)
        varint(UInt64(text.utf8.count))
        output.append(text)
    }

    /// Fields that another writer wrote.
    mutating func fields(_ written: UnsafeBufferPointer<UInt8>) { output.append(written) }

    /// `bool`, `uint32`, `uint64`, enumerations.
    mutating func unsigned(_ field: UInt64, _ number: UInt64) {
        tag(field, .varint)
        varint(number)
    }

    /// `int32`, `int64`: negative numbers have ten bytes.
    mutating func signed(_ field: UInt64, _ number: Int64) { unsigned(field, UInt64(bitPattern: number)) }

    /// `sint32`, `sint64`: small numbers are short, whatever their sign.
    mutating func zigzag(_ field: UInt64, _ number: Int64) {
        unsigned(field, UInt64(bitPattern: number << 1 ^ number >> 63))
    }

    /// `fixed64`.
    mutating func fixed(_ field: UInt64, _ number: UInt64) {
        tag(field, .fixed64)
        little(number)
    }

    /// `double`.
    mutating func double(_ field: UInt64, _ number: Double) { fixed(field, number.bitPattern) }

    /// `repeated uint64`, packed.
    mutating func packed(_ field: UInt64, _ numbers: [UInt64]) {
        message(field) { writer in for number in numbers { writer.varint(number) } }
    }

    /// A message, written by `body`.
    @inline(__always)
    mutating func message(_ field: UInt64, _ body: (inout ProtobufWriter) -> Void) {
        tag(field, .length)
        let start = output.count
        // Most messages have fewer than 128 bytes.
        output.append(0)
        body(&self)
        let length = output.count - start - 1
        if length < 128 { output.replace(at: start, with: UInt8(length)) } else { lengthen(at: start, UInt64(length)) }
    }

    /// Replaces the byte that was reserved for a length by a longer one.
    private mutating func lengthen(at start: Int, _ length: UInt64) {
        var (rest, place) = (length, start)
        while rest >= 0x80 {
            output.replace(at: place, with: UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
            place += 1
            output.insert(0, at: place)
        }
        output.replace(at: place, with: UInt8(truncatingIfNeeded: rest))
    }

    // MARK: Numbers

    @inline(__always)
    private mutating func tag(_ field: UInt64, _ wire: Wire) { varint(field << 3 | wire.rawValue) }

    @inline(__always)
    private mutating func varint(_ number: UInt64) {
        if number < 0x80 { output.append(UInt8(number)) } else { longVarint(number) }
    }

    private mutating func longVarint(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            output.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        output.append(UInt8(truncatingIfNeeded: rest))
    }

    private mutating func little(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { output.append($0.bindMemory(to: UInt8.self)) }
    }
}

/// Reads Protocol Buffers field by field, and skips what it does not know.
struct ProtobufReader {
    /// The value of a field, by its type on the wire.
    enum Value: Hashable {
        case varint(UInt64)
        case fixed64(UInt64)
        case bytes(ArraySlice<UInt8>)
        case fixed32(UInt32)
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) { rest = Array(bytes)[...] }

    /// The next field; nil at the end, or if what follows is no field.
    mutating func next() -> (field: UInt64, value: Value)? {
        guard let tag = varint() else { return nil }
        let value: Value?
        switch tag & 7 {
        case 0: value = varint().map { .varint($0) }
        case 1: value = little(8).map { .fixed64($0) }
        case 2: value = varint().flatMap { take($0) }.map { .bytes($0) }
        case 5: value = little(4).map { .fixed32(UInt32(truncatingIfNeeded: $0)) }
        default: value = nil
        }
        return value.map { (tag >> 3, $0) }
    }

    private mutating func varint() -> UInt64? {
        var (number, shift) = (UInt64(0), UInt64(0))
        while let byte = rest.popFirst() {
            if shift > 63 { return nil }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        return nil
    }

    private mutating func take(_ count: UInt64) -> ArraySlice<UInt8>? {
        guard count <= UInt64(rest.count) else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }

    private mutating func little(_ count: UInt64) -> UInt64? {
        take(count).map { bytes in bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
    }
}
