internal import Instrument
internal import InstrumentFiles

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
    /// The names in a directory; none if the directory cannot be read. Only to show: what is not listed may be there.
    static func names(in directory: String) -> [String] { (try? entries(of: directory)) ?? [] }

    /// The names in a directory.
    /// - Throws: if not all of them can be read, since then nobody knows what the directory holds.
    static func entries(of directory: String) throws(QueueError) -> [String] {
        do throws(FileError) { return try Folder.names(in: directory) } catch { throw failure(error) }
    }

    /// The names in a directory that was opened, which is closed. `path` is for the error.
    /// - Throws: if not all of them can be read.
    static func entries(ofOpened descriptor: Int32, path: String) throws(QueueError) -> [String] {
        do throws(FileError) {
            return try Folder.names(inOpened: descriptor, path: path)
        } catch { throw failure(error) }
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

    /// Creates a directory for the user alone; false if something of that name exists.
    static func makeFolder(_ path: String) throws(QueueError) -> Bool {
        if mkdir(path, 0o700) != 0 {
            if errno == EEXIST { return false }
            throw failure(errno, "make the directory \(path)")
        }
        chmod(path, 0o700)
        return true
    }

    /// Says which other users may change the content of a directory; nil if none may.
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

    /// The status of what stands at a path, without following a link; nil if nothing stands there.
    static func status(of path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    /// Whether anything stands at a path, of whatever kind.
    static func exists(_ path: String) -> Bool { status(of: path) != nil }

    static func isFile(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

    static func isDirectory(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFDIR }

    /// The length of a regular file; nil if no regular file stands at the path.
    static func size(of path: String) -> Int? { status(of: path).flatMap { isFile($0) ? Int($0.st_size) : nil } }

    /// Opens a regular file; -1 and `errno` if there is no such file, or something else in its place.
    static func open(_ path: String, _ flags: Int32) -> Int32 { SystemFile.openRegular(path, flags) }

    /// Opens a regular file; retries a failure that may last for a moment only.
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
        try synchronize(Folder.parent(of: path))
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
                let cause = SystemFile.writeAll(zeros, to: descriptor)
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

    /// The first bytes of a file as text, at most `limit`; nil if there is no such file.
    /// - Throws: if the file is there and cannot be read.
    static func text(of path: String, atMost limit: Int) throws(QueueError) -> String? {
        try bytes(of: path, atMost: limit).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The first bytes of a file, at most `limit`; nil if there is no such file.
    /// - Throws: if the file is there and cannot be read.
    static func bytes(of path: String, atMost limit: Int = .max) throws(QueueError) -> [UInt8]? {
        do throws(FileError) { return try SmallFile.prefix(of: path, count: limit) } catch { throw failure(error) }
    }

    /// Puts a file with this text in the place of the one that is there, such that it survives a loss of power.
    static func replace(_ path: String, by text: String) throws(QueueError) {
        do throws(FileError) { try SmallFile.write(Array(text.utf8), to: path) } catch { throw failure(error) }
    }

    /// Puts a file with these bytes in the place of the one that is there: the old one or the new one stands at any moment. The
    /// caller synchronizes the directory.
    static func replace(_ path: String, by bytes: [UInt8]) throws(QueueError) {
        do throws(FileError) {
            try SmallFile.write(bytes, to: path, synchronizesFolder: false)
        } catch { throw failure(error) }
    }

    /// Makes the names in a directory survive a loss of power. Waits for the disk.
    static func synchronize(_ directory: String) throws(QueueError) {
        do throws(FileError) { try Folder.synchronize(directory) } catch { throw failure(error) }
    }

    private static func failure(_ error: FileError) -> QueueError { failure(error.number, error.action) }

    /// The system's words for an error; a full disk has its own code.
    static func failure(_ number: Int32, _ doing: String) -> QueueError {
        let text = String(cString: strerror(number))
        if number == ENOSPC || number == EDQUOT {
            return QueueError(
                .diskFull,
                "cannot \(doing): the disk is full; free space, and the queue continues by itself"
            )
        }
        if [EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR].contains(number) {
            return QueueError(.lacksResources, "cannot \(doing): \(text)")
        }
        return QueueError(.storeFailed, "cannot \(doing): \(text)")
    }

    /// Creates a folder with a new name beside another one, for files that move there. It is not a queue until
    /// ``finishSibling(_:)`` is called.
    static func makeSibling(of folder: String) throws(QueueError) -> String {
        let parent = Folder.parent(of: folder)
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

    /// Renames a file, or whatever stands in its place, to a name that nothing has yet.
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

/// The system's call, which a method above hides.
private func systemClose(_ descriptor: Int32) { close(descriptor) }
