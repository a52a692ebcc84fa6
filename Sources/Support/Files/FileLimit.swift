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
        let resource = RLIMIT_NOFILE
        // The hard limit is infinite there, and setrlimit(2) refuses more than this.
        let most = rlim_t(OPEN_MAX)
        #elseif canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        let most = rlim_t.max
        #else
        let resource = RLIMIT_NOFILE
        let most = rlim_t.max
        #endif
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, most))
        _ = setrlimit(resource, &limit)
    }
}
