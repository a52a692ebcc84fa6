#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The limit of open files and connections of this process.
package enum FileLimit {
    /// Raises the limit as far as the system allows this user; the usual limit is 1,024.
    package static func raise() {
        var limit = rlimit()
        #if canImport(Darwin)
        // The hard limit is infinite there, and setrlimit(2) refuses more than this.
        let most = rlim_t(OPEN_MAX)
        #else
        let most = rlim_t.max
        #endif
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, most))
        _ = setrlimit(resource, &limit)
    }

    /// Returns a descriptor that was opened for a file or a connection. If few descriptors are left, closes it, sets
    /// `errno` to `EMFILE` and returns -1.
    ///
    /// The rest is for the system's libraries, some of which end the process if they cannot open a descriptor. A new
    /// descriptor has the smallest free number (POSIX, `open`): a number near the limit means that few are left.
    package static func keepingReserve(_ descriptor: Int32) -> Int32 {
        if Int(descriptor) < reserveStart { return descriptor }
        close(descriptor)
        errno = EMFILE
        return -1
    }

    /// The first number of the descriptors that are left to the system's libraries.
    package static var reserveStart: Int {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return .max }
        let count = Int(clamping: limit.rlim_cur)
        return count - reserve(of: count)
    }

    /// The number of descriptors that are left to others, of the number that the process may have.
    package static func reserve(of count: Int) -> Int { min(32, count / 16) }

    #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let resource = RLIMIT_NOFILE
    #endif
}
