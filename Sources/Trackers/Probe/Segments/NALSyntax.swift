/// The kinds of messages in supplemental enhancement information (ITU-T H.264, 7.3.2.3).
struct SupplementalMessages {
    var types: [Int] = []

    /// Reads the kinds; nil if the lengths do not fit the bytes, or nothing is behind the header.
    init?(_ nal: UnsafeRawBufferPointer, headerSize: Int) {
        // Zero bytes behind the end belong to no message.
        guard let last = nal.lastIndex(where: { $0 != 0 }), last >= headerSize else { return nil }
        let bytes = ExpGolomb.unescaped(nal[headerSize...last])
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

/// Numbers of variable length at the beginning of a NAL unit (ITU-T H.264, 9.1).
struct ExpGolomb {
    /// The numbers that are read from a slice need fewer bytes.
    private static let reach = 24
    private let bytes: [UInt8]
    private var position = 0

    init(_ nal: UnsafeRawBufferPointer, headerSize: Int) {
        bytes = Self.unescaped(nal.prefix(Self.reach).dropFirst(headerSize))
    }

    /// The bytes without those that prevent start codes.
    static func unescaped(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var zeros = 0
        for byte in bytes {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }

    mutating func skip(_ bitCount: Int) { position += bitCount }

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
        guard position >> 3 < bytes.count else { return nil }
        defer { position += 1 }
        return Int(bytes[position >> 3] >> (7 - UInt8(position & 7)) & 1)
    }
}
