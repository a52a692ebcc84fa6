#if os(Linux)
internal import Instrument

#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// A thread that waits for the system for a started source, and ends with the source.
enum SensorThread {
    /// The name of the thread, so that such threads can be counted.
    static let name = "sensors"

    /// Runs `body` on a new thread that takes no signals; false if the process has reached its thread limit.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        SystemThread.start(name: name, takesSignals: false, body)
    }
}

/// A descriptor that becomes readable when another thread wakes the waiting thread.
final class WakeSignal: Sendable {
    /// The descriptor to wait for; negative if the system has no descriptors left.
    let descriptor: Int32

    private let end: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        // A socket instead of a pipe, because every C library can create sockets with close-on-exec. SOCK_STREAM is
        // 1.
        let isOpen = socketpair(AF_UNIX, Int32(1) | Int32(O_CLOEXEC) | Int32(O_NONBLOCK), 0, &ends) == 0
        (descriptor, end) = isOpen ? (ends[0], ends[1]) : (-1, -1)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if end >= 0 { close(end) }
    }

    /// Wakes the waiting thread; the descriptor stays readable.
    func wake() {
        var byte: UInt8 = 1
        _ = write(end, &byte, 1)
    }
}

/// Waits until one of the descriptors can be read from (or, for `writable`, written to), or the signal wakes.
///
/// - Returns: false if it was woken, or waiting failed.
func waitForInput(_ descriptor: Int32, _ signal: WakeSignal, writable: Bool = false) -> Bool {
    while true {
        var descriptors = [
            pollfd(fd: descriptor, events: Int16(writable ? POLLOUT : POLLIN), revents: 0),
            pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&descriptors, nfds_t(descriptors.count), -1)
        if count < 0, errno == EINTR { continue }
        return count > 0 && descriptors[1].revents == 0
    }
}
#endif
