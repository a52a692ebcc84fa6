internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// What the store does with directories.
enum Directory {
    /// The names in a directory; none if it cannot be read.
    static func names(in directory: String) -> [String] {
        guard let listing = opendir(directory) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            // In place: entries are shorter than their type, so that a copy would read beyond them.
            let name = withUnsafeMutablePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Makes a directory and those above it, for the user alone.
    static func make(_ path: String) throws(QueueError) {
        var made = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: false) {
            made += part + "/"
            if made == "/" || mkdir(made, 0o700) == 0 || errno == EEXIST { continue }
            let number = errno
            var status = stat()
            if stat(made, &status) != 0 {
                throw QueueError(
                    .storeFailed,
                    "cannot make the directory \(made): \(String(cString: strerror(number)))"
                )
            }
        }
    }

    /// A file's length; nil if there is none.
    static func size(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    static func delete(_ path: String) { unlink(path) }

    /// Deletes a file such that it stays deleted after a loss of power.
    static func deleteForGood(_ path: String) throws(QueueError) {
        if unlink(path) != 0, errno != ENOENT { throw failure(errno, "delete \(path)") }
        try synchronizeDirectory(of: path)
    }

    /// A small file's text; nil if it cannot be read.
    static func contents(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        return count >= 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }

    /// Puts a file with this text in the place of the one that is there, such that it survives a loss of power.
    static func replace(_ path: String, by text: String) throws(QueueError) {
        try replace(path, by: Array(text.utf8))
        try synchronizeDirectory(of: path)
    }

    /// Puts a file with these bytes in the place of the one that is there: the old one or the new one stands at any moment.
    static func replace(_ path: String, by bytes: [UInt8]) throws(QueueError) {
        let temporary = path + replacementEnding
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw failure(errno, "write \(path)") }
        var cause = write(bytes, to: descriptor)
        if cause == 0, fsync(descriptor) != 0 { cause = errno }
        close(descriptor)
        if cause == 0, rename(temporary, path) != 0 { cause = errno }
        guard cause != 0 else { return }
        unlink(temporary)
        throw failure(cause, "write \(path)")
    }

    /// What the name of a file ends with that will replace another; a crash may leave it.
    static var replacementEnding: String { ".new" }

    /// Returns the number of the error; 0 if there was none.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = systemWrite(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                if count > 0 { written += count } else if errno != EINTR { return errno }
            }
            return 0
        }
    }

    private static func synchronizeDirectory(of path: String) throws(QueueError) {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw failure(errno, "open \(directory)") }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw failure(errno, "synchronize \(directory)") }
    }

    /// The system's word for what went wrong; a full disk is told apart.
    static func failure(_ number: Int32, _ doing: String) -> QueueError {
        let text = String(cString: strerror(number))
        if number == ENOSPC || number == EDQUOT {
            return QueueError(.diskFull, "cannot \(doing): the disk is full; free space, the queue goes on by itself")
        }
        return QueueError(.storeFailed, "cannot \(doing): \(text)")
    }

    /// Gives a file another name, which none has yet.
    static func setAside(_ path: String) {
        var name = path + ".damaged"
        var number = 1
        while size(of: name) != nil {
            number += 1
            name = path + ".damaged-\(number)"
        }
        rename(path, name)
    }

    /// Deletes a directory and what is in it; directories in it have to be gone already.
    static func remove(_ path: String) {
        for name in names(in: path) { unlink(path + "/" + name) }
        rmdir(path)
    }
}

/// Says that a directory is ours, for as long as this stands or the process lives.
struct DirectoryLock: ~Copyable {
    private let descriptor: Int32

    /// nil if another process, or another store of this one, holds it.
    init?(_ directory: String) {
        let descriptor = open(directory + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    deinit {
        // A child that was forked meanwhile may hold the same descriptor for a moment.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

/// The system's `write`, which the one above hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
