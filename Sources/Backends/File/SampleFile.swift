internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// An open file to which batches are appended, each wholly or not at all. Owns the descriptor and the lock on the file.
struct SampleFile: ~Copyable {
    /// Writes like `write(2)`; tests put a full disk in its place.
    typealias Write = @Sendable (Int32, UnsafeRawBufferPointer) -> Int

    let path: String
    private let descriptor: Int32
    private let write: Write
    /// The file's length; what lies beyond is the rest of a write that failed.
    private(set) var size: Int
    private var hasRest = false

    /// Opens or creates the file, and its directory; takes off what a crash left of an unfinished batch.
    init(
        opening path: String,
        compression: FileConfiguration.Compression,
        write: @escaping Write
    ) throws(FileBackendError) {
        try Self.makeDirectory(of: path)
        // Only the user may read it: samples tell what a person watched.
        let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        if descriptor < 0 { throw FileBackendError(errno: errno, path, "open it for writing") }
        do throws(FileBackendError) {
            size = try Self.prepare(descriptor, path, compression)
        } catch {
            close(descriptor)
            throw error
        }
        self.path = path
        self.descriptor = descriptor
        self.write = write
    }

    deinit { close(descriptor) }

    /// Appends all of `bytes`, or leaves the file as it was.
    mutating func append(_ bytes: [UInt8]) throws(FileBackendError) {
        try removeRest()
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(descriptor, $0) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                let error = FileBackendError(errno: errno, path, "write to it")
                hasRest = rest.count < bytes.count
                try? removeRest()
                throw error
            }
        }
        size += bytes.count
    }

    /// Makes what was written survive a loss of power.
    func synchronize() throws(FileBackendError) {
        if fsync(descriptor) != 0 { throw FileBackendError(errno: errno, path, "synchronize it") }
    }

    /// Whether the path still leads to this file: it, or its directory, may have been moved or deleted.
    var isInPlace: Bool {
        var (mine, there) = (stat(), stat())
        return fstat(descriptor, &mine) == 0 && stat(path, &there) == 0
            && mine.st_ino == there.st_ino && mine.st_dev == there.st_dev
    }

    /// Takes back what a failed write left, so that the batch does not stand there twice when it is tried again.
    private mutating func removeRest() throws(FileBackendError) {
        guard hasRest else { return }
        if ftruncate(descriptor, off_t(size)) != 0 {
            throw FileBackendError(errno: errno, path, "take back an unfinished write")
        }
        hasRest = false
    }

    private static func prepare(
        _ descriptor: Int32,
        _ path: String,
        _ compression: FileConfiguration.Compression
    ) throws(FileBackendError) -> Int {
        var status = stat()
        if fstat(descriptor, &status) != 0 { throw FileBackendError(errno: errno, path, "look at it") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw FileBackendError(.notAFile, path, "it is no regular file")
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            throw FileBackendError(.inUse, path, "another backend writes to it; give each its own file")
        }
        let whole = try TornEnd.wholeLength(of: descriptor, path, length: Int(status.st_size), compression)
        if whole < Int(status.st_size), ftruncate(descriptor, off_t(whole)) != 0 {
            throw FileBackendError(errno: errno, path, "take off its torn end")
        }
        return whole
    }

    private static func makeDirectory(of path: String) throws(FileBackendError) {
        var made = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropLast() {
            made += part + "/"
            if made == "/" || mkdir(made, 0o700) == 0 || errno == EEXIST { continue }
            // A directory above may exist without our being allowed to make one beside it.
            var status = stat()
            let number = errno
            if stat(made, &status) != 0 { throw FileBackendError(errno: number, made, "make this directory") }
        }
    }
}
