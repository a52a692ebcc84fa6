package import Instrument
internal import InstrumentText

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Files of a few bytes that are read and replaced as a whole: settings, marks, state.
package enum SmallFile {
    /// The end of the name of a file that is about to replace another; a crash may leave one.
    package static let replacementEnding = ".new"

    private static let digits = 16
    private static let maxAttempts = 16

    /// The bytes of a regular file; nil if nothing stands at the path.
    ///
    /// - Parameters:
    ///   - limit: a larger file is an error (`EFBIG`).
    ///   - followsLinks: whether a symbolic link in the file's place is followed or is an error.
    package static func read(_ path: String, atMost limit: Int, followsLinks: Bool = false) throws(FileError)
        -> [UInt8]?
    {
        guard let bytes = try prefix(of: path, count: limit == .max ? limit : limit + 1, followsLinks: followsLinks)
        else {
            return nil
        }
        if bytes.count > limit { throw FileError("read \(path)", number: EFBIG) }
        return bytes
    }

    /// The first bytes of a regular file, at most `count`; nil if nothing stands at the path.
    package static func prefix(of path: String, count: Int = .max, followsLinks: Bool = false) throws(FileError)
        -> [UInt8]?
    {
        let descriptor = SystemFile.openRegular(path, O_RDONLY, followsLinks: followsLinks)
        if descriptor < 0 {
            if errno == ENOENT { return nil }
            throw FileError("read \(path)", number: errno)
        }
        defer { close(descriptor) }
        do throws(SystemError) {
            return try SystemFile.read(descriptor, atMost: count)
        } catch {
            throw FileError("read \(path)", number: error.number)
        }
    }

    /// Puts a file with these bytes in the place of the one that is there: the old or the new one stands at any moment,
    /// whole.
    ///
    /// The bytes go to a new file beside it, for the user alone (0600), are synchronized and renamed into place. The
    /// new file has a random name, so that of two writers at once one wins with a whole file, and nothing is written
    /// through a link of another program. A crash may leave the new file: see ``removeLeftovers(of:)``.
    ///
    /// - Parameter synchronizesFolder: whether the new name survives a loss of power once this returns. A caller that
    ///   replaces several files of a folder may call ``Folder/synchronize(_:)`` once instead.
    package static func write(
        _ bytes: [UInt8],
        to path: String,
        synchronizesFolder: Bool = true,
        randomness: RandomSource = RandomSource()
    ) throws(FileError) {
        var rest: [UInt8]? = bytes
        try write(to: path, synchronizesFolder: synchronizesFolder, randomness: randomness) { rest.take() }
    }

    /// Puts a file in the place of the one that is there, as ``write(_:to:synchronizesFolder:randomness:)``, from
    /// pieces, so that a long content is never in memory as a whole.
    ///
    /// - Parameter next: returns the next piece, and nil behind the last.
    package static func write(
        to path: String,
        synchronizesFolder: Bool = true,
        randomness: RandomSource = RandomSource(),
        pieces next: () -> [UInt8]?
    ) throws(FileError) {
        let (temporary, descriptor) = try create(for: path, randomness)
        var cause: Int32 = 0
        while cause == 0, let piece = next() { cause = SystemFile.writeAll(piece, to: descriptor) }
        if cause == 0, SystemFile.synchronize(descriptor) != 0 { cause = errno }
        close(descriptor)
        if cause == 0, rename(temporary, path) != 0 { cause = errno }
        guard cause == 0 else {
            unlink(temporary)
            throw FileError("write \(path)", number: cause)
        }
        if synchronizesFolder { try Folder.synchronize(Folder.parent(of: path)) }
    }

    /// Appends bytes to a file that exists, and synchronizes it. Bytes that could only partly be written are removed
    /// again.
    package static func append(_ bytes: [UInt8], to path: String) throws(FileError) {
        let descriptor = SystemFile.openRegular(path, O_WRONLY | O_APPEND)
        if descriptor < 0 { throw FileError("write \(path)", number: errno) }
        defer { close(descriptor) }
        let end = lseek(descriptor, 0, SEEK_END)
        var cause = SystemFile.writeAll(bytes, to: descriptor)
        // What cannot be taken back, a reader has to recognize.
        if cause != 0, end >= 0 { _ = ftruncate(descriptor, end) }
        if cause == 0, SystemFile.synchronize(descriptor) != 0 { cause = errno }
        if cause != 0 { throw FileError("write \(path)", number: cause) }
    }

    /// Deletes a file, if one stands at the path.
    package static func remove(_ path: String) throws(FileError) {
        if unlink(path) != 0, errno != ENOENT { throw FileError("delete \(path)", number: errno) }
    }

    /// The end of the name of a file that was kept because it could not be read.
    package static let keptEnding = ".unreadable"
    private static let mostKept = 9

    /// Gives a file that is about to be replaced a second name beside the first, so that its content stays.
    ///
    /// The names end in `.unreadable`, `.unreadable-2`, … up to 9; a file that has one of them already gets no further
    /// one.
    /// - Returns: the second name.
    @discardableResult
    package static func keepAside(_ path: String) throws(FileError) -> String {
        var (status, other) = (stat(), stat())
        guard lstat(path, &status) == 0 else { throw FileError("keep \(path)", number: errno) }
        var cause = EEXIST
        for number in 1...mostKept {
            let name = path + keptEnding + (number == 1 ? "" : "-\(number)")
            if lstat(name, &other) == 0 {
                if other.st_ino == status.st_ino, other.st_dev == status.st_dev { return name }
                continue
            }
            // A file system without second names gets the other name alone.
            if link(path, name) == 0 || rename(path, name) == 0 { return name }
            cause = errno
        }
        throw FileError("keep \(path)", number: cause)
    }

    private static func create(for path: String, _ randomness: RandomSource) throws(FileError) -> (String, Int32) {
        for _ in 0..<maxAttempts {
            let name = path + "." + randomness.next().padded(digits, radix: 16) + replacementEnding
            let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0o600)
            if descriptor >= 0 {
                fchmod(descriptor, 0o600)
                return (name, descriptor)
            }
            if errno != EEXIST { break }
        }
        throw FileError("write \(path)", number: errno)
    }

    /// The name of the file that a file of this name was about to replace; nil for any other name.
    ///
    /// Names without random digits (`settings.json.new`) count, too.
    package static func replaced(by name: String) -> String? {
        guard name.hasSuffix(replacementEnding) else { return nil }
        let stem = name.utf8.dropLast(replacementEnding.utf8.count)
        let tail = stem.suffix(digits)
        let head = stem.dropLast(digits)
        guard tail.count == digits, tail.allSatisfy({ $0.isDigit || 0x61...0x66 ~= $0 }), head.count > 1,
            head.last == UInt8(ascii: ".")
        else { return stem.isEmpty ? nil : String(Substring(stem)) }
        return String(Substring(head.dropLast()))
    }

    /// Deletes what a crash left of earlier attempts to replace a file. Only for a file that one process writes at a
    /// time: another process's attempt would fail.
    package static func removeLeftovers(of path: String) throws(FileError) {
        let folder = Folder.parent(of: path)
        let name = path.split(separator: "/").last.map(String.init) ?? path
        for leftover in try Folder.names(in: folder) where replaced(by: leftover) == name {
            if unlink(folder + "/" + leftover) != 0, errno != ENOENT {
                throw FileError("delete \(folder)/\(leftover)", number: errno)
            }
        }
    }
}
