internal import NIOCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A regular file open for reading; closed with the last reference.
final class OpenFile: Sendable {
    private let descriptor: CInt
    /// The size when the file was opened.
    let size: Int

    /// Opens a file; nil if it does not exist, or is a folder, a pipe or a device.
    init?(path: String) {
        // Without O_NONBLOCK, opening a pipe would wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        size = Int(status.st_size)
    }

    deinit { close(descriptor) }

    /// Returns up to `count` bytes from `offset` on; nil at the end of the file, or if they cannot be read.
    func read(at offset: Int, count: Int) -> ByteBuffer? {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        let read = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
            max(0, pread(descriptor, bytes.baseAddress, min(count, bytes.count), off_t(offset)))
        }
        return read > 0 ? buffer : nil
    }

    /// Returns the whole content; nil if it cannot be read.
    func contents() -> ByteBuffer? { size == 0 ? ByteBuffer() : read(at: 0, count: size) }
}
