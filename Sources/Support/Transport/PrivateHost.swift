package import InstrumentHTTP

#if canImport(Darwin)
internal import Darwin
#else
internal import CTransportShim
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif
#endif

extension HTTPURL {
    /// Whether the host is `localhost`, or a numeric address that only this machine or its network can reach: what a
    /// transport refuses that allows no private addresses. False for other names, which are not looked up. On Apple
    /// platforms, where no transport refuses addresses, true for `localhost` and every numeric address.
    package var hasPrivateHost: Bool {
        let name = host.lowercased().drop { $0 == "[" }.prefix { $0 != "]" && $0 != "%" }
        if name == "localhost" || name.hasSuffix(".localhost") { return true }
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        var found: UnsafeMutablePointer<addrinfo>?
        // Every form of an address that connecting accepts: `127.1`, `0x7f000001`, `2130706433`.
        guard getaddrinfo(String(name), nil, &hints, &found) == 0, let found else { return false }
        defer { freeaddrinfo(found) }
        #if canImport(Darwin)
        return true
        #else
        return found.pointee.ai_addr.map { transport_is_private($0) } ?? false
        #endif
    }
}
