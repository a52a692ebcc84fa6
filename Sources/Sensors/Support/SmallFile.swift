internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// What reading a file came to.
enum FileContents: Hashable, Sendable {
    case contents([UInt8])
    case missing
    case unreadable
}

/// Files of a few bytes: settings, and what a kernel says about itself.
enum SmallFile {
    /// What is larger is none of ours.
    private static let maxSize = 1 << 20

    static func read(_ path: String) -> FileContents {
        // Not blocking: a root that was given may hold a pipe.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if file < 0 { return errno == ENOENT || errno == ENOTDIR || errno == ENODEV ? .missing : .unreadable }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= maxSize {
            let count = readSome(file, &piece)
            if count < 0, errno == EINTR { continue }
            // Of a device that has just gone.
            if count < 0, errno == ENODEV { return .missing }
            if count < 0 { return .unreadable }
            if count == 0 { return .contents(bytes) }
            bytes += piece.prefix(count)
        }
        return .unreadable
    }

    /// Puts a file in its place wholly or not at all, for the user alone to read.
    static func write(_ bytes: [UInt8], to path: String) throws(SensorError) {
        // A name of its own: of two who write at once, one wins with a whole file.
        let new = path + "." + RandomSource().identifier() + ".new"
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(path, "cannot be written") }
        let isWritten = writeAll(bytes, to: file) && fsync(file) == 0
        close(file)
        guard isWritten, rename(new, path) == 0 else {
            let error = failure(path, "cannot be written")
            unlink(new)
            throw error
        }
    }

    static func failure(_ path: String, _ what: String) -> SensorError {
        SensorError("\(path) \(what) (errno \(errno)); look at its directory and rights")
    }

    private static func readSome(_ file: Int32, _ piece: inout [UInt8]) -> Int {
        piece.withUnsafeMutableBytes { buffer in
            #if canImport(Darwin)
            Darwin.read(file, buffer.baseAddress, buffer.count)
            #elseif canImport(Glibc)
            Glibc.read(file, buffer.baseAddress, buffer.count)
            #else
            Musl.read(file, buffer.baseAddress, buffer.count)
            #endif
        }
    }

    private static func writeAll(_ bytes: [UInt8], to file: Int32) -> Bool {
        var left = bytes[...]
        while !left.isEmpty {
            let count = left.withUnsafeBytes { writeSome(file, $0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            left = left.dropFirst(count)
        }
        return true
    }

    private static func writeSome(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
        Darwin.write(file, bytes.baseAddress, bytes.count)
        #elseif canImport(Glibc)
        Glibc.write(file, bytes.baseAddress, bytes.count)
        #else
        Musl.write(file, bytes.baseAddress, bytes.count)
        #endif
    }
}
