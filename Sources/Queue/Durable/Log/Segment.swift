internal import CDurableShim
internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// A file of records that is mapped into memory. Written records survive the process at once, and a loss of power after
/// the next ``synchronize()``.
///
/// ``RecordFormat`` describes a record. The length is written last, so that a record that a crash has interrupted is
/// ignored.
///
/// `@unchecked Sendable`, because: bytes before the end that a reader knows never change; only the log's owner writes
/// bytes after the end, under its lock; `first` is set before another thread has the segment; the mapping lives as long
/// as this object.
final class Segment: @unchecked Sendable {
    static var recordHeaderSize: Int { RecordFormat.headerSize }

    private(set) var first: UInt64
    let capacity: Int
    let base: UnsafeMutableRawPointer
    /// The open file; -1 once it is released. A queue may have more segments than the process may have open files, so
    /// that only segments that are being written have one.
    private let descriptor: Lock<Int32>
    private let identity: FileIdentity
    /// Whether the file is writable. Otherwise it is only read, and finally deleted.
    private let isWritable: Bool
    private let location: Lock<String>
    /// The index of a damaged segment, with the end up to which it was computed; nil without damage.
    let damageIndex = Lock<(limit: Int, index: RecordIndex)?>(nil)

    /// The path of the file.
    var path: String { location.withLock { $0 } }

    /// Creates a file with all its blocks, without a header, so that a full disk is an error here and not a signal
    /// later.
    init(creating path: String, capacity: Int) throws(QueueError) {
        // A file under this name is not a segment of this log, because all known segments have other names.
        if Directory.exists(path) { Directory.setAside(path) }
        let descriptor = Directory.open(path, O_RDWR | O_CREAT | O_EXCL)
        if descriptor < 0 { throw Directory.failure(errno, "create \(path)") }
        do throws(SystemError) {
            let number = durable_allocate(descriptor, Int64(capacity))
            if number != 0 { throw SystemError(number) }
            identity = try Self.status(of: descriptor).get().identity
            base = try Self.map(descriptor, capacity).get()
        } catch {
            close(descriptor)
            unlink(path)
            throw Directory.failure(error.number, "make room for \(path)")
        }
        location = Lock(path)
        first = 0
        self.capacity = capacity
        self.descriptor = Lock(descriptor)
        isWritable = true
    }

    /// Writes the header of a segment that begins with a sample.
    func begin(_ header: SegmentHeader) {
        first = header.first
        header.write(to: base)
    }

    /// Loads every page for writing, so that later writes do not wait for it.
    func touch() {
        for offset in stride(from: 0, to: capacity, by: 4096) {
            base.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self)
        }
    }

    /// Renames the file.
    func move(to path: String) throws(QueueError) {
        do throws(SystemError) {
            try location.withLock { location throws(SystemError) in
                try Directory.renameRetrying(location, path).get()
                location = path
            }
        } catch { throw Directory.failure(error.number, "rename a segment to \(path)") }
    }

    /// The result of opening a segment.
    enum Opening {
        case segment(Segment)
        case missing
        case empty
        /// The file is shorter than a header.
        case tooShort
    }

    /// Opens a segment of an earlier run, for reading only if the file is not writable.
    ///
    /// - Parameter isViewed: whether the file is only read, and must not change.
    /// - Throws: if the file exists and cannot be opened, because it may contain samples.
    static func opened(_ path: String, first: UInt64, isViewed: Bool = false) throws(QueueError) -> Opening {
        var isWritable = !isViewed
        var file = Directory.openRetrying(path, isWritable ? O_RDWR : O_RDONLY)
        if isWritable, case .failure(let error) = file, [EACCES, EPERM, EROFS].contains(error.number) {
            isWritable = false
            file = Directory.openRetrying(path, O_RDONLY)
        }
        let descriptor: Int32
        do throws(SystemError) { descriptor = try file.get() } catch {
            if error.number == ENOENT { return .missing }
            throw Directory.failure(error.number, "open \(path)")
        }
        let (size, identity): (Int, FileIdentity)
        do throws(SystemError) { (size, identity) = try Self.status(of: descriptor).get() } catch {
            close(descriptor)
            throw Directory.failure(error.number, "read \(path)")
        }
        guard size >= SegmentHeader.size else {
            close(descriptor)
            return size == 0 ? .empty : .tooShort
        }
        let base: UnsafeMutableRawPointer
        do throws(SystemError) { base = try map(descriptor, size, isWritable: isWritable).get() } catch {
            close(descriptor)
            throw Directory.failure(error.number, "map \(path)")
        }
        return .segment(
            Segment(
                path: path,
                first: first,
                capacity: size,
                base: base,
                descriptor: descriptor,
                identity: identity,
                isWritable: isWritable
            )
        )
    }

    /// Opens a segment that must exist, for reading.
    static func existing(_ path: String, first: UInt64, isViewed: Bool = false) throws(QueueError) -> Segment {
        guard case .segment(let segment) = try opened(path, first: first, isViewed: isViewed) else {
            throw Directory.failure(EINVAL, "map \(path)")
        }
        segment.releaseFile()
        return segment
    }

    private init(
        path: String,
        first: UInt64,
        capacity: Int,
        base: UnsafeMutableRawPointer,
        descriptor: Int32,
        identity: FileIdentity,
        isWritable: Bool
    ) {
        location = Lock(path)
        self.first = first
        self.capacity = capacity
        self.base = base
        self.descriptor = Lock(descriptor)
        self.identity = identity
        self.isWritable = isWritable
    }

    deinit {
        munmap(base, capacity)
        releaseFile()
    }

    /// Closes the file. Its memory stays mapped.
    func releaseFile() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    /// The header; nil if it is damaged.
    var header: SegmentHeader? { SegmentHeader(UnsafeRawPointer(base)) }

    /// Copies complete records after the last record, from the first byte to the last: if the process is killed during
    /// the copy, at most the last copied record is damaged, and recovery copies it again from its source.
    func copy(_ records: UnsafeRawBufferPointer, to offset: Int) {
        guard let start = records.baseAddress, isWritable, capacity - offset >= records.count else { return }
        durable_copy_forward(base + offset, start, records.count)
    }

    /// Whether nothing was written after the header.
    var isBlank: Bool {
        UnsafeRawBufferPointer(start: base + SegmentHeader.size, count: capacity - SegmentHeader.size).allSatisfy {
            $0 == 0
        }
    }

    typealias Record = RecordFormat.Record

    /// The complete record at an offset that ends before `limit`; nil without one.
    func record(at offset: Int, before limit: Int) -> Record? {
        guard offset >= 0, limit <= capacity else { return nil }
        return RecordFormat.record(in: base, at: offset, before: limit)
    }

    /// Seals the segment: writes the number and the end of its samples.
    func seal(count: UInt64, end: Int) { if isWritable { SegmentHeader.seal(base, count: count, end: UInt64(end)) } }

    /// Truncates the file after the end of a sealed segment. May wait for the disk.
    func cut(to end: Int) {
        guard isWritable, end < capacity else { return }
        let file = Directory.open(path, O_RDWR)
        if file < 0 { return }
        if (try? Self.status(of: file).get().identity) == identity { ftruncate(file, off_t(end)) }
        close(file)
    }

    /// Makes all writes survive a loss of power. Waits for the disk.
    func synchronize() throws(QueueError) {
        #if canImport(Darwin)
        // `fsync` there leaves data in the drive's cache; see fcntl(2), F_FULLFSYNC.
        let isWritten = msync(base, capacity, MS_SYNC) == 0
        let cause = isWritten ? withFile { $0 < 0 || fcntl($0, F_FULLFSYNC) != -1 ? 0 : errno } : errno
        #else
        // The same as `fdatasync` of the mapped file (msync(2)).
        let cause = withFile { ($0 < 0 ? msync(base, capacity, MS_SYNC) : fdatasync($0)) == 0 ? 0 : errno }
        #endif
        if cause != 0 { throw Directory.failure(cause, "synchronize \(path)") }
    }

    /// Lets the next synchronization write the bytes before `end` again. They must not change meanwhile.
    func markDirty(upTo end: Int) {
        if isWritable { durable_mark_dirty(base, readableEnd(end)) }
    }

    /// Calls `body` with a descriptor of the file; with -1 if the file is neither open nor in its place.
    private func withFile<Result>(_ body: (Int32) -> Result) -> Result {
        let open = descriptor.withLock { $0 < 0 ? -1 : fcntl($0, F_DUPFD_CLOEXEC, 0) }
        let file = open < 0 && isInPlace ? Directory.open(path, O_RDONLY) : open
        defer { if file >= 0 { close(file) } }
        return body(file)
    }

    /// The readable part of the file, which another program may have truncated: an access after its end would end the
    /// process.
    func readableEnd(_ end: Int) -> Int {
        let size = descriptor.withLock { descriptor -> Int? in
            descriptor < 0 ? nil : try? Self.status(of: descriptor).get().size
        }
        if let size { return min(end, size) }
        // A file that is no longer in its place keeps its length as long as it is mapped.
        guard let status = Directory.status(of: path), FileIdentity(status) == identity else { return end }
        return min(end, Int(status.st_size))
    }

    /// Whether the path still is this file.
    var isInPlace: Bool {
        Directory.status(of: path).map { FileIdentity($0) == identity } ?? false
    }

    /// Deletes the file. Readers of the mapping can continue.
    func delete() { unlink(path) }

    private static func status(of descriptor: Int32) -> Result<(size: Int, identity: FileIdentity), SystemError> {
        var status = stat()
        return SystemCall.retrying {
            fstat(descriptor, &status) == 0 ? (Int(status.st_size), FileIdentity(status)) : nil
        }
    }

    private static func map(
        _ descriptor: Int32,
        _ size: Int,
        isWritable: Bool = true
    ) -> Result<UnsafeMutableRawPointer, SystemError> {
        let access = isWritable ? PROT_READ | PROT_WRITE : PROT_READ
        return SystemCall.retrying {
            let base = mmap(nil, size, access, MAP_SHARED, descriptor, 0)
            return base == MAP_FAILED ? nil : base
        }
    }
}
