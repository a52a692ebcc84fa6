#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Keeps settings in a file that the user alone may read.
public struct SiftSettingsFile: SiftSettingsStore {
    /// Settings are small: what is larger is none of ours.
    private static var maxSize: Int { 1 << 20 }

    /// The file's path; its directory has to exist.
    public let path: String

    /// Creates a store in the file at `path`, which need not exist yet. For one process at a time.
    public init(path: String) { self.path = path }

    /// What the file holds; nil if there is none.
    public func load() throws(SiftSettingsError) -> [UInt8]? {
        // Not waiting: a pipe may stand in the file's place.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        if file < 0, errno == ENOENT { return nil }
        guard file >= 0 else { throw failure("cannot be opened") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw failure("is not a file") }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count <= Self.maxSize {
            let count = read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("cannot be read") }
            if count == 0 { return bytes }
            bytes += piece.prefix(count)
        }
        throw SiftSettingsError("\(path) is too large for settings; give another path")
    }

    /// Writes a file beside it and puts it in its place.
    public func save(_ bytes: [UInt8]) throws(SiftSettingsError) {
        let new = path + ".new"
        // Left by a crash, or a link that somebody put there: nothing is written through it.
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("cannot be written") }
        let isWritten = write(bytes, to: file) && fsync(file) == 0
        close(file)
        guard isWritten, rename(new, path) == 0 else {
            let error = failure("cannot be written")
            unlink(new)
            throw error
        }
    }

    private func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var left = bytes[...]
        while !left.isEmpty {
            let count = left.withUnsafeBytes { systemWrite(file, $0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            left = left.dropFirst(count)
        }
        return true
    }

    private func systemWrite(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
        Darwin.write(file, bytes.baseAddress, bytes.count)
        #elseif canImport(Glibc)
        Glibc.write(file, bytes.baseAddress, bytes.count)
        #else
        Musl.write(file, bytes.baseAddress, bytes.count)
        #endif
    }

    private func failure(_ what: String) -> SiftSettingsError {
        SiftSettingsError("\(path) \(what) (errno \(errno)); look at its directory and rights")
    }
}
