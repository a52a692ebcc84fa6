/// The kinds of messages in supplemental enhancement information (ITU-T H.264, 7.3.2.3).
struct SupplementalMessages {
    var types: [Int] = []

    /// Reads the kinds; nil if the lengths do not fit the bytes, or nothing is behind the header.
    init?(_ nal: UnsafeRawBufferPointer, headerSize: Int) {
        // Zero bytes behind the end belong to no message.
        guard let last = nal.lastIndex(where: { $0 != 0 }), last >= headerSize else { return nil }
        let bytes = Array(UnescapedBytes(nal[headerSize...last]))
        var offset = 0
        func number() -> Int? {
            var value = 0
            while offset < bytes.count {
                let byte = bytes[offset]
                offset += 1
                value += Int(byte)
                if byte != 0xFF { return value }
            }
            return nil
        }
        while offset < bytes.count, !(offset == bytes.count - 1 && bytes[offset] == 0x80) {
            guard let type = number(), let size = number(), offset + size <= bytes.count else { return nil }
            types.append(type)
            offset += size
        }
    }
}

/// The bytes of a NAL unit without those that prevent start codes (ITU-T H.264, 7.4.1).
struct UnescapedBytes: Sequence, IteratorProtocol {
    private var rest: Slice<UnsafeRawBufferPointer>
    /// The number of zeros before the rest.
    private var zeros = 0

    init(_ bytes: Slice<UnsafeRawBufferPointer>) { rest = bytes }

    mutating func next() -> UInt8? {
        if zeros >= 2, rest.first == 3 {
            rest = rest.dropFirst()
            zeros = 0
        }
        guard let byte = rest.popFirst() else { return nil }
        zeros = byte == 0 ? zeros + 1 : 0
        return byte
    }
}

/// Numbers of variable length at the beginning of a NAL unit (ITU-T H.264, 9.1).
struct ExpGolomb {
    /// The numbers that are read from a slice need fewer bytes.
    private static let reach = 24
    private var rest: UnescapedBytes
    private var byte: UInt8 = 0
    /// The bits of the byte that were not read.
    private var bitsLeft: UInt8 = 0

    /// - Parameter nal: bytes that stay while numbers are read.
    init(_ nal: UnsafeRawBufferPointer, headerSize: Int) {
        rest = UnescapedBytes(nal.prefix(Self.reach).dropFirst(headerSize))
    }

    mutating func skip(_ bitCount: Int) {
        for _ in 0..<bitCount { _ = bit() }
    }

    /// The next number; nil at the end, or beyond 32 bits.
    mutating func next() -> Int? {
        var zeros = 0
        while true {
            guard let bit = bit(), zeros <= 31 else { return nil }
            if bit == 1 { break }
            zeros += 1
        }
        var value = 1
        for _ in 0..<zeros {
            guard let bit = bit() else { return nil }
            value = value << 1 | bit
        }
        return value - 1
    }

    private mutating func bit() -> Int? {
        if bitsLeft == 0 {
            guard let next = rest.next() else { return nil }
            (byte, bitsLeft) = (next, 8)
        }
        bitsLeft -= 1
        return Int(byte >> bitsLeft & 1)
    }
}
