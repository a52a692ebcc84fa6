#if os(Linux)
import Foundation

/// A terminal for a process that behaves otherwise where a person watches.
final class PseudoTerminal {
    /// The end for the process; closed here once reading starts.
    let end: FileHandle
    private let descriptor: Int32
    private var isGivenAway = false
    private var shown: [UInt8] = []

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

    /// The output until the last process has closed the terminal, also what was read before.
    func readToEnd() -> String { read { _ in false } }

    /// The output until it contains a text, or until the last process has closed the terminal.
    func read(until text: String) -> String { read { $0.contains(text) } }

    private func read(until isEnough: (String) -> Bool) -> String {
        if !isGivenAway { close(end.fileDescriptor) }
        isGivenAway = true
        var piece = [UInt8](repeating: 0, count: 4096)
        // Without an open other end, a read fails with EIO.
        while !isEnough(String(decoding: shown, as: UTF8.self)),
            case let count = Foundation.read(descriptor, &piece, piece.count), count > 0
        {
            shown += piece.prefix(count)
        }
        return String(decoding: shown, as: UTF8.self)
    }
}
#endif
