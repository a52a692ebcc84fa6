internal import GRDB
internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

extension Bookkeeping {
    /// The ends of the names of SQLite's files.
    static var fileEndings: [String] { ["", "-wal", "-shm", "-journal"] }

    /// Makes sure that SQLite opens only files of the store, because SQLite follows links and uses the process's mask.
    ///
    /// Anything but a regular file is set aside. A file with a second name (a hard link) is replaced by a copy, because others may read it
    /// under that name. The file is created here, so that nobody else may ever read it.
    static func prepareFiles(_ path: String, report: (Diagnostic) -> Void) throws(QueueError) {
        for ending in fileEndings {
            guard let status = Directory.status(of: path + ending) else { continue }
            if !Directory.isFile(status) {
                Directory.setAside(path + ending)
                report(.store("\(path + ending) is not a regular file; it was set aside"))
            } else if status.st_nlink > 1 {
                // Nothing to copy if it was deleted meanwhile.
                guard let bytes = try Directory.bytes(of: path + ending) else { continue }
                try Directory.replace(path + ending, by: bytes)
            }
        }
        if Directory.exists(path) { return }
        let descriptor = Directory.open(path, O_RDWR | O_CREAT | O_EXCL)
        if descriptor < 0 { throw Directory.failure(errno, "create \(path)") }
        Directory.close(descriptor)
    }

    /// Makes the file again that was deleted, with all that is in the one that is open.
    func restore(at path: String, report: (Diagnostic) -> Void) throws {
        // The journal of the file that is gone does not belong to the new one.
        for ending in Self.fileEndings { Directory.delete(path + ending) }
        try Self.prepareFiles(path, report: report)
        let (old, new) = (
            database, try DatabaseQueue(path: path, configuration: Self.configuration(isSynchronous: isSynchronous))
        )
        // Whoever writes from here on waits until the new file has everything.
        try new.writeWithoutTransaction { database in
            current.withLock { $0 = new }
            do { try old.read { try $0.backup(to: database) } } catch {
                current.withLock { $0 = old }
                throw error
            }
        }
        try old.close()
    }
}
