internal import Instrument
internal import InstrumentFiles

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// The store's calls to the file system.
///
/// The store opens only regular files, and never through a link: others may have created a link, a pipe or a device
/// under the name of a file of the store. Only the user can access created files, independent of the process's mask.
enum Directory {
    /// The names in a directory; empty if the directory cannot be read. For display only, because the list may be
    /// incomplete.
    static func names(in directory: String) -> [String] { (try? entries(of: directory)) ?? [] }

    /// The names in a directory.
    /// - Throws: if a name cannot be read, because a partial list would hide files.
    static func entries(of directory: String) throws(QueueError) -> [String] {
        do throws(FileError) { return try Folder.names(in: directory) } catch { throw failure(error) }
    }

    /// The names in an opened directory, which this method closes. `path` is for the error.
    /// - Throws: if a name cannot be read.
    static func entries(ofOpened descriptor: Int32, path: String) throws(QueueError) -> [String] {
        do throws(FileError) {
            return try Folder.names(inOpened: descriptor, path: path)
        } catch { throw failure(error) }
    }

    /// Creates a directory and its parents, with access for this user only.
    static func make(_ path: String) throws(QueueError) {
        do throws(FileError) { try Folder.create(path) } catch { throw QueueError(.storeFailed, "\(error)") }
    }

    /// Creates a directory with access for this user only. Returns false if the name exists.
    static func makeFolder(_ path: String) throws(QueueError) -> Bool {
        if mkdir(path, 0o700) != 0 {
            if errno == EEXIST { return false }
            throw failure(errno, "create the directory \(path)")
        }
        chmod(path, 0o700)
        return true
    }

    /// Describes which other users can change the content of a directory; nil if only this user can.
    static func exposure(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        if status.st_uid != geteuid(), status.st_uid != 0 {
            return "\(path) belongs to another user (number \(status.st_uid)), who can delete and replace its files; "
                + "change the owner"
        }
        guard status.st_mode & 0o022 != 0 else { return nil }
        return
            "other users may write to \(path) (mode \(String(status.st_mode & 0o7777, radix: 8))) and can delete and "
            + "replace its files; remove that permission with 'chmod go-w'"
    }

    /// The status of the file at a path, without following a link; nil if the path does not exist. Retries a momentary
    /// error, because a file that looks missing may be replaced.
    static func status(of path: String) -> stat? {
        var status = stat()
        return try? SystemCall.retrying(unless: [ENOENT, ENOTDIR]) { lstat(path, &status) == 0 ? status : nil }.get()
    }

    /// Whether a path exists, as a file of any kind.
    static func exists(_ path: String) -> Bool { status(of: path) != nil }

    static func isFile(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

    /// Whether a path has something that the store never writes: a link, a pipe, a directory, a device.
    static func isForeign(_ path: String) -> Bool { status(of: path).map { !isFile($0) } ?? false }

    static func isDirectory(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFDIR }

    /// The length of a regular file; nil if the path is not a regular file.
    static func size(of path: String) -> Int? { status(of: path).flatMap { isFile($0) ? Int($0.st_size) : nil } }

    /// Opens a regular file; -1 and `errno` if the path is not a regular file, or if few descriptors are left.
    static func open(_ path: String, _ flags: Int32) -> Int32 {
        FileLimit.keepingReserve(SystemFile.openRegular(path, flags))
    }

    /// Opens a regular file; retries a failure that may be momentary.
    static func openRetrying(_ path: String, _ flags: Int32) -> Result<Int32, SystemError> {
        SystemCall.retrying(unless: [ENOENT]) {
            let descriptor = open(path, flags)
            return descriptor >= 0 ? descriptor : nil
        }
    }

    static func close(_ descriptor: Int32) { systemClose(descriptor) }

    static func delete(_ path: String) { unlink(path) }

    /// Deletes a file so that it stays deleted after a loss of power.
    static func deleteForGood(_ path: String) throws(QueueError) {
        if unlink(path) != 0, errno != ENOENT { throw failure(errno, "delete \(path)") }
        try synchronize(Folder.parent(of: path))
    }

    /// Overwrites a file's bytes and deletes the file, so that it stays deleted after a loss of power.
    ///
    /// On a disk that writes to another place each time (flash, copy on write), no program can overwrite the old
    /// blocks.
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
            let cause = SystemFile.synchronize(descriptor) == 0 ? 0 : errno
            systemClose(descriptor)
            // Without the file, nothing could overwrite its bytes any more.
            if cause != 0 { throw failure(cause, "overwrite \(path)") }
        }
        try deleteForGood(path)
    }

    /// The first bytes of a file as text, at most `limit`; nil if the file does not exist.
    /// - Throws: if the file exists and cannot be read.
    static func text(of path: String, atMost limit: Int) throws(QueueError) -> String? {
        try bytes(of: path, atMost: limit).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The first bytes of a file, at most `limit`; nil if the file does not exist.
    /// - Throws: if the file exists and cannot be read.
    static func bytes(of path: String, atMost limit: Int = .max) throws(QueueError) -> [UInt8]? {
        do throws(FileError) { return try SmallFile.prefix(of: path, count: limit) } catch { throw failure(error) }
    }

    /// Replaces a file by this text, so that the new file survives a loss of power.
    static func replace(_ path: String, by text: String) throws(QueueError) {
        do throws(FileError) { try SmallFile.write(Array(text.utf8), to: path) } catch { throw failure(error) }
    }

    /// Replaces a file by these bytes: at any instant the path has the old or the new content. The caller synchronizes
    /// the directory.
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

    /// An error with the system's text; a full disk has a separate code.
    static func failure(_ number: Int32, _ doing: String) -> QueueError {
        let text = SystemError(number).description
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

    /// Creates a folder with a new name beside another folder, for files that move there. It becomes a queue's folder
    /// with ``finishSibling(_:)``.
    static func makeSibling(of folder: String) throws(QueueError) -> String {
        let parent = Folder.parent(of: folder)
        var number = (try entries(of: parent).compactMap(FolderNames.folderNumber).max() ?? 0) + 1
        while true {
            let path = parent + "/" + FolderNames.folder(number)
            if !exists(path), try makeFolder(path + movingEnding) { return path + movingEnding }
            number += 1
        }
    }

    /// Makes a folder from ``makeSibling(of:)`` a queue's folder. Returns its path.
    static func finishSibling(_ folder: String) throws(QueueError) -> String {
        let path = String(folder.dropLast(movingEnding.count))
        try move(folder, to: path)
        return path
    }

    private static var movingEnding: String { ".moving" }

    /// Renames a file or a folder.
    static func move(_ path: String, to target: String) throws(QueueError) {
        do throws(SystemError) { try renameRetrying(path, target).get() } catch {
            throw failure(error.number, "rename \(path) to \(target)")
        }
    }

    /// Renames a file; retries a failure that may be momentary.
    static func renameRetrying(_ path: String, _ target: String) -> Result<Void, SystemError> {
        SystemCall.retrying(unless: [ENOENT]) { rename(path, target) == 0 ? () : nil }
    }

    /// Renames a file of any kind to an unused name.
    static func setAside(_ path: String) {
        var name = path + ".damaged"
        var number = 1
        while exists(name) {
            number += 1
            name = path + ".damaged-\(number)"
        }
        _ = renameRetrying(path, name)
    }
}

/// The system's call, which a method above hides.
private func systemClose(_ descriptor: Int32) { close(descriptor) }
