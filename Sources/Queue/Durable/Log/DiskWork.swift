internal import CDurableShim
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The thread that currently works on the disk, for threads that wait for its work.
///
/// Only the system can distinguish a thread that waits for the disk from a thread that waits for a processor.
final class DiskWork: Sendable {
    private let thread = Atomic<Int32>(0)

    func begin() { thread.store(durable_thread_id(), ordering: .sequentiallyConsistent) }
    func end() { thread.store(0, ordering: .sequentiallyConsistent) }

    /// Whether the disk may delay the work: a thread works on the disk and does not wait for a processor.
    var isWaitingForDisk: Bool {
        let thread = thread.load(ordering: .sequentiallyConsistent)
        return thread != 0 && !Self.isRunnable(thread)
    }

    /// Whether a thread runs or waits for a processor (proc(5), `stat`, field 3).
    private static func isRunnable(_ thread: Int32) -> Bool {
        #if os(Linux)
        let descriptor = open("/proc/self/task/\(thread)/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0, let name = bytes.prefix(count).lastIndex(of: UInt8(ascii: ")")), name + 2 < count else {
            return false
        }
        return bytes[name + 2] == UInt8(ascii: "R")
        #else
        return false
        #endif
    }
}
