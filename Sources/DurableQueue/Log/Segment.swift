internal import CDurableShim
internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// A file of records that is mapped into memory: what is written there survives the process at once, and a loss of power
/// from the next ``synchronize()`` on.
///
/// A record is `length (4), CRC-32C of the rest (4), number (8), payload`, at a multiple of eight. The length is written
/// last: a record that a crash cut short has none, and is no record.
///
/// `@unchecked Sendable`, because: bytes before the end that a reader was told never change; bytes behind it are written
/// by the log's owner alone, under its lock; `first` is set before anybody but the owner knows the segment; the mapping
/// stands as long as this object.
final class Segment: @unchecked Sendable {
    static var recordHeaderSize: Int { 16 }

    private(set) var first: UInt64
    let capacity: Int
    let base: UnsafeMutableRawPointer
    private let descriptor: Int32
    private let location: Lock<String>
    /// Set once damage was found, for the end up to which it was looked for.
    let damageIndex = Lock<(limit: Int, index: RecordIndex)?>(nil)

    /// Where the file is.
    var path: String { location.withLock { $0 } }

    /// Creates a file with all its blocks, so that a full disk is found out here and not by a signal later. It has no
    /// header yet.
    init(creating path: String, capacity: Int) throws(QueueError) {
        // What stands there is no segment: those that are known have been passed by.
        if Directory.exists(path) { Directory.setAside(path) }
        let descriptor = Directory.open(path, O_RDWR | O_CREAT | O_EXCL)
        if descriptor < 0 { throw Directory.failure(errno, "create \(path)") }
        let number = durable_allocate(descriptor, Int64(capacity))
        guard number == 0, let base = Self.map(descriptor, capacity) else {
            let cause = number == 0 ? errno : number
            close(descriptor)
            unlink(path)
            throw Directory.failure(cause, "make room for \(path)")
        }
        location = Lock(path)
        first = 0
        self.capacity = capacity
        self.base = base
        self.descriptor = descriptor
    }

    /// Makes it the segment that begins with a sample.
    func begin(_ header: SegmentHeader) {
        first = header.first
        header.write(to: base)
    }

    /// Brings every page into memory, ready to be written to, so that nobody waits for that later.
    func touch() {
        for offset in stride(from: 0, to: capacity, by: 4096) {
            base.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self)
        }
    }

    /// Gives the file another name.
    func move(to path: String) throws(QueueError) {
        let cause: Int32 = location.withLock { location in
            if rename(location, path) != 0 { return errno }
            location = path
            return 0
        }
        if cause != 0 { throw Directory.failure(cause, "rename a segment to \(path)") }
    }

    /// Opens what an earlier run wrote; `isViewed` if it is only looked at, and may not be written to.
    init(opening path: String, first: UInt64, isViewed: Bool = false) throws(QueueError) {
        let descriptor = Directory.open(path, isViewed ? O_RDONLY : O_RDWR)
        if descriptor < 0 { throw Directory.failure(errno, "open \(path)") }
        var status = stat()
        let size = fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
        guard size >= SegmentHeader.size, let base = Self.map(descriptor, size, isViewed: isViewed) else {
            let cause = size < SegmentHeader.size ? EINVAL : errno
            close(descriptor)
            throw Directory.failure(cause, "map \(path)")
        }
        location = Lock(path)
        self.first = first
        capacity = size
        self.base = base
        self.descriptor = descriptor
    }

    deinit {
        munmap(base, capacity)
        close(descriptor)
    }

    /// What the header says; nil if it is damaged.
    var header: SegmentHeader? { SegmentHeader(UnsafeRawPointer(base)) }

    /// A writer from `offset` on.
    func writer(at offset: Int) -> RecordWriter { RecordWriter(base: base, offset: offset, capacity: capacity) }

    /// Puts number and checksum before a payload that ends at `end`.
    func finish(recordAt offset: Int, end: Int, sequence: UInt64) {
        base.storeBytes(of: sequence.littleEndian, toByteOffset: offset + 8, as: UInt64.self)
        let crc = durable_crc32c(0, base + offset + 8, end - offset - 8)
        base.storeBytes(of: crc.littleEndian, toByteOffset: offset + 4, as: UInt32.self)
    }

    /// Makes the record one: from here on it survives the process.
    func commit(recordAt offset: Int, end: Int) {
        durable_store_release(base + offset, UInt32(end - offset - Self.recordHeaderSize))
    }

    /// Makes records that were committed none again: the samples that came with them did not fit.
    func takeBack(from start: Int, to end: Int) {
        var offset = start
        while let record = record(at: offset, before: end) {
            durable_store_release(base + offset, 0)
            offset = record.next
        }
    }

    /// A whole record.
    struct Record {
        let sequence: UInt64
        let payload: UnsafeRawBufferPointer
        /// Where the next one begins.
        let next: Int
    }

    /// The record at an offset, if there is a whole one that ends before `limit`.
    func record(at offset: Int, before limit: Int) -> Record? {
        guard offset >= 0, offset + Self.recordHeaderSize < limit, limit <= capacity else {
            return nil
        }
        let length = Int(durable_load_acquire(base + offset))
        guard length > 0, length <= limit - offset - Self.recordHeaderSize else { return nil }
        let end = offset + Self.recordHeaderSize + length
        let crc = base.load(fromByteOffset: offset + 4, as: UInt32.self)
        guard UInt32(littleEndian: crc) == durable_crc32c(0, base + offset + 8, length + 8) else { return nil }
        let sequence = UInt64(littleEndian: base.load(fromByteOffset: offset + 8, as: UInt64.self))
        let payload = UnsafeRawBufferPointer(start: base + offset + Self.recordHeaderSize, count: length)
        return Record(sequence: sequence, payload: payload, next: (end + 7) & ~7)
    }

    /// Says for good how much is in it.
    func seal(count: UInt64, end: Int) { SegmentHeader.seal(base, count: count, end: UInt64(end)) }

    /// Gives back the room behind the end of a sealed segment, which is not touched again. May wait for the disk.
    func cut(to end: Int) { if end < capacity { ftruncate(descriptor, off_t(end)) } }

    /// Makes what was written survive a loss of power. Waits for the disk.
    func synchronize() -> Bool { fdatasync(descriptor) == 0 && msync(base, capacity, MS_ASYNC) == 0 }

    /// How much of the file may be read, if somebody else cut it off: what is mapped behind its end would end the process.
    func readableEnd(_ end: Int) -> Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? min(end, Int(status.st_size)) : end
    }

    /// Whether the file still stands where it was made or named.
    var isInPlace: Bool {
        var ours = stat()
        guard fstat(descriptor, &ours) == 0, let theirs = Directory.status(of: path) else { return false }
        return ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev
    }

    /// Deletes the file; who still reads the mapping may go on.
    func delete() { unlink(path) }

    private static func map(_ descriptor: Int32, _ size: Int, isViewed: Bool = false) -> UnsafeMutableRawPointer? {
        let access = isViewed ? PROT_READ : PROT_READ | PROT_WRITE
        let base = mmap(nil, size, access, MAP_SHARED, descriptor, 0)
        return base == MAP_FAILED ? nil : base
    }
}
