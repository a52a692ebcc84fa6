#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension ProcessFacts {
    /// The facts of this process.
    package static func ofThisProcess() -> ProcessFacts {
        ProcessFacts(
            executable: CommandLine.arguments.first,
            machine: machineName(),
            pageSize: Int(exactly: sysconf(Int32(_SC_PAGESIZE))),
            preload: getenv("LD_PRELOAD").map { String(cString: $0) }
        )
    }

    /// `uname -m`.
    private static func machineName() -> String? {
        var names = utsname()
        guard uname(&names) == 0 else { return nil }
        return withUnsafePointer(to: names.machine) { tuple in
            tuple.withMemoryRebound(to: UInt8.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                let name = String(decodingCString: $0, as: UTF8.self)
                return name.isEmpty ? nil : name
            }
        }
    }
}
