#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Since when the machine runs: monotonic instants of one boot can be compared, those of two cannot.
enum BootSession {
    /// The boot's identifier; nil if the system does not tell.
    static let identifier: String? = {
        #if canImport(Darwin)
        var buffer = [CChar](repeating: 0, count: 64)
        var size = buffer.count
        guard sysctlbyname("kern.bootsessionuuid", &buffer, &size, nil, 0) == 0 else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        #else
        // A system that tells no identifier is one whose boots cannot be compared.
        return (try? Directory.text(of: "/proc/sys/kernel/random/boot_id", atMost: 64)) ?? nil
        #endif
    }()
}
