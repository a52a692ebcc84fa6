#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// The boot of the machine: only monotonic instants of the same boot can be compared.
enum BootSession {
    /// The boot's identifier; nil if the system has none.
    static let identifier: String? = {
        #if canImport(Darwin)
        var buffer = [CChar](repeating: 0, count: 64)
        var size = buffer.count
        guard sysctlbyname("kern.bootsessionuuid", &buffer, &size, nil, 0) == 0 else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        #else
        // Without an identifier, boots cannot be compared.
        return (try? Directory.text(of: "/proc/sys/kernel/random/boot_id", atMost: 64)) ?? nil
        #endif
    }()
}
