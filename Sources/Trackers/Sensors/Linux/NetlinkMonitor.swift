#if os(Linux)
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// Receives the kernel's notifications of changed interfaces, addresses and routes (rtnetlink(7)). The observer reads
/// the state again, because the kernel may drop notifications.
enum NetlinkMonitor {
    /// `RTMGRP_LINK`, `RTMGRP_IPV4_IFADDR`, `RTMGRP_IPV4_ROUTE`, `RTMGRP_IPV6_IFADDR`, `RTMGRP_IPV6_ROUTE`
    /// (linux/rtnetlink.h).
    private static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400

    /// Calls `changed` immediately and after each change, on a separate thread, until the result is stopped. Without
    /// such a socket, calls it once.
    static func start(_ changed: @escaping @Sendable () -> Void) -> SensorRun {
        let signal = WakeSignal()
        let socket = openSocket()
        let isRunning = SensorThread.start {
            defer { if socket >= 0 { close(socket) } }
            changed()
            while socket >= 0, signal.descriptor >= 0, waitForInput(socket, signal), drain(socket) { changed() }
        }
        if !isRunning, socket >= 0 { close(socket) }
        return SensorRun { signal.wake() }
    }

    /// Opened on the starting thread, so that it belongs to that thread's network namespace.
    private static func openSocket() -> Int32 {
        // SOCK_RAW and its flags as numbers, because only some C libraries declare them as an enumeration.
        let type = Int32(3) | Int32(O_CLOEXEC) | Int32(O_NONBLOCK)
        let descriptor = socket(Int32(AF_NETLINK), type, 0)
        guard descriptor >= 0 else { return -1 }
        // struct sockaddr_nl: family, padding, port (0: the kernel chooses), groups.
        var address: (UInt16, UInt16, UInt32, UInt32) = (UInt16(AF_NETLINK), 0, 0, groups)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, 12) }
        }
        if status == 0 { return descriptor }
        close(descriptor)
        return -1
    }

    /// Reads all pending messages; false if the socket has failed.
    private static func drain(_ socket: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count > 0 { continue }
            if count < 0, errno == EINTR { continue }
            // ENOBUFS: messages were lost, so there was a change.
            return count < 0 && (errno == EAGAIN || errno == ENOBUFS)
        }
    }
}
#endif
