internal import CDurableShim
internal import Instrument
internal import InstrumentFiles
internal import InstrumentText

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Memory in which records wait until the draining thread has copied them into segments.
///
/// On Linux the memory is a file in a tmpfs: the file outlives the process, and no write to it waits for a disk, not
/// even for a disk that hangs. A loss of power deletes the file, but no record in a segment. Without a tmpfs, the
/// memory belongs to the process, and a record is durable only after its copy.
///
/// The file has a header of 64 bytes and two halves. A half contains records in the format of segments, up to a length
/// of zero. One half is filled while the other one is copied. Records that are larger than a half have a separate area
/// beside the first one, with a single part of their size.
///
/// | offset | |
/// |---|---|
/// | 0 | `INSTRSTG` |
/// | 8 | version (4 bytes), CRC-32C of bytes 16 to 48 (4 bytes) |
/// | 16 | random number of the log, size of a half |
/// | 32 | device and inode of the folder that the records belong to |
/// | 48 | the sequence number after the last staged sample |
///
/// `@unchecked Sendable`, because: the mapping lives as long as this object; its owner writes to a half under its
/// state's lock, and copies a half under its draining lock, while nothing writes to that half.
final class StagingArea: @unchecked Sendable {
    static var headerSize: Int { 64 }
    private static var magic: UInt64 { 0x4754_5352_5453_4E49 }
    private static var version: UInt64 { 1 }

    /// The path of the file; nil if the memory ends with the process.
    let path: String?
    let halfSize: Int
    private let halfCount: Int
    private let base: UnsafeMutableRawPointer
    private let size: Int
    private let descriptor: Int32?

    private init(
        path: String?,
        halfSize: Int,
        halfCount: Int,
        base: UnsafeMutableRawPointer,
        size: Int,
        descriptor: Int32?
    ) {
        self.path = path
        self.halfSize = halfSize
        self.halfCount = halfCount
        self.base = base
        self.size = size
        self.descriptor = descriptor
    }

    deinit {
        munmap(base, size)
        if let descriptor { close(descriptor) }
    }

    /// Whether staged records outlive the process.
    var outlivesProcess: Bool { path != nil }

    /// The first byte of a half, 0 or 1.
    func half(_ index: Int) -> UnsafeMutableRawPointer { base + Self.headerSize + index * halfSize }

    /// Writes the sequence number after the last staged sample.
    func note(next sequence: UInt64) { base.storeBytes(of: sequence.littleEndian, toByteOffset: 48, as: UInt64.self) }

    /// The sequence number after the last staged sample.
    var nextSequence: UInt64 { load(48) }

    /// Fills the first half, which is empty, with records. Commits the first record last, so that after a crash either
    /// all records exist or none.
    func fill(with records: [UInt8]) {
        let commit = MemoryLayout<UInt32>.size
        records.withUnsafeBytes { records in
            guard let start = records.baseAddress, records.count > commit, records.count <= halfSize else { return }
            (half(0) + commit).copyMemory(from: start + commit, byteCount: records.count - commit)
            durable_store_release(half(0), UInt32(littleEndian: start.loadUnaligned(as: UInt32.self)))
        }
    }

    /// Overwrites a half, so that nobody can read erased samples from it.
    func wipe(_ index: Int) { memset(half(index), 0, halfSize) }

    /// Removes the file; the memory stays usable.
    func delete() { if let path { unlink(path) } }

    // MARK: Creating

    /// Creates a file in `directory`; nil if the file system has no room, or the directory does not exist.
    static func make(in directory: String, name: String, halfSize: Int, log: UInt64, folder: FileIdentity)
        -> StagingArea?
    {
        guard let area = make(at: directory + "/" + name, halfSize: halfSize, halfCount: 2) else { return nil }
        area.begin(log, folder)
        return area
    }

    private static func make(at path: String, halfSize: Int, halfCount: Int) -> StagingArea? {
        let size = headerSize + halfCount * halfSize
        let descriptor = Directory.open(path, O_RDWR | O_CREAT | O_EXCL)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, durable_allocate(descriptor, Int64(size)) == 0,
            let base = map(descriptor, size)
        else {
            unlink(path)
            close(descriptor)
            return nil
        }
        return StagingArea(
            path: path,
            halfSize: halfSize,
            halfCount: halfCount,
            base: base,
            size: size,
            descriptor: descriptor
        )
    }

    /// Creates an area with one part, for records that are larger than a half: a file beside this one if this one is a
    /// file and there is room, otherwise memory that ends with the process.
    func makeSibling(size: Int, first: UInt64) throws(QueueError) -> StagingArea {
        let name = path.map { $0 + Self.siblingMark + first.padded(16, radix: 16) }
        guard let name, let area = Self.make(at: name, halfSize: size, halfCount: 1) else {
            return try Self.inProcess(halfSize: size, halfCount: 1)
        }
        area.begin(load(16), FileIdentity(device: load(32), inode: load(40)))
        return area
    }

    /// The paths of the areas that were made as siblings of the area at a path; empty if their folder is gone.
    /// - Throws: if the system lacks a resource to read the folder.
    static func siblings(of path: String) throws(QueueError) -> [String] {
        let folder = Folder.parent(of: path)
        do throws(QueueError) {
            return try Directory.entries(of: folder).map { folder + "/" + $0 }
                .filter { $0.hasPrefix(path + siblingMark) }
        } catch {
            if error.code == .lacksResources { throw error }
            return []
        }
    }

    private static var siblingMark: String { "-large-" }

    /// Creates memory that ends with the process.
    static func inProcess(halfSize: Int, halfCount: Int = 2) throws(QueueError) -> StagingArea {
        let size = headerSize + halfCount * halfSize
        let base = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let base, base != MAP_FAILED else { throw Directory.failure(errno, "map \(size) bytes of memory") }
        return StagingArea(
            path: nil,
            halfSize: halfSize,
            halfCount: halfCount,
            base: base,
            size: size,
            descriptor: nil
        )
    }

    /// Writes the header, with the folder and the log of the records.
    func begin(_ log: UInt64, _ folder: FileIdentity) {
        for (value, offset) in [(log, 16), (UInt64(halfSize), 24), (folder.device, 32), (folder.inode, 40)] {
            base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
        }
        let checksum = UInt64(durable_crc32c(0, base + 16, 32)) << 32 | Self.version
        base.storeBytes(of: checksum.littleEndian, toByteOffset: 8, as: UInt64.self)
        base.storeBytes(of: Self.magic.littleEndian, toByteOffset: 0, as: UInt64.self)
    }

    // MARK: Opening

    /// The reason for which the file of an earlier process is not used.
    enum Absence: Error {
        /// The file does not exist or belongs to another folder: it will never be readable.
        case missing
        /// The file may contain samples and cannot be read at the moment.
        case unreadable(QueueError)
    }

    /// Opens the file of an earlier process for this folder and log.
    static func open(leftAt path: String, log: UInt64, folder: FileIdentity) throws(Absence) -> StagingArea {
        let descriptor = Directory.open(path, O_RDWR)
        if descriptor < 0 {
            let number = errno
            // EINVAL: the path is a link, a pipe or a device.
            if [ENOENT, ELOOP, ENOTDIR, EISDIR, ENXIO, EINVAL].contains(number) { throw .missing }
            throw .unreadable(Directory.failure(number, "open \(path)"))
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let number = errno
            close(descriptor)
            throw .unreadable(Directory.failure(number, "read \(path)"))
        }
        let size = Int(status.st_size)
        guard status.st_uid == geteuid(), size > headerSize, (size - headerSize).isMultiple(of: 8) else {
            close(descriptor)
            throw .missing
        }
        guard let base = map(descriptor, size) else {
            let number = errno
            close(descriptor)
            throw .unreadable(Directory.failure(number, "map \(path)"))
        }
        let halfSize = UInt64(littleEndian: (base + 24).load(as: UInt64.self))
        let halfCount = halfSize == UInt64(size - headerSize) ? 1 : 2
        let area = StagingArea(
            path: path,
            halfSize: (size - headerSize) / halfCount,
            halfCount: halfCount,
            base: base,
            size: size,
            descriptor: descriptor
        )
        guard area.load(0) == magic, area.load(8) == UInt64(durable_crc32c(0, base + 16, 32)) << 32 | version,
            area.load(16) == log, halfSize == UInt64(area.halfSize), halfSize.isMultiple(of: 8),
            area.load(32) == folder.device, area.load(40) == folder.inode
        else { throw .missing }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            throw .unreadable(QueueError(.storeFailed, "\(path) is in use by another process"))
        }
        return area
    }

    /// A staged record: its sequence number, and its bytes with the header, in the format of segments.
    struct StagedRecord {
        let sequence: UInt64
        let bytes: UnsafeRawBufferPointer
    }

    /// The records of both halves from the sequence number `first` on, in order. Valid as long as this object.
    func records(from first: UInt64) -> [StagedRecord] {
        (0..<halfCount).flatMap(records(in:)).filter { $0.sequence >= first }.sorted { $0.sequence < $1.sequence }
    }

    private func records(in index: Int) -> [StagedRecord] {
        var found: [StagedRecord] = []
        var offset = 0
        while let record = RecordFormat.record(in: half(index), at: offset, before: halfSize) {
            let bytes = UnsafeRawBufferPointer(start: half(index) + offset, count: record.next - offset)
            found.append(StagedRecord(sequence: record.sequence, bytes: bytes))
            offset = record.next
        }
        return found
    }

    private func load(_ offset: Int) -> UInt64 {
        UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private static func map(_ descriptor: Int32, _ size: Int) -> UnsafeMutableRawPointer? {
        let base = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        return base == MAP_FAILED ? nil : base
    }
}

/// The identity of a file on this machine.
struct FileIdentity: Hashable {
    var device: UInt64
    var inode: UInt64
}

extension FileIdentity {
    /// The identity of the file at a path.
    /// - Throws: if its status cannot be read.
    init(of path: String) throws(QueueError) {
        var status = stat()
        do throws(SystemError) {
            status = try SystemCall.retrying { stat(path, &status) == 0 ? status : nil }.get()
        } catch {
            throw Directory.failure(error.number, "read \(path)")
        }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
