#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// How many files and connections the process may have open.
enum FileLimit {
    /// Takes as many as the system lets it: each stream has a connection or two.
    static func raise() {
        var limit = rlimit()
        #if canImport(Darwin)
        let resource = RLIMIT_NOFILE
        // The hard limit is said to be infinite there and is not taken (setrlimit(2)).
        let most = rlim_t(OPEN_MAX)
        #else
        let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
        let most = rlim_t.max
        #endif
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, most)
        _ = setrlimit(resource, &limit)
    }
}
