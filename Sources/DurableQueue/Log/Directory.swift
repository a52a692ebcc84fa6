internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// What the store does with directories.
enum Directory {
    /// The names in a directory; none if it cannot be read. Only to show: what is not listed may be there.
    static func names(in directory: String) -> [String] { (try? entries(of: directory)) ?? [] }

    /// The names in a directory.
    /// - Throws: if they cannot all be read: then nobody knows what is in it.
    static func entries(of directory: String) throws(QueueError) -> [String] {
        guard let listing = opendir(directory) else { throw failure(errno, "list \(directory)") }
        defer { closedir(listing) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(listing) {
            names.append(name(of: entry))
            errno = 0
        }
        if errno != 0 { throw failure(errno, "list \(directory)") }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        // In place: entries are shorter than their type, so that a copy would read beyond them.
        withUnsafeMutablePointer(to: &entry.pointee.d_name) {
            String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
        }
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

    /// Overwrites a file's bytes and deletes it, such that it stays deleted after a loss of power.
    ///
    /// On a disk that writes elsewhere each time (flash, copy on write), overwriting does not reach the old blocks; nothing
    /// that a program can do does.
    static func overwriteAndDelete(_ path: String) throws(QueueError) {
        let descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if descriptor >= 0 {
            var (left, zeros) = (size(of: path) ?? 0, [UInt8](repeating: 0, count: 1 << 16))
            while left > 0 {
                zeros.removeLast(max(0, zeros.count - left))
                let cause = write(zeros, to: descriptor)
                if cause != 0 {
                    close(descriptor)
                    throw failure(cause, "overwrite \(path)")
                }
                left -= zeros.count
            }
            fsync(descriptor)
            close(descriptor)
        }
        try deleteForGood(path)
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

    /// A small file's text; nil if there is no such file.
    /// - Throws: if the file is there and cannot be read.
    static func text(of path: String, atMost limit: Int) throws(QueueError) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor < 0 {
            if errno == ENOENT { return nil }
            throw failure(errno, "read \(path)")
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = read(descriptor, &bytes, bytes.count)
        if count < 0 { throw failure(errno, "read \(path)") }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
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
        try synchronize(path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".")
    }

    /// Makes the names in a directory survive a loss of power. Waits for the disk.
    static func synchronize(_ directory: String) throws(QueueError) {
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

    /// Makes a folder with a name of its own beside another one, for files that move there. It is no queue until
    /// ``finishSibling(_:)`` is called.
    static func makeSibling(of folder: String) throws(QueueError) -> String {
        let parent = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? "."
        var number = (try entries(of: parent).compactMap { UInt64($0.prefix(8), radix: 16) }.max() ?? 0) + 1
        while true {
            let digits = String(number, radix: 16)
            let path = parent + "/" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
            if size(of: path + ".queue") == nil {
                if mkdir(path + ".moving", 0o700) == 0 { return path + ".moving" }
                if errno != EEXIST { throw failure(errno, "make the directory \(path).moving") }
            }
            number += 1
        }
    }

    /// Makes a folder from ``makeSibling(of:)`` a queue; returns its path.
    static func finishSibling(_ folder: String) throws(QueueError) -> String {
        let path = folder.dropLast(".moving".count) + ".queue"
        try move(folder, to: String(path))
        return String(path)
    }

    /// Gives a file or a folder another name.
    static func move(_ path: String, to target: String) throws(QueueError) {
        if rename(path, target) != 0 { throw failure(errno, "rename \(path) to \(target)") }
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
