internal import Instrument

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Notifies the service manager (sd_notify(3)): the process is ready, reloads, stops, or is alive.
///
/// Does nothing where the environment has no `NOTIFY_SOCKET`.
package final class ServiceNotifier: Sendable {
    private let address: String?
    /// How often the manager expects a sign of life; nil without a watchdog.
    package let watchdogInterval: Duration?

    package init(environment: [String: String]) {
        address = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        let ours = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) }
        // Twice as often as expected.
        watchdogInterval = ours ? microseconds.flatMap { $0 > 1 ? .microseconds($0 / 2) : nil } : nil
    }

    package func ready(_ status: String) { send("READY=1\nSTATUS=\(status)\n") }
    package func alive() { send("WATCHDOG=1\n") }
    package func stopping() { send("STOPPING=1\nSTATUS=stops\n") }

    /// Announces a reload; ``ready(_:)`` ends it.
    package func reloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        send("RELOADING=1\nMONOTONIC_USEC=\(Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000)\n")
    }

    #if canImport(Glibc)
    private static let socketKind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    private static let noSignal = Int32(MSG_NOSIGNAL)
    #elseif canImport(Musl)
    private static let socketKind = SOCK_DGRAM | SOCK_CLOEXEC
    private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif

    private func send(_ text: String) {
        guard let address else { return }
        #if os(Linux)
        let descriptor = socket(AF_UNIX, Self.socketKind, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        var path = Array(address.utf8)
        // An abstract address begins with a zero byte.
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        guard path.count < MemoryLayout.size(ofValue: name.sun_path) else { return }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let bytes = Array(text.utf8)
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                // The manager does not read: nothing depends on the message.
                _ = sendto(descriptor, bytes, bytes.count, Self.noSignal, $0, length)
            }
        }
        #endif
    }
}
