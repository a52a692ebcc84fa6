#if os(Linux)
import Foundation

/// A terminal for a process that behaves otherwise where a person watches.
final class PseudoTerminal {
    /// The end for the process; closed here once reading starts.
    let end: FileHandle
    private let descriptor: Int32

    /// Nil if the system has no terminals left.
    init?() {
        // The C library's functions for that are not seen by Swift; these requests are what they make (ioctl_tty(2)).
        let (unlock, number) = (UInt(0x4004_5431), UInt(0x8004_5430))
        let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (isLocked, terminal) = (Int32(0), UInt32(0))
        guard descriptor >= 0, ioctl(descriptor, unlock, &isLocked) == 0, ioctl(descriptor, number, &terminal) == 0
        else { return nil }
        let other = open("/dev/pts/\(terminal)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard other >= 0 else { return nil }
        (self.descriptor, end) = (descriptor, FileHandle(fileDescriptor: other, closeOnDealloc: false))
    }

    deinit { close(descriptor) }

    /// The output until the last process has closed the terminal.
    func readToEnd() -> String {
        close(end.fileDescriptor)
        var shown: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        // Without an open other end, a read fails with EIO.
        while case let count = read(descriptor, &piece, piece.count), count > 0 { shown += piece.prefix(count) }
        return String(decoding: shown, as: UTF8.self)
    }
}
#endif
