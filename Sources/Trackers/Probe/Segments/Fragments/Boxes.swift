/// A box of an ISO base media file (ISO/IEC 14496-12, 4.2).
struct Box {
    let type: BoxType
    /// The offsets of the content and of the end, in the bytes around the box.
    let content: Range<Int>

    /// Reads the header of the box at an offset.
    ///
    /// - Returns: nil if the header is not there completely, or has a size that is too small or open.
    init?(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        guard let small = bytes.unsigned32(at: offset), let type = bytes.unsigned32(at: offset + 4) else { return nil }
        var (headerSize, size) = (8, Int(small))
        if small == 1 {
            guard let large = bytes.unsigned64(at: offset + 8), large < 1 << 40 else { return nil }
            (headerSize, size) = (16, Int(large))
        }
        guard size >= headerSize else { return nil }
        self.type = BoxType(rawValue: type)
        content = (offset + headerSize)..<(offset + size)
    }

    /// Calls `body` with each box of a container, until one returns false.
    ///
    /// - Returns: whether the boxes fill the bytes and `body` returned true for all of them.
    static func all(in bytes: UnsafeRawBufferPointer, _ body: (BoxType, UnsafeRawBufferPointer) -> Bool) -> Bool {
        var offset = 0
        while offset < bytes.count {
            guard let box = Box(bytes, at: offset), box.content.upperBound <= bytes.count,
                body(box.type, UnsafeRawBufferPointer(rebasing: bytes[box.content]))
            else { return false }
            offset = box.content.upperBound
        }
        return true
    }
}

/// The type of a box: four characters.
struct BoxType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }

    init(stringLiteral characters: StaticString) {
        rawValue = characters.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }
}

extension UnsafeRawBufferPointer {
    /// A number of four bytes, the highest first; nil beyond the end.
    func unsigned32(at offset: Int) -> UInt32? {
        guard offset >= 0, offset + 4 <= count else { return nil }
        return UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// A number of eight bytes, the highest first; nil beyond the end.
    func unsigned64(at offset: Int) -> UInt64? {
        guard offset >= 0, offset + 8 <= count else { return nil }
        return UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
