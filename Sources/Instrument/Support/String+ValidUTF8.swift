extension String {
    /// Creates a text of bytes in UTF-8; nil if the bytes are not valid.
    ///
    /// The result is that of `String(validating:as:)`, which looks up generic types at run time and takes more than a
    /// thousand instructions for a short text. Nearly all texts of readers are ASCII, which is valid without a look at
    /// more than the high bits.
    package init?(validUTF8 bytes: UnsafeRawBufferPointer) {
        if bytes.isASCII {
            self = String(decoding: bytes, as: UTF8.self)
        } else {
            guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
            self = text
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether no byte has its high bit set.
    package var isASCII: Bool {
        var (place, bits) = (0, UInt64(0))
        while place + 8 <= count {
            bits |= loadUnaligned(fromByteOffset: place, as: UInt64.self)
            place += 8
        }
        while place < count {
            bits |= UInt64(self[place])
            place += 1
        }
        // A single byte sets the lowest bits only, where 0x80 has the same meaning.
        return bits & 0x8080_8080_8080_8080 == 0
    }
}
