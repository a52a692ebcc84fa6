#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Keeps memories in a directory, a file each, which the user alone may read. For one process at a time.
public struct FileStateStore: XAPIStateStore {
    /// Memories are small: what is larger is none of ours.
    private static var maxSize: Int { 8 << 20 }
    private static var ending: String { ".xapi-state" }

    /// The directory; made when something is saved for the first time.
    public let root: String

    /// Creates a store in the directory `root`, whose parent has to exist.
    public init(root: String) { self.root = root }

    /// What the key's file holds; nil if there is none.
    public func load(_ key: String) throws(XAPIStateError) -> [UInt8]? {
        let path = try path(of: key)
        // A link or a pipe in the file's place is neither followed nor waited for.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        if file < 0, errno == ENOENT { return nil }
        guard file >= 0 else { throw failure("cannot be opened") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw failure("cannot be read") }
        var (bytes, piece) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 14))
        while bytes.count <= Self.maxSize {
            let count = read(file, &piece, piece.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += piece.prefix(count) } else if errno != EINTR { throw failure("cannot be read") }
        }
        throw XAPIStateError("a state in \(root) is too large; give another directory")
    }

    /// Writes a file beside it, and puts that in its place once it is on the disk.
    public func save(_ bytes: [UInt8], under key: String) throws(XAPIStateError) {
        let path = try path(of: key)
        if mkdir(root, 0o700) != 0, errno != EEXIST { throw failure("cannot be made") }
        // Left by a crash, or a link that somebody put there: nothing is written through it.
        unlink(path + ".new")
        let file = open(path + ".new", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("cannot be written to") }
        let isWhole = writeAll(bytes, to: file) && fsync(file) == 0
        close(file)
        guard isWhole, rename(path + ".new", path) == 0 else {
            let error = failure("cannot be written to")
            unlink(path + ".new")
            throw error
        }
        // The queue relies on the new name from now on, also after a loss of power.
        guard synchronizeDirectory() else { throw failure("cannot be written to") }
    }

    /// Deletes the key's file.
    public func remove(_ key: String) throws(XAPIStateError) {
        guard unlink(try path(of: key)) != 0, errno != ENOENT else { return }
        throw failure("cannot be emptied")
    }

    /// Deletes the files of memories, and nothing else.
    public func removeAll() throws(XAPIStateError) {
        guard let directory = opendir(root) else {
            if errno == ENOENT { return }
            throw failure("cannot be read")
        }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
            }
            if name.hasSuffix(Self.ending) || name.hasSuffix(Self.ending + ".new") { names.append(name) }
        }
        for name in names where unlink(root + "/" + name) != 0 && errno != ENOENT {
            throw failure("cannot be emptied")
        }
    }

    private func synchronizeDirectory() -> Bool {
        let directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return false }
        defer { close(directory) }
        // Some file systems have nothing to synchronize there.
        return fsync(directory) == 0 || errno == EINVAL
    }

    private func path(of key: String) throws(XAPIStateError) -> String {
        let isName = !key.isEmpty && key.utf8.allSatisfy { TextCursor.isDigit($0) || isLetter($0) }
        guard isName else { throw XAPIStateError("the key of a state is made of letters and digits") }
        return root + "/" + key + Self.ending
    }

    private func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }

    private func writeAll(_ bytes: [UInt8], to file: Int32) -> Bool {
        var left = bytes[...]
        while !left.isEmpty {
            let count = left.withUnsafeBytes { Self.systemWrite(file, $0) }
            if count > 0 { left = left.dropFirst(count) } else if count == 0 || errno != EINTR { return false }
        }
        return true
    }

    /// Under a name of its own, because this type's methods hide the system's.
    private static func systemWrite(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        write(file, bytes.baseAddress, bytes.count)
    }

    private func failure(_ what: String) -> XAPIStateError {
        XAPIStateError(
            "the directory \(root) \(what) (errno \(errno)); look at its rights, and whether the disk is full"
        )
    }
}
