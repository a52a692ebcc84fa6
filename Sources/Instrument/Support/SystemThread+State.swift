#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension SystemThread {
    /// A thread, for others that ask what it does.
    package struct Identity: Hashable, Sendable {
        /// The system's number of the thread; on other systems than Linux, the address of its handle.
        private let number: UInt64

        /// The thread that asks. Reads a link of `/proc` on Linux; ask once for each thread.
        package static var current: Self {
            #if os(Linux)
            // proc(5): the link leads to `PROCESS/task/THREAD`.
            let path = bytes { readlink("/proc/thread-self", $0, $1) }
            let number = path.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) }
            return Self(number: number.flatMap(UInt64.init) ?? 0)
            #else
            return Self(number: UInt64(UInt(bitPattern: pthread_self())))
            #endif
        }

        /// Whether the thread computes or waits for a processor; false if it waits for anything else, or where the
        /// system does not tell (other systems than Linux, no `/proc`).
        package var isRunnable: Bool {
            #if os(Linux)
            let file = open("/proc/self/task/\(number)/stat", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return false }
            defer { close(file) }
            // proc_pid_stat(5): the number, the name in parentheses, which has at most 15 bytes, and the state.
            let stat = Self.bytes { read(file, $0, $1) }
            guard let end = stat.lastIndex(of: UInt8(ascii: ")")), end + 2 < stat.count else { return false }
            return stat[end + 2] == UInt8(ascii: "R")
            #else
            return false
            #endif
        }

        #if os(Linux)
        /// The first bytes that a call of the system writes; none if it fails.
        private static func bytes(_ call: (UnsafeMutablePointer<CChar>, Int) -> Int) -> [UInt8] {
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
                guard let start = buffer.baseAddress else { return [] }
                let count = call(start, buffer.count)
                return count > 0 ? buffer.prefix(count).map(UInt8.init(bitPattern:)) : []
            }
        }
        #endif
    }

    /// How many of these threads compute or wait for a processor, as far as the number of processors.
    package static func runnableCount(of threads: Set<Identity>) -> Int {
        var count = 0
        for thread in threads where count < processorCount && thread.isRunnable { count += 1 }
        return count
    }

    /// The number of processors of the machine.
    package static let processorCount = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}
