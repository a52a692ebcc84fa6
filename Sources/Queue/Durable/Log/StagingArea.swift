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
/// The file has a header of 128 bytes, two halves, and the path of the folder that the records belong to. A half
/// contains records in the format of segments, up to a length of zero. One half is filled while the other one is
/// copied. Records that are larger than a half have a separate area beside the first one, with a single part of their
/// size.
///
/// | offset | |
/// |---|---|
/// | 0 | `INSTRSTG` |
/// | 8 | version (4 bytes), CRC-32C of bytes 16 to 56 (4 bytes) |
/// | 16 | random number of the log, size of a half |
/// | 32 | device and inode of the folder, length of its path |
/// | 56 | the sequence number after the last sample that was or is being staged |
/// | 64 | the sequence number after the last staged sample |
/// | 72 | the number of samples that the store has refused |
/// | 80 | inode of the mount namespace, device and inode of the root that the process had; 0 if unknown |
///
/// The random number of the log is in the folder, too, and says to which folder the records belong. Device and inode
/// only tell a folder from its copy: they change when a volume is attached again. Version 1 has a header of 64 bytes
/// without a path, whose sequence number is at 48.
///
/// `@unchecked Sendable`, because: the mapping lives as long as this object; its owner writes to a half under its
/// state's lock, and copies a half under its draining lock, while nothing writes to that half.
final class StagingArea: @unchecked Sendable {
    private static var magic: UInt64 { 0x4754_5352_5453_4E49 }

    /// The places in the header of a version.
    private struct Layout {
        let version: UInt64
        let headerSize: Int
        /// The end of the bytes that the checksum covers, where the sequence number begins.
        let checkedEnd: Int

        static let current = Layout(version: 2, headerSize: 128, checkedEnd: 56)
        static let known = [current, Layout(version: 1, headerSize: 64, checkedEnd: 48)]
        var isCurrent: Bool { version == Self.current.version }
    }

    /// The path of the file; nil if the memory ends with the process.
    let path: String?
    let halfSize: Int
    private let halfCount: Int
    private let layout: Layout
    private let base: UnsafeMutableRawPointer
    private let size: Int
    private let descriptor: Int32?

    private init(
        path: String?,
        halfSize: Int,
        halfCount: Int,
        layout: Layout = .current,
        base: UnsafeMutableRawPointer,
        size: Int,
        descriptor: Int32?
    ) {
        self.path = path
        self.layout = layout
        self.halfSize = halfSize
        self.halfCount = halfCount
        self.base = base
        self.size = size
        self.descriptor = descriptor
    }

    deinit {
        munmap(base, size)
        guard let descriptor else { return }
        // A child that was forked in the meantime may hold the same descriptor for a moment.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Whether staged records outlive the process.
    var outlivesProcess: Bool { path != nil }

    /// The first byte of a half, 0 or 1.
    func half(_ index: Int) -> UnsafeMutableRawPointer { base + layout.headerSize + index * halfSize }

    /// Writes the sequence number after the last sample that is being staged.
    func note(next sequence: UInt64) { store(sequence, layout.checkedEnd) }

    /// The sequence number after the last sample that was or is being staged.
    var nextSequence: UInt64 { load(layout.checkedEnd) }

    /// Writes the sequence number after the last staged sample.
    func note(staged sequence: UInt64) { store(sequence, 64) }

    /// The sequence number after the last sample that was certainly staged; 0 if none is known.
    var stagedEnd: UInt64 {
        // A sample is noted before it is staged.
        guard layout.isCurrent, case let end = load(64), end <= nextSequence else { return 0 }
        return end
    }

    /// Writes the number of samples that the store has refused.
    func note(refused count: Int) { store(UInt64(clamping: count), 72) }

    /// The number of samples that the store has refused; 0 if it is unknown.
    var refusedCount: Int { layout.isCurrent ? Int(clamping: load(72)) : 0 }

    /// Writes what the process that makes the area sees of the file systems.
    func note(_ view: FileView) {
        for (value, offset) in [(view.namespace, 80), (view.root.device, 88), (view.root.inode, 96)] {
            store(value, offset)
        }
    }

    /// What the process that made the area saw of the file systems: the folder's path is a path for processes with the
    /// same view; nil if it is unknown.
    var view: FileView? {
        guard layout.isCurrent, case let namespace = load(80), namespace != 0 else { return nil }
        return FileView(namespace: namespace, root: FileIdentity(device: load(88), inode: load(96)))
    }

    private func store(_ value: UInt64, _ offset: Int) {
        base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
    }

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
    static func make(in directory: String, halfSize: Int, log: UInt64, folder: StagedFolder, _ randomness: RandomSource)
        -> StagingArea?
    {
        let path = directory + "/" + namePrefix + randomness.identifier()
        guard let area = make(at: path, halfSize: halfSize, halfCount: 2, folder.path) else { return nil }
        area.begin(log, folder.identity)
        return area
    }

    private static func make(at path: String, halfSize: Int, halfCount: Int, _ folder: String) -> StagingArea? {
        let size = Layout.current.headerSize + halfCount * halfSize + padded(folder.utf8.count)
        let descriptor = Directory.open(path, O_RDWR | O_CREAT | O_EXCL)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, durable_allocate(descriptor, Int64(size)) == 0,
            let base = map(descriptor, size)
        else {
            unlink(path)
            close(descriptor)
            return nil
        }
        let area = StagingArea(
            path: path,
            halfSize: halfSize,
            halfCount: halfCount,
            base: base,
            size: size,
            descriptor: descriptor
        )
        area.store(UInt64(folder.utf8.count), 48)
        if let view = FileView.current { area.note(view) }
        let end = area.half(halfCount)
        for (index, byte) in folder.utf8.enumerated() { end.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
        return area
    }

    private static func padded(_ count: Int) -> Int { (count + 7) & ~7 }

    /// The path of the folder, as the process that made the area had it; empty if it is unknown.
    var folderPath: String {
        let end = half(halfCount)
        let count = layout.isCurrent ? min(Int(clamping: load(48)), max(0, size - (end - base))) : 0
        return String(decoding: UnsafeRawBufferPointer(start: end, count: count), as: UTF8.self)
    }

    /// The device and inode that the folder had.
    var folderIdentity: FileIdentity { FileIdentity(device: load(32), inode: load(40)) }

    /// Creates an area with one part, for records that are larger than a half: a file beside this one if this one is a
    /// file and there is room, otherwise memory that ends with the process.
    func makeSibling(size: Int, first: UInt64) throws(QueueError) -> StagingArea {
        let name = path.map { $0 + Self.siblingMark + first.padded(16, radix: 16) }
        guard let name, let area = Self.make(at: name, halfSize: size, halfCount: 1, folderPath) else {
            return try Self.inProcess(halfSize: size, halfCount: 1)
        }
        area.begin(load(16), folderIdentity)
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
    private static var namePrefix: String { "instrument-queue-" }

    /// Whether a path may be the path of an area: anything else comes from damage.
    static func isPath(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return path.hasPrefix("/") && path.utf8.count < 4096 && isName(String(name))
            && path.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0xFFFD }
    }

    private static func isName(_ name: String) -> Bool {
        name.hasPrefix(namePrefix) && name.utf8.count < 256 && !name.contains(siblingMark)
    }

    /// The paths of the areas in a directory; empty if it cannot be read.
    static func paths(in directory: String) -> [String] {
        Directory.names(in: directory).filter(isName).map { directory + "/" + $0 }
    }

    /// Creates memory that ends with the process.
    static func inProcess(halfSize: Int, halfCount: Int = 2) throws(QueueError) -> StagingArea {
        let size = Layout.current.headerSize + halfCount * halfSize
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
            store(value, offset)
        }
        store(Self.checksum(base, layout), 8)
        store(Self.magic, 0)
    }

    private static func checksum(_ base: UnsafeRawPointer, _ layout: Layout) -> UInt64 {
        UInt64(durable_crc32c(0, base + 16, layout.checkedEnd - 16)) << 32 | layout.version
    }

    // MARK: Opening

    /// The reason for which the file of an earlier process is not used.
    enum Absence: Error {
        /// The file does not exist or is no staging area.
        case missing
        /// The file belongs to another user.
        case ofOtherUser(UInt32)
        /// The file is the staging area of another log.
        case foreign
        /// A process uses the file.
        case inUse(StagingArea)
        /// The file may contain samples and cannot be read at the moment.
        case unreadable(QueueError)
    }

    /// Opens the file of an earlier process.
    ///
    /// - Parameters:
    ///   - log: the log whose records are wanted; nil for any.
    ///   - isLocked: whether the file is locked, so that no other process uses it.
    static func open(leftAt path: String, log: UInt64?, isLocked: Bool = true) throws(Absence) -> StagingArea {
        let descriptor = Directory.open(path, O_RDWR)
        if descriptor < 0 {
            let number = errno
            // EINVAL: the path is a link, a pipe or a device.
            if [ENOENT, ELOOP, ENOTDIR, EISDIR, ENXIO, EINVAL].contains(number) { throw .missing }
            var status = stat()
            if lstat(path, &status) == 0, status.st_uid != geteuid() { throw .ofOtherUser(status.st_uid) }
            throw .unreadable(Directory.failure(number, "open \(path)"))
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let number = errno
            close(descriptor)
            throw .unreadable(Directory.failure(number, "read \(path)"))
        }
        // Any user may write to this directory: the file could be forged.
        guard status.st_uid == geteuid() else {
            close(descriptor)
            throw .ofOtherUser(status.st_uid)
        }
        let size = Int(status.st_size)
        guard size > Layout.current.headerSize, size.isMultiple(of: 8) else {
            close(descriptor)
            throw .missing
        }
        guard let base = map(descriptor, size) else {
            let number = errno
            close(descriptor)
            throw .unreadable(Directory.failure(number, "map \(path)"))
        }
        guard let area = StagingArea(path, base, size, descriptor) else {
            munmap(base, size)
            close(descriptor)
            throw .missing
        }
        if let log, area.log != log { throw .foreign }
        if isLocked, !area.lock() { throw .inUse(area) }
        return area
    }

    /// Locks the file. Returns false if a process uses it.
    func lock() -> Bool {
        guard let descriptor else { return true }
        // Another start holds a lock for an instant, and so does a child process until it runs its program.
        for _ in 0..<100 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(1000)
        }
        return false
    }

    /// The random number of the log.
    var log: UInt64 { load(16) }

    /// Interprets a mapped file; nil if its header is damaged or of an unknown version.
    private convenience init?(_ path: String, _ base: UnsafeMutableRawPointer, _ size: Int, _ descriptor: Int32) {
        func load(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        let layout = Layout.known.first { load(8) == Self.checksum(base, $0) }
        guard load(0) == Self.magic, let layout, let halfSize = Int(exactly: load(24)), halfSize.isMultiple(of: 8),
            let pathSize = layout.isCurrent ? Int(exactly: load(48)) : 0, pathSize < 1 << 16,
            case let content = size - layout.headerSize - Self.padded(pathSize), halfSize > 0, content > 0,
            content == halfSize || content.isMultiple(of: 2) && content / 2 == halfSize
        else { return nil }
        self.init(
            path: path,
            halfSize: halfSize,
            halfCount: content == halfSize ? 1 : 2,
            layout: layout,
            base: base,
            size: size,
            descriptor: descriptor
        )
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

/// A folder that staged records belong to.
struct StagedFolder {
    /// The path without links; empty if it is unknown.
    let path: String
    let identity: FileIdentity

    init(_ path: String) throws(QueueError) {
        identity = try FileIdentity(of: path)
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        self.path = resolved.map { String(cString: $0) } ?? ""
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
        self.init(status)
    }

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
