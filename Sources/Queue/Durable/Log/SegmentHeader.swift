internal import CDurableShim

/// The first 64 bytes of a segment, little-endian.
///
/// | offset | |
/// |---|---|
/// | 0 | `INSTRSEG` |
/// | 8 | version of the record format (4 bytes), CRC-32C of bytes 16 to 32 (4 bytes) |
/// | 16 | the log's random number, the number of the first sample |
/// | 32 | 1 once the segment is sealed (4 bytes), CRC-32C of bytes 40 to 56 (4 bytes) |
/// | 40 | number of samples, end of the last sample; both valid once the segment is sealed |
struct SegmentHeader: Hashable {
    static var size: Int { 64 }
    static var version: UInt32 { 1 }
    private static var magic: UInt64 { 0x4745_5352_5453_4E49 }

    var log: UInt64
    var first: UInt64
    /// The number and the end of the samples; nil while the segment is writable.
    var sealed: (count: UInt64, end: UInt64)?

    static func == (left: Self, right: Self) -> Bool {
        left.log == right.log && left.first == right.first && left.sealed?.count == right.sealed?.count
            && left.sealed?.end == right.sealed?.end
    }

    func hash(into hasher: inout Hasher) { hasher.combine(first) }

    init(log: UInt64, first: UInt64) {
        self.log = log
        self.first = first
    }

    /// Reads a header; nil if it is damaged, or of a version that this program does not know.
    init?(_ base: UnsafeRawPointer) {
        guard Self.load(base, 0) == Self.magic, UInt32(truncatingIfNeeded: Self.load(base, 8)) == Self.version,
            UInt32(truncatingIfNeeded: Self.load(base, 8) >> 32) == durable_crc32c(0, base + 16, 16)
        else { return nil }
        (log, first) = (Self.load(base, 16), Self.load(base, 24))
        guard first < FolderNames.maxNumber else { return nil }
        if durable_load_acquire(base + 32) == 1,
            UInt32(truncatingIfNeeded: Self.load(base, 32) >> 32) == durable_crc32c(0, base + 40, 16)
        {
            sealed = (Self.load(base, 40), Self.load(base, 48))
        }
    }

    func write(to base: UnsafeMutableRawPointer) {
        Self.store(log, base, 16)
        Self.store(first, base, 24)
        Self.store(UInt64(durable_crc32c(0, base + 16, 16)) << 32 | UInt64(Self.version), base, 8)
        Self.store(Self.magic, base, 0)
    }

    /// Seals the segment: writes the number and the end of its samples. Writes the mark last, so that an interrupted
    /// seal has no effect.
    static func seal(_ base: UnsafeMutableRawPointer, count: UInt64, end: UInt64) {
        store(count, base, 40)
        store(end, base, 48)
        durable_store_release(base + 36, durable_crc32c(0, base + 40, 16))
        durable_store_release(base + 32, 1)
    }

    private static func load(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private static func store(_ value: UInt64, _ base: UnsafeMutableRawPointer, _ offset: Int) {
        base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
}
