internal import Foundation
internal import Instrument

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

extension TestServer {
    /// A loopback port without a listener, for a server to come or for a refused connection.
    ///
    /// The kernel gives ports of its ephemeral range to any socket that asks for none, so the port is outside that
    /// range: no connection or server of another test gets it in between. No port is returned twice in a process.
    package static func closedPort() throws -> UInt16 {
        try next.withLock { next in
            for _ in ports {
                defer { next = next == ports.upperBound ? ports.lowerBound : next + 1 }
                if isFree(next) { return next }
            }
            throw NoServer(why: "no port of \(ports) is free on the loopback address")
        }
    }

    /// 32,768 is where Linux's ephemeral range begins by default (`ip_local_port_range` in the kernel's ip-sysctl.rst).
    private static let ports: ClosedRange<UInt16> = {
        let text = try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let ephemeral = text?.split(whereSeparator: \.isWhitespace).compactMap { UInt16($0) } ?? []
        guard let first = ephemeral.first, let last = ephemeral.last, first <= last else { return 10_240...32_767 }
        if first > 12_288 { return 10_240...(first - 1) }
        return last < 64_000 ? (last + 1)...UInt16.max : 10_240...32_767
    }()

    /// The first one is random, so that two test processes seldom try the same ports.
    private static let next = Lock(UInt16.random(in: ports))

    private static func isFree(_ port: UInt16) -> Bool {
        #if canImport(Glibc)
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard socket >= 0 else { return false }
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
