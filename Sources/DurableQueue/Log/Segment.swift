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
/// `@unchecked Sendable`, because: bytes before the end that a reader knows never change; bytes behind it are written
/// by the log's owner alone, under its lock; `first` is set before anybody but the owner knows the segment; the mapping
/// stands as long as this object.
final class Segment: @unchecked Sendable {
    static var recordHeaderSize: Int { RecordFormat.headerSize }

    private(set) var first: UInt64
    let capacity: Int
    let base: UnsafeMutableRawPointer
    private let descriptor: Int32
    /// Whether the file may be written to; if not, it is only read, and deleted in the end.
    private let isWritable: Bool
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
        isWritable = true
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

    /// What was found where a segment should be.
    enum Opening {
        case segment(Segment)
        case missing
        case empty
        /// Shorter than a header.
        case tooShort
    }

    /// Opens what an earlier run wrote. A file that may only be read is opened to be read.
    ///
    /// - Parameter isViewed: whether the file is only looked at, and must not be written to.
    /// - Throws: if the file is there and cannot be opened: it may hold samples.
    static func opened(_ path: String, first: UInt64, isViewed: Bool = false) throws(QueueError) -> Opening {
        var isWritable = !isViewed
        var descriptor = Directory.openPatiently(path, isWritable ? O_RDWR : O_RDONLY)
        if descriptor < 0, isWritable, [EACCES, EPERM, EROFS].contains(errno) {
            isWritable = false
            descriptor = Directory.open(path, O_RDONLY)
        }
        if descriptor < 0 {
            if errno == ENOENT { return .missing }
            throw Directory.failure(errno, "open \(path)")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 || fstat(descriptor, &status) == 0 else {
            let cause = errno
            close(descriptor)
            throw Directory.failure(cause, "read \(path)")
        }
        let size = Int(status.st_size)
        guard size >= SegmentHeader.size else {
            close(descriptor)
            return size == 0 ? .empty : .tooShort
        }
        guard let base = map(descriptor, size, isWritable: isWritable) else {
            let cause = errno
            close(descriptor)
            throw Directory.failure(cause, "map \(path)")
        }
        return .segment(
            Segment(
                path: path,
                first: first,
                capacity: size,
                base: base,
                descriptor: descriptor,
                isWritable: isWritable
            )
        )
    }

    /// Opens a segment that has to be there.
    static func existing(_ path: String, first: UInt64, isViewed: Bool = false) throws(QueueError) -> Segment {
        guard case .segment(let segment) = try opened(path, first: first, isViewed: isViewed) else {
            throw Directory.failure(EINVAL, "map \(path)")
        }
        return segment
    }

    private init(
        path: String,
        first: UInt64,
        capacity: Int,
        base: UnsafeMutableRawPointer,
        descriptor: Int32,
        isWritable: Bool
    ) {
        location = Lock(path)
        self.first = first
        self.capacity = capacity
        self.base = base
        self.descriptor = descriptor
        self.isWritable = isWritable
    }

    deinit {
        munmap(base, capacity)
        close(descriptor)
    }

    /// What the header says; nil if it is damaged.
    var header: SegmentHeader? { SegmentHeader(UnsafeRawPointer(base)) }

    /// Copies whole records, as they are, behind the last one, from the first byte to the last: if the process is killed within the
    /// copy, a record is damaged only if no later one was written, and recovery takes it from where it was copied.
    func copy(_ records: UnsafeRawBufferPointer, to offset: Int) {
        guard let start = records.baseAddress, isWritable, capacity - offset >= records.count else { return }
        durable_copy_forward(base + offset, start, records.count)
    }

    /// Whether nothing was ever written behind the header.
    var isBlank: Bool {
        UnsafeRawBufferPointer(start: base + SegmentHeader.size, count: capacity - SegmentHeader.size).allSatisfy {
            $0 == 0
        }
    }

    typealias Record = RecordFormat.Record

    /// The record at an offset, if there is a whole one that ends before `limit`.
    func record(at offset: Int, before limit: Int) -> Record? {
        guard offset >= 0, limit <= capacity else { return nil }
        return RecordFormat.record(in: base, at: offset, before: limit)
    }

    /// Seals the segment: writes how much it holds.
    func seal(count: UInt64, end: Int) { if isWritable { SegmentHeader.seal(base, count: count, end: UInt64(end)) } }

    /// Gives back the room behind the end of a sealed segment, which is not touched again. May wait for the disk.
    func cut(to end: Int) { if isWritable, end < capacity { ftruncate(descriptor, off_t(end)) } }

    /// Makes what was written survive a loss of power. Waits for the disk.
    func synchronize() throws(QueueError) {
        #if canImport(Darwin)
        // `fsync` there leaves data in the drive's cache; see fcntl(2), F_FULLFSYNC.
        let isDone = msync(base, capacity, MS_SYNC) == 0 && fcntl(descriptor, F_FULLFSYNC) != -1
        #else
        let isDone = fdatasync(descriptor) == 0
        #endif
        if !isDone { throw Directory.failure(errno, "synchronize \(path)") }
    }

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

    /// Deletes the file; readers of the mapping may continue.
    func delete() { unlink(path) }

    private static func map(_ descriptor: Int32, _ size: Int, isWritable: Bool = true) -> UnsafeMutableRawPointer? {
        let access = isWritable ? PROT_READ | PROT_WRITE : PROT_READ
        // What fails for a moment only does not cost a segment its place in the order.
        for _ in 0..<3 {
            let base = mmap(nil, size, access, MAP_SHARED, descriptor, 0)
            if base != MAP_FAILED { return base }
        }
        return nil
    }
}
