import Foundation

/// A library that makes system calls of a child process fail or wait; compiled when it is first needed.
struct FaultShim: Sendable {
    /// The reason for which faults cannot be injected here.
    struct Unavailable: Error {
        let reason: String
    }

    /// The kinds of call, in the order in which the library counts them.
    static let kinds = [
        "open", "map", "allocate", "sync", "rename", "unlink", "write", "read", "truncate", "stat", "lock", "mkdir",
        "list", "close", "mode",
    ]

    /// The injected fault.
    struct Fault: Sendable {
        var call: String
        /// The number of the first failing call, from 1, and the number of consecutive failing calls.
        var at = 1
        var times = 1
        /// The error number; 0 for a call that only waits, -1 for one that reads or writes only half of its bytes.
        var error: Int32 = 0
        /// The wait in microseconds.
        var delay = 0
        /// The suffix of the paths whose calls fail or wait.
        var suffix: String?
    }

    private let library: String

    /// - Parameter folder: the folder for the compiled library.
    init(in folder: String) throws {
        #if os(Linux)
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("FaultShim/fault-shim.c").path
        library = folder + "/fault-shim.so"
        do {
            try Shell.run("cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl")
        } catch {
            throw Unavailable(reason: "the library that injects faults cannot be compiled: \(error)")
        }
        #else
        throw Unavailable(reason: "LD_PRELOAD is Linux's")
        #endif
    }

    /// The environment of a child process in which a call below a directory fails.
    func environment(directory: String, counts: String, _ fault: Fault? = nil) throws -> [String: String] {
        try Data(count: 4096).write(to: URL(fileURLWithPath: counts))
        var environment = ["LD_PRELOAD": library, "FAULT_DIRECTORY": directory, "FAULT_COUNTS": counts]
        environment["FAULT_STAGING"] = "/dev/shm/instrument-queue-"
        guard let fault else { return environment }
        environment["FAULT_CALL"] = fault.call
        environment["FAULT_AT"] = "\(fault.at)"
        environment["FAULT_TIMES"] = "\(fault.times)"
        environment["FAULT_ERROR"] = "\(fault.error)"
        environment["FAULT_DELAY"] = "\(fault.delay)"
        environment["FAULT_SUFFIX"] = fault.suffix
        return environment
    }

    /// The number of a process's calls of each kind.
    static func calls(_ counts: String) -> [String: Int] {
        let words = words(counts)
        return Dictionary(uniqueKeysWithValues: zip(kinds, words).map { ($0, $1) })
    }

    /// The number of calls that failed or waited.
    static func injected(_ counts: String) -> Int { words(counts).dropFirst(kinds.count).first ?? 0 }

    private static func words(_ counts: String) -> [Int] {
        let data = FileManager.default.contents(atPath: counts) ?? Data()
        return data.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - 7, by: 8).map { bytes.loadUnaligned(fromByteOffset: $0, as: Int.self) }
        }
    }
}
