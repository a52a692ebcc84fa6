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

    deinit { close(descriptor) }
}
