internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// The store's calls to the file system.
///
/// Only regular files are opened, and never through a link: others may have put a link, a pipe or a device where a file of
/// the store's belongs. What is created is for the user alone, whatever the process's mask says.
enum Directory {
    /// The names in a directory; none if it cannot be read. Only to show: what is not listed may be there.
    static func names(in directory: String) -> [String] { (try? entries(of: directory)) ?? [] }

    /// The names in a directory.
    /// - Throws: if they cannot all be read: then nobody knows what is in it.
    static func entries(of directory: String) throws(QueueError) -> [String] {
        let descriptor = systemOpen(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        if descriptor < 0 { throw failure(errno, "list \(directory)") }
        guard let listing = fdopendir(descriptor) else {
            let cause = errno
            systemClose(descriptor)
            throw failure(cause, "list \(directory)")
        }
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

    /// The names in a directory that was opened, which is closed.
    static func names(in descriptor: Int32) -> [String] {
        guard let listing = fdopendir(descriptor) else {
            systemClose(descriptor)
            return []
        }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = name(of: entry)
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Makes a directory and those above it, for the user alone.
    static func make(_ path: String) throws(QueueError) {
        var made = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: false) {
            made += part + "/"
            if made == "/" { continue }
            if mkdir(made, 0o700) == 0 {
                chmod(made, 0o700)
                continue
            }
            let number = errno
            var status = stat()
            if number != EEXIST, stat(made, &status) != 0 {
                throw QueueError(
                    .storeFailed,
                    "cannot make the directory \(made): \(String(cString: strerror(number)))"
                )
            }
        }
    }

    /// Makes a directory for the user alone; false if there is something of that name.
    static func makeFolder(_ path: String) throws(QueueError) -> Bool {
        if mkdir(path, 0o700) != 0 {
            if errno == EEXIST { return false }
            throw failure(errno, "make the directory \(path)")
        }
        chmod(path, 0o700)
        return true
    }

    /// Says who else may change what is in a directory; nil if nobody.
    static func exposure(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        if status.st_uid != geteuid(), status.st_uid != 0 {
            return "\(path) belongs to another user (number \(status.st_uid)), who can delete and replace what is in it"
        }
        guard status.st_mode & 0o022 != 0 else { return nil }
        return
            "other users may write to \(path) (mode \(String(status.st_mode & 0o7777, radix: 8))) and can delete and "
            + "replace what is in it; take that right away with 'chmod go-w'"
    }

    /// What stands under a path, a link being a link; nil if there is nothing.
    static func status(of path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    /// Whether there is anything under a path, of whatever kind.
    static func exists(_ path: String) -> Bool { status(of: path) != nil }

    static func isFile(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

    static func isDirectory(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFDIR }

    /// A regular file's length; nil if there is none.
    static func size(of path: String) -> Int? { status(of: path).flatMap { isFile($0) ? Int($0.st_size) : nil } }

    /// Opens a regular file; -1 and `errno` if there is none, or something else in its place.
    static func open(_ path: String, _ flags: Int32) -> Int32 {
        // Looked at first, because opening a device may do something.
        if let status = status(of: path), !isFile(status) {
            errno = EINVAL
            return -1
        }
        let descriptor = systemOpen(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
        if descriptor < 0 { return -1 }
        var status = stat()
        guard fstat(descriptor, &status) == 0, isFile(status) else {
            systemClose(descriptor)
            errno = EINVAL
            return -1
        }
        if flags & O_CREAT != 0 { fchmod(descriptor, 0o600) }
        return descriptor
    }

    /// Opens a regular file; tries again what may fail for a moment only.
    static func openPatiently(_ path: String, _ flags: Int32) -> Int32 {
        for _ in 0..<2 {
            let descriptor = open(path, flags)
            if descriptor >= 0 || errno == ENOENT { return descriptor }
        }
        return open(path, flags)
    }

    static func close(_ descriptor: Int32) { systemClose(descriptor) }

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
        let descriptor = open(path, O_WRONLY)
        if descriptor >= 0 {
            var (left, zeros) = (size(of: path) ?? 0, [UInt8](repeating: 0, count: 1 << 16))
            while left > 0 {
                zeros.removeLast(max(0, zeros.count - left))
                let cause = write(zeros, to: descriptor)
                if cause != 0 {
                    systemClose(descriptor)
                    throw failure(cause, "overwrite \(path)")
                }
                left -= zeros.count
            }
            fsync(descriptor)
            systemClose(descriptor)
        }
        try deleteForGood(path)
    }

    /// A small file's text; nil if there is no such file.
    /// - Throws: if the file is there and cannot be read.
    static func text(of path: String, atMost limit: Int) throws(QueueError) -> String? {
        let descriptor = open(path, O_RDONLY)
        if descriptor < 0 {
            if errno == ENOENT { return nil }
            throw failure(errno, "read \(path)")
        }
        defer { systemClose(descriptor) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = read(descriptor, &bytes, bytes.count)
        if count < 0 { throw failure(errno, "read \(path)") }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// A small file's text; nil if it cannot be read.
    static func contents(of path: String) -> String? {
        bytes(of: path, maxCount: 64).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A file's bytes, or the first of them; nil if it cannot be read.
    static func bytes(of path: String, maxCount: Int = .max) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { systemClose(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: min(maxCount, 1 << 16))
        while bytes.count < maxCount {
            let count = read(descriptor, &piece, min(piece.count, maxCount - bytes.count))
            if count == 0 { break }
            if count > 0 { bytes += piece.prefix(count) } else if errno != EINTR { return nil }
        }
        return bytes
    }

    /// Puts a file with this text in the place of the one that is there, such that it survives a loss of power.
    static func replace(_ path: String, by text: String) throws(QueueError) {
        try replace(path, by: Array(text.utf8))
        try synchronizeDirectory(of: path)
    }

    /// Puts a file with these bytes in the place of the one that is there: the old one or the new one stands at any moment.
    static func replace(_ path: String, by bytes: [UInt8]) throws(QueueError) {
        let temporary = path + replacementEnding
        // Left by a crash, or a link that somebody put there.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL)
        if descriptor < 0 { throw failure(errno, "write \(path)") }
        var cause = write(bytes, to: descriptor)
        if cause == 0, fsync(descriptor) != 0 { cause = errno }
        systemClose(descriptor)
        if cause == 0, rename(temporary, path) != 0 { cause = errno }
        guard cause != 0 else { return }
        unlink(temporary)
        throw failure(cause, "write \(path)")
    }

    /// What the name of a file ends with that will replace another; a crash may leave it.
    static var replacementEnding: String { FolderNames.replacementEnding }

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
        let descriptor = systemOpen(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        if descriptor < 0 { throw failure(errno, "open \(directory)") }
        defer { systemClose(descriptor) }
        if fsync(descriptor) != 0 { throw failure(errno, "synchronize \(directory)") }
    }

    /// The system's word for what went wrong; a full disk is told apart.
    static func failure(_ number: Int32, _ doing: String) -> QueueError {
        let text = String(cString: strerror(number))
        if number == ENOSPC || number == EDQUOT {
            return QueueError(.diskFull, "cannot \(doing): the disk is full; free space, the queue goes on by itself")
        }
        if [EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR].contains(number) {
            return QueueError(.lacksResources, "cannot \(doing): \(text)")
        }
        return QueueError(.storeFailed, "cannot \(doing): \(text)")
    }

    /// Makes a folder with a name of its own beside another one, for files that move there. It is no queue until
    /// ``finishSibling(_:)`` is called.
    static func makeSibling(of folder: String) throws(QueueError) -> String {
        let parent = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? "."
        var number = (try entries(of: parent).compactMap(FolderNames.folderNumber).max() ?? 0) + 1
        while true {
            let path = parent + "/" + FolderNames.folder(number)
            if !exists(path), try makeFolder(path + movingEnding) { return path + movingEnding }
            number += 1
        }
    }

    /// Makes a folder from ``makeSibling(of:)`` a queue; returns its path.
    static func finishSibling(_ folder: String) throws(QueueError) -> String {
        let path = String(folder.dropLast(movingEnding.count))
        try move(folder, to: path)
        return path
    }

    private static var movingEnding: String { ".moving" }

    /// Gives a file or a folder another name.
    static func move(_ path: String, to target: String) throws(QueueError) {
        if rename(path, target) != 0 { throw failure(errno, "rename \(path) to \(target)") }
    }

    /// Gives a file, or whatever stands in its place, another name, which none has yet.
    static func setAside(_ path: String) {
        var name = path + ".damaged"
        var number = 1
        while exists(name) {
            number += 1
            name = path + ".damaged-\(number)"
        }
        rename(path, name)
    }
}

/// The system's calls, which those above hide.
private func systemClose(_ descriptor: Int32) { close(descriptor) }

private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
