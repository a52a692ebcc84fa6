#if os(Linux)
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// A thread that waits for the system on behalf of a source that was started; it ends with it.
enum SensorThread {
    /// What it is called, so that it can be counted. The kernel takes up to fifteen bytes.
    static let name = "sensors"

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// As the C library's function does, which Swift does not see.
    private static func setName() {
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = write(file, name, name.utf8.count)
        close(file)
    }

    /// Runs `body` on a new thread that gets no signals, because those are the app's; false if the system has none left.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let context = Unmanaged.passRetained(Body(body))
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            nil,
            { context in
                SensorThread.setName()
                if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            },
            context.toOpaque()
        )
        guard status == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}

/// A descriptor that becomes readable when somebody wakes who waits for it.
final class WakeSignal: Sendable {
    /// To wait for; negative if the system has no descriptors left.
    let descriptor: Int32

    private let end: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        // Not a pipe: only sockets are closed in children from the first moment in every C library. SOCK_STREAM is 1.
        let isOpen = socketpair(AF_UNIX, Int32(1) | Int32(O_CLOEXEC) | Int32(O_NONBLOCK), 0, &ends) == 0
        (descriptor, end) = isOpen ? (ends[0], ends[1]) : (-1, -1)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if end >= 0 { close(end) }
    }

    /// Wakes; stays readable.
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
