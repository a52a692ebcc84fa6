internal import GRDB
internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

extension Bookkeeping {
    /// The suffixes of SQLite's files.
    static var fileEndings: [String] { ["", "-wal", "-shm", "-journal"] }

    /// Makes sure that SQLite opens only files of the store, because SQLite follows links and uses the process's mask.
    ///
    /// Renames anything but a regular file. Replaces a file with a second name (a hard link) by a copy, because others
    /// may read the file under that name. Creates a missing file here, so that no other user can ever read it.
    static func prepareFiles(_ path: String, report: (Diagnostic) -> Void) throws(QueueError) {
        for ending in fileEndings {
            guard let status = Directory.status(of: path + ending) else { continue }
            if !Directory.isFile(status) {
                Directory.setAside(path + ending)
                report(.store("\(path + ending) is not a regular file; it was set aside"))
            } else if status.st_nlink > 1 {
                // Without content if the file was deleted in the meantime.
                guard let bytes = try Directory.bytes(of: path + ending) else { continue }
                try Directory.replace(path + ending, by: bytes)
            }
        }
        if Directory.exists(path) { return }
        let descriptor = Directory.open(path, O_RDWR | O_CREAT | O_EXCL)
        if descriptor < 0 { throw Directory.failure(errno, "create \(path)") }
        Directory.close(descriptor)
    }

    /// Whether a file has a version of SQLite's format that does not exist. The store writes version 2; of a file with
    /// a higher version, SQLite says only that it cannot be written (SQLite, "Database File Format", section 1.3.3).
    static func hasUnknownFormat(_ path: String) -> Bool {
        guard let header = try? Directory.bytes(of: path, atMost: 20), header.count == 20 else { return false }
        return !header[18...19].allSatisfy { 1...2 ~= $0 }
    }

    /// Creates a deleted file again, with the content of the open database.
    /// - Throws: if the database is closed; then no file is changed.
    func restore(at path: String, report: (Diagnostic) -> Void) throws {
        try read { _ in }
        // The journal of the deleted file does not belong to the new file.
        for ending in Self.fileEndings { Directory.delete(path + ending) }
        try Self.prepareFiles(path, report: report)
        let (old, new) = (
            database, try DatabaseQueue(path: path, configuration: Self.configuration(isSynchronous: isSynchronous))
        )
        // From here on, writers wait until the new file is complete.
        try new.writeWithoutTransaction { database in
            current.withLock { $0 = new }
            do { try Self.read(old) { try $0.backup(to: database) } } catch {
                current.withLock { $0 = old }
                throw error
            }
        }
        try old.close()
    }
}

// MARK: Copies
extension Bookkeeping {
    private static var endings: [String] { ["", "-wal"] }

    /// Reads a folder's bookkeeping into memory, without writing or creating a file beside it. nil if the folder has no
    /// bookkeeping.
    ///
    /// SQLite cannot read a journal without creating files beside it. Therefore this method copies the two files to a
    /// temporary directory, and deletes that directory before it returns.
    static func copy(ofFolder folder: String) throws -> Bookkeeping? {
        let path = folder + "/" + FolderNames.bookkeeping
        var failure: any Error = DatabaseError(resultCode: .SQLITE_BUSY, message: "\(path) keeps changing")
        // The owner of the folder may be writing to it.
        for _ in 0..<5 {
            let before = stamps(path)
            guard before.first.flatMap({ $0 }) != nil else { return nil }
            do {
                let copy = try copied(path)
                if stamps(path) == before { return copy }
            } catch {
                failure = error
                if stamps(path) == before { break }
            }
        }
        throw failure
    }

    private static func copied(_ path: String) throws -> Bookkeeping {
        let directory = try TemporaryDirectory()
        let copy = directory.path + "/copy"
        for ending in endings where Directory.size(of: path + ending) != nil {
            guard let bytes = try Directory.bytes(of: path + ending) else {
                throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "cannot read \(path + ending)")
            }
            try Directory.replace(copy + ending, by: bytes)
        }
        // This opening also checks the copy and migrates it to the current version.
        let onDisk = try Bookkeeping(path: copy)
        defer { onDisk.close() }
        let inMemory = try DatabaseQueue()
        try onDisk.database.backup(to: inMemory)
        return Bookkeeping(inMemory)
    }

    /// The modification times and sizes of the files.
    private static func stamps(_ path: String) -> [[Int]?] {
        endings.map { ending in
            Directory.status(of: path + ending).flatMap { status in
                guard Directory.isFile(status) else { return nil }
                #if canImport(Darwin)
                let time = status.st_mtimespec
                #else
                let time = status.st_mtim
                #endif
                return [Int(status.st_size), Int(time.tv_sec), Int(time.tv_nsec), Int(status.st_ino)]
            }
        }
    }
}

/// A directory that only this user can access. It is deleted with this value.
private struct TemporaryDirectory: ~Copyable {
    let path: String

    init() throws {
        let root = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        var template = Array(((root.isEmpty ? "/tmp" : root) + "/instrument-queue-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw Directory.failure(errno, "create a temporary directory") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in Directory.names(in: path) { Directory.delete(path + "/" + name) }
        rmdir(path)
    }
}
