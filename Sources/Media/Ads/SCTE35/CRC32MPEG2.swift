/// The checksum of sections of MPEG-2 transport streams (ISO/IEC 13818-1, annex A): polynomial 0x04C11DB7, initial
/// value of ones, bits in order, no final inversion.
package enum CRC32MPEG2 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index) << 24) { value, _ in
            value & 0x8000_0000 != 0 ? value << 1 ^ 0x04C1_1DB7 : value << 1
        }
    }

    /// The checksum; 0 for bytes that end with their own.
    package static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 { remainder(of: bytes) }

    /// The checksum of bytes in memory. Compiled in this module: other modules call the generic function without
    /// specialization.
    package static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt32 { remainder(of: bytes) }

    private static func remainder(of bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0xFFFF_FFFF) { value, byte in
            value << 8 ^ table[Int(UInt8(truncatingIfNeeded: value >> 24) ^ byte)]
        }
    }
}
