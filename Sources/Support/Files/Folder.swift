#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Folders: their names, and what makes these survive a loss of power.
package enum Folder {
    /// The folder that a path lies in.
    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Creates a folder and its parents, with access for this user only. Does nothing if the folder exists.
    ///
    /// Passes over a parent that exists, also where this user may create nothing in it.
    package static func create(_ path: String) throws(FileError) {
        var made = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: false) {
            made += part + "/"
            if made == "/" { continue }
            if mkdir(made, 0o700) == 0 {
                // The process's file mode mask does not count.
                chmod(made, 0o700)
                continue
            }
            let number = errno
            var status = stat()
            if number != EEXIST, stat(made, &status) != 0 {
                throw FileError("create the directory \(made)", number: number)
            }
        }
    }

    /// The names in a folder, in the order of their bytes, without `.` and `..`.
    /// - Throws: if not all of them can be read.
    package static func names(in folder: String) throws(FileError) -> [String] {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { throw FileError("list \(folder)", number: errno) }
        return try names(inOpened: descriptor, path: folder)
    }

    /// The names in a folder that was opened, in the order of their bytes. Closes the descriptor.
    /// - Parameter path: for the error.
    /// - Throws: if not all of them can be read.
    package static func names(inOpened descriptor: Int32, path: String) throws(FileError) -> [String] {
        guard let listing = fdopendir(descriptor) else {
            let cause = errno
            close(descriptor)
            throw FileError("list \(path)", number: cause)
        }
        defer { closedir(listing) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(listing) {
            // In place: entries are shorter than their type, so that a copy would read beyond them.
            names.append(
                withUnsafeMutablePointer(to: &entry.pointee.d_name) {
                    String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
                }
            )
            errno = 0
        }
        if errno != 0 { throw FileError("list \(path)", number: errno) }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }

    /// Makes the names in a folder survive a loss of power. Waits for the disk.
    package static func synchronize(_ folder: String) throws(FileError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { throw FileError("open \(folder)", number: errno) }
        defer { close(descriptor) }
        // Some file systems have nothing to synchronize there (EINVAL).
        if fsync(descriptor) != 0, errno != EINVAL { throw FileError("synchronize \(folder)", number: errno) }
    }

    /// Removes a folder and everything in it. Follows no link. What cannot be removed stays.
    package static func remove(_ path: String) {
        for name in (try? names(in: path)) ?? [] {
            let entry = path + "/" + name
            var status = stat()
            guard lstat(entry, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { remove(entry) } else { unlink(entry) }
        }
        rmdir(path)
    }
}
