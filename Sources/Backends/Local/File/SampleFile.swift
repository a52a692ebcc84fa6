internal import Instrument
internal import InstrumentFiles

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// An open file to which batches are appended, each completely or not at all. Owns the descriptor and the lock
/// on the file.
struct SampleFile: ~Copyable {
    let path: String
    private let descriptor: Int32
    private let calls: FileCalls
    /// The file's length; bytes beyond it are left from a failed write.
    private(set) var size: Int
    private var hasRest = false
    /// Whether the name of a new file survives a loss of power.
    private var isNameSynchronized = false

    /// Opens or creates the file and its directory; removes an unfinished batch that a crash left.
    init(
        opening path: String,
        compression: FileConfiguration.Compression,
        calls: FileCalls
    ) throws(FileBackendError) {
        try Self.makeDirectory(of: path)
        // Only the user may read it: samples show what a person watched.
        let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o600)
        if descriptor < 0 { throw FileBackendError(errno: errno, path, "open it for writing") }
        do throws(FileBackendError) {
            size = try Self.prepare(descriptor, path, compression)
        } catch {
            close(descriptor)
            throw error
        }
        self.path = path
        self.descriptor = descriptor
        self.calls = calls
    }

    deinit {
        // A child that was forked meanwhile may hold the same descriptor for a moment.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Appends all of `bytes` and optionally synchronizes them, or leaves the file unchanged.
    mutating func append(_ bytes: UnsafeRawBufferPointer, synchronizing isSynchronizing: Bool) throws(FileBackendError)
    {
        try removeRest()
        // A tool that rotates by copying may have truncated the file.
        size = try Self.length(of: descriptor, path)
        do throws(FileBackendError) {
            hasRest = true
            try writeAll(bytes)
            if isSynchronizing { try synchronize() }
            hasRest = false
        } catch {
            try? removeRest()
            throw error
        }
        size += bytes.count
    }

    private func writeAll(_ bytes: UnsafeRawBufferPointer) throws(FileBackendError) {
        var rest = bytes
        while !rest.isEmpty {
            let written = calls.write(descriptor, rest)
            if written > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            } else if written == 0 || errno != EINTR {
                throw FileBackendError(errno: written == 0 ? EIO : errno, path, "write to it")
            }
        }
    }

    /// Makes written bytes survive a loss of power; the first time also the file's name.
    mutating func synchronize() throws(FileBackendError) {
        if calls.synchronize(descriptor) != 0 { throw FileBackendError(errno: errno, path, "synchronize it") }
        if isNameSynchronized { return }
        try Self.synchronizeDirectory(of: Self.resolve(path), calls)
        isNameSynchronized = true
    }

    /// Whether the path still leads to this file: it, or its directory, may have been moved or deleted.
    var isInPlace: Bool {
        var (mine, there) = (stat(), stat())
        return fstat(descriptor, &mine) == 0 && stat(path, &there) == 0
            && mine.st_ino == there.st_ino && mine.st_dev == there.st_dev
    }

    /// Removes the rest of a failed write, so that a retry does not write the batch twice.
    private mutating func removeRest() throws(FileBackendError) {
        guard hasRest else { return }
        if try Self.length(of: descriptor, path) > size, ftruncate(descriptor, off_t(size)) != 0 {
            throw FileBackendError(errno: errno, path, "remove an unfinished write")
        }
        hasRest = false
    }

    /// The target of a path after links; the path itself if the target does not exist yet.
    static func resolve(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func length(of descriptor: Int32, _ path: String) throws(FileBackendError) -> Int {
        var status = stat()
        if fstat(descriptor, &status) != 0 { throw FileBackendError(errno: errno, path, "read its status") }
        return Int(status.st_size)
    }

    private static func synchronizeDirectory(of path: String, _ calls: FileCalls) throws(FileBackendError) {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { throw FileBackendError(errno: errno, directory, "open this directory to synchronize it") }
        defer { close(descriptor) }
        // Some file systems report that they cannot synchronize a directory.
        if calls.synchronize(descriptor) != 0, errno != EINVAL {
            throw FileBackendError(errno: errno, directory, "synchronize this directory")
        }
    }

    private static func prepare(
        _ descriptor: Int32,
        _ path: String,
        _ compression: FileConfiguration.Compression
    ) throws(FileBackendError) -> Int {
        var status = stat()
        if fstat(descriptor, &status) != 0 { throw FileBackendError(errno: errno, path, "read its status") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw FileBackendError(.notAFile, path, "it must be a regular file")
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno != EWOULDBLOCK { throw FileBackendError(errno: errno, path, "lock it") }
            throw FileBackendError(.inUse, path, "another backend writes to it; give each its own file")
        }
        let whole = try TornEnd.wholeLength(of: descriptor, path, length: Int(status.st_size), compression)
        if whole < Int(status.st_size), ftruncate(descriptor, off_t(whole)) != 0 {
            throw FileBackendError(errno: errno, path, "remove its torn end")
        }
        return whole
    }

    private static func makeDirectory(of path: String) throws(FileBackendError) {
        guard let slash = path.lastIndex(of: "/") else { return }
        let folder = String(path[..<slash])
        do throws(FileError) { try Folder.create(folder) } catch {
            throw FileBackendError(errno: error.number, folder, "create this directory")
        }
    }
}
