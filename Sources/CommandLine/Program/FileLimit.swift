#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The limit of open files and connections of the process.
package enum FileLimit {
    /// Raises the limit to the maximum that the system allows; the usual limit of 1,024 is too low for many streams.
    package static func raise() {
        var limit = rlimit()
        #if canImport(Darwin)
        let resource = RLIMIT_NOFILE
        // The system reports an infinite hard limit, but does not accept that value (setrlimit(2)).
        let most = rlim_t(OPEN_MAX)
        #elseif canImport(Glibc)
        let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
        let most = rlim_t.max
        #else
        let resource = RLIMIT_NOFILE
        let most = rlim_t.max
        #endif
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, most)
        _ = setrlimit(resource, &limit)
    }
}
