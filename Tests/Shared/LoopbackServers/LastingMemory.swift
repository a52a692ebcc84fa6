internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The memory in which a durable queue keeps samples that are not in its files yet: a process that is killed loses no
/// sample where it outlives the process.
package enum LastingMemory {
    package static let whyNot = "SKIPPED: /dev/shm cannot be written or has less than 64 MB of room"

    /// Whether `/dev/shm` can be written, with room for the queues of a test.
    package static let isThere: Bool = {
        var status = statvfs()
        guard access("/dev/shm", W_OK) == 0, statvfs("/dev/shm", &status) == 0 else { return false }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize) >= 64 << 20
    }()
}
