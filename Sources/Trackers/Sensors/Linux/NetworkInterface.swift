#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A network interface with one of its addresses, as `getifaddrs` lists them.
package struct NetworkInterface: Hashable, Sendable {
    /// The name.
    package var name: String
    /// Whether it is up and has a carrier.
    package var isUp: Bool
    /// Whether it is a loopback interface.
    package var isLoopback: Bool
    /// The address as text, IPv4 or IPv6 without a zone; nil for another kind of address.
    package var address: String?

    /// Creates an interface.
    package init(name: String, isUp: Bool, isLoopback: Bool, address: String? = nil) {
        (self.name, self.isUp, self.isLoopback, self.address) = (name, isUp, isLoopback, address)
    }

    /// Returns the current interfaces of the system.
    package static func all() -> [NetworkInterface] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var interfaces: [NetworkInterface] = []
        var next = first
        while let entry = next {
            let flags = Int(clamping: entry.pointee.ifa_flags)
            let both = Int(IFF_UP) | Int(IFF_RUNNING)
            interfaces.append(
                NetworkInterface(
                    name: String(cString: entry.pointee.ifa_name),
                    isUp: flags & both == both,
                    isLoopback: flags & Int(IFF_LOOPBACK) != 0,
                    address: entry.pointee.ifa_addr.flatMap(text)
                )
            )
            next = entry.pointee.ifa_next
        }
        return interfaces
    }

    /// Returns the addresses of this machine for others, each once, in the system's order.
    static func addresses(of interfaces: [NetworkInterface]) -> [String] {
        var seen: Set<String> = []
        return interfaces.filter { $0.isUp && !$0.isLoopback }.compactMap(\.address).filter { seen.insert($0).inserted }
    }

    private static func text(_ address: UnsafeMutablePointer<sockaddr>) -> String? {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            var number = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            return text(AF_INET, &number)
        case AF_INET6:
            var number = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return text(AF_INET6, &number)
        default: return nil
        }
    }

    private static func text(_ family: Int32, _ number: UnsafeRawPointer) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, number, &buffer, socklen_t(buffer.count)) != nil else { return nil }
        return buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
    }
}
