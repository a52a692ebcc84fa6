package import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The system's calls for files, with what every room needs around them.
package enum SystemFile {
    /// Opens a regular file; -1 and `errno` if that fails, `EINVAL` if something else stands in its place.
    ///
    /// A pipe or a device in the file's place is not waited for, and no child process inherits the descriptor. A file
    /// that `O_CREAT` creates is for the user alone (0600), independent of the process's mask.
    ///
    /// - Parameter followsLinks: without it, a symbolic link in the file's place is an error, and a device is not even
    ///   opened, because opening a device may have an effect.
    package static func openRegular(_ path: String, _ flags: Int32, followsLinks: Bool = false) -> Int32 {
        var status = stat()
        if !followsLinks, lstat(path, &status) == 0, !isRegular(status) {
            errno = EINVAL
            return -1
        }
        let safety = O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = open(path, flags | safety, 0o600)
        if descriptor < 0 { return -1 }
        // A status that cannot be read says nothing about the file: the caller gets that error, and may retry.
        let cause = fstat(descriptor, &status) != 0 ? errno : isRegular(status) ? 0 : EINVAL
        if cause != 0 {
            close(descriptor)
            errno = cause
            return -1
        }
        if flags & O_CREAT != 0 { fchmod(descriptor, 0o600) }
        return descriptor
    }

    /// Whether something other than a regular file stands at the path, links followed: a pipe, for example, gives its
    /// bytes once.
    package static func isSpecial(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && !isRegular(status)
    }

    private static func isRegular(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

    /// Writes all bytes, however many calls that takes. Returns the number of the error; 0 on success.
    package static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var written = 0
        while written < bytes.count {
            let count = write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
            if count > 0 { written += count } else if count == 0 { return EIO } else if errno != EINTR { return errno }
        }
        return 0
    }

    /// Writes all bytes, however many calls that takes. Returns the number of the error; 0 on success.
    package static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
    }

    /// Reads from where the descriptor stands to the end, at most `limit` bytes.
    /// - Throws: the number of the error.
    package static func read(_ descriptor: Int32, atMost limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: min(max(1, limit), 1 << 16))
        while bytes.count < limit {
            let count = systemRead(descriptor, &piece, min(piece.count, limit - bytes.count))
            if count == 0 { break }
            if count > 0 { bytes += piece.prefix(count) } else if errno != EINTR { throw SystemError(errno) }
        }
        return bytes
    }

    /// Makes what was written survive a loss of power. Waits for the disk. Returns 0, or -1 and `errno`.
    package static func synchronize(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        // Darwin's fsync leaves the bytes in the drive's cache; not every file system knows how to empty that.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
        #endif
        return fsync(descriptor)
    }
}

/// The system's `read`, which a method above hides.
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}
