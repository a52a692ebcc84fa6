import Foundation

/// A library that makes system calls of a child process fail or wait; compiled when it is first needed.
struct FaultShim: Sendable {
    /// Why calls cannot be made to fail here.
    struct Unavailable: Error {
        let reason: String
    }

    /// The kinds of call, in the order in which the library counts them.
    static let kinds = [
        "open", "map", "allocate", "sync", "rename", "unlink", "write", "read", "truncate", "stat", "lock", "mkdir",
        "list",
    ]

    /// What is to happen.
    struct Fault: Sendable {
        var call: String
        /// The first call that fails, from 1, and how many fail in a row.
        var at = 1
        var times = 1
        /// 0 only waits.
        var error: Int32 = 0
        /// Microseconds.
        var delay = 0
        /// Only files whose path ends like this fail or wait.
        var suffix: String?
    }

    private let library: String

    /// - Parameter folder: where the library is compiled to.
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

    /// What a child process gets in its environment, so that a call below a directory fails.
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

    /// How many calls of each kind a process made.
    static func calls(_ counts: String) -> [String: Int] {
        let words = words(counts)
        return Dictionary(uniqueKeysWithValues: zip(kinds, words).map { ($0, $1) })
    }

    /// How many calls failed or waited.
    static func injected(_ counts: String) -> Int { words(counts).dropFirst(kinds.count).first ?? 0 }

    private static func words(_ counts: String) -> [Int] {
        let data = FileManager.default.contents(atPath: counts) ?? Data()
        return data.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - 7, by: 8).map { bytes.loadUnaligned(fromByteOffset: $0, as: Int.self) }
        }
    }
}
