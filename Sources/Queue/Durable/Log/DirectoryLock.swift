internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Ownership of a folder, until this object or the process ends.
///
/// The lock is on the folder, so that the deletion of a file does not end it. It is also on the file `lock` in the
/// folder, which earlier versions use, and which works on file systems that cannot lock directories.
struct DirectoryLock: ~Copyable {
    /// The reason for which a folder cannot be locked.
    enum Refusal: Error {
        /// Another process, or another store of this process, owns it.
        case busy
        /// The folder no longer exists.
        case missing
        /// The folder belongs to another user or is not writable; the text has the cause.
        case foreign(String)
    }

    /// The path of the folder when it was locked.
    let path: String
    private let folder: Int32
    /// -1 without such a file: then only the folder is locked.
    private let file: Int32

    /// Locks a folder, and removes the other users' access to it.
    init(_ path: String) throws(Refusal) {
        let folder = try Self.openFolder(path)
        let file: Int32
        do throws(Refusal) {
            let isLocked = try Self.lock(folder)
            // Its owner may have deleted the folder before the lock.
            guard Self.isFolder(folder, at: path) else { throw .missing }
            file = try Self.lockFile(in: folder, isFolderLocked: isLocked)
        } catch {
            close(folder)
            throw error
        }
        do throws(Refusal) {
            try Self.tighten(folder, path)
        } catch {
            if file >= 0 { close(file) }
            close(folder)
            throw error
        }
        self.path = path
        self.folder = folder
        self.file = file
    }

    deinit {
        // A child that was forked in the meantime may hold the same descriptors for a moment.
        if file >= 0 {
            flock(file, LOCK_UN)
            close(file)
        }
        flock(folder, LOCK_UN)
        close(folder)
    }

    /// Whether the path still is the locked folder.
    var isInPlace: Bool { Self.isFolder(folder, at: path) }

    /// Deletes the store's files, and the folder if it contains no other files. Returns false if the folder stays or
    /// cannot be listed. Keeps the lock, so that no process adopts the folder during the deletion.
    borrowing func removeFolder() -> Bool {
        guard isInPlace else { return true }
        guard let names = try? Self.names(in: folder, path) else { return false }
        for name in FolderNames.inOrderOfDeletion(names) { unlinkat(folder, name, 0) }
        return rmdir(path) == 0
    }

    /// Whether a process owns a folder. Creates nothing, and takes no lock that another call would detect.
    static func isHeld(_ path: String) -> Bool {
        guard let folder = try? openFolder(path, isOwnerChecked: false) else { return false }
        defer { close(folder) }
        if flock(folder, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK { return true }
        flock(folder, LOCK_UN)
        let file = Directory.open(path + "/" + FolderNames.lock, O_RDONLY)
        guard file >= 0 else { return false }
        defer { close(file) }
        if flock(file, LOCK_SH | LOCK_NB) != 0 { return errno == EWOULDBLOCK }
        flock(file, LOCK_UN)
        return false
    }

    private static func names(in folder: Int32, _ path: String) throws(QueueError) -> [String] {
        let listed = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if listed < 0 { throw Directory.failure(errno, "list \(path)") }
        return try Directory.entries(ofOpened: listed, path: path)
    }

    private static func openFolder(_ path: String, isOwnerChecked: Bool = true) throws(Refusal) -> Int32 {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if folder < 0 {
            switch errno {
            case ENOENT: throw .missing
            case ELOOP, ENOTDIR: throw .foreign("it is a link or a file, not a directory; remove it")
            default: throw .foreign("it cannot be opened: \(SystemError(errno))")
            }
        }
        var status = stat()
        guard fstat(folder, &status) == 0 else {
            let cause = errno
            close(folder)
            throw .foreign("it cannot be read: \(SystemError(cause))")
        }
        if !isOwnerChecked || status.st_uid == geteuid() { return folder }
        close(folder)
        throw .foreign("it belongs to another user (number \(status.st_uid)); run as that user, or change its owner")
    }

    /// Locks the folder. Returns false on a file system that cannot lock directories.
    private static func lock(_ folder: Int32) throws(Refusal) -> Bool {
        // A reader holds a lock only for an instant.
        for _ in 0..<5 {
            if flock(folder, LOCK_EX | LOCK_NB) == 0 { return true }
            if errno != EWOULDBLOCK, errno != EINTR { return false }
            usleep(1000)
        }
        throw .busy
    }

    private static func isFolder(_ folder: Int32, at path: String) -> Bool {
        var ours = stat()
        guard fstat(folder, &ours) == 0, let theirs = Directory.status(of: path) else { return false }
        return ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino
    }

    private static func lockFile(in folder: Int32, isFolderLocked: Bool) throws(Refusal) -> Int32 {
        var status = stat()
        let isThere = fstatat(folder, FolderNames.lock, &status, AT_SYMLINK_NOFOLLOW) == 0
        // A link or a pipe is not a lock. A file with a second name would also be locked under that name.
        if isThere, !Directory.isFile(status) || status.st_nlink > 1 { unlinkat(folder, FolderNames.lock, 0) }
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let file = openat(folder, FolderNames.lock, flags, 0o600)
        if file < 0 {
            // A directory of that name does not prevent the lock of the folder.
            if errno == EISDIR, isFolderLocked { return -1 }
            throw .foreign("it cannot be written to: \(SystemError(errno)); check the permissions")
        }
        for _ in 0..<5 {
            if flock(file, LOCK_EX | LOCK_NB) == 0 {
                fchmod(file, 0o600)
                return file
            }
            usleep(1000)
        }
        close(file)
        throw .busy
    }

    /// Restricts the permissions of files that earlier versions and SQLite created with the process's mask.
    private static func tighten(_ folder: Int32, _ path: String) throws(Refusal) {
        var status = stat()
        if fstat(folder, &status) == 0, status.st_mode & 0o777 != 0o700 { fchmod(folder, 0o700) }
        let names: [String]
        do throws(QueueError) { names = try Self.names(in: folder, path) } catch { throw .foreign("\(error)") }
        for name in names where FolderNames.isFile(name) {
            guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, Directory.isFile(status),
                status.st_uid == geteuid(), status.st_nlink == 1, status.st_mode & 0o777 != 0o600
            else { continue }
            fchmodat(folder, name, 0o600, 0)
        }
    }
}
