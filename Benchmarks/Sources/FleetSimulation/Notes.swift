import Foundation
import Synchronization

/// What a process has done, in a file that outlives its kill: a slot for each run of the shard.
final class Notes: Sendable {
    enum Field: Int, CaseIterable {
        /// Steps that have begun, from the first of the day on.
        case begun
        /// Calls of the store that have returned.
        case appends
        /// Samples in these calls, without those of players that are offline.
        case samples
    }

    struct Failure: Error, CustomStringConvertible { let description: String }

    static let mostRuns = 64
    private static let size = mostRuns * Field.allCases.count * 8
    /// Unchecked by the compiler: one process writes at a time, with one thread.
    private nonisolated(unsafe) let memory: UnsafeMutablePointer<UInt64>

    init(_ path: String) throws {
        let file = open(path, O_RDWR | O_CREAT, 0o600)
        guard file >= 0 else { throw Failure(description: "cannot open \(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        guard ftruncate(file, off_t(Self.size)) == 0,
            let mapped = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), mapped != MAP_FAILED
        else { throw Failure(description: "cannot map \(path): \(String(cString: strerror(errno)))") }
        memory = mapped.assumingMemoryBound(to: UInt64.self)
    }

    deinit { munmap(memory, Self.size) }

    subscript(run: Int, field: Field) -> Int {
        get { Int(memory[index(run, field)]) }
        set { memory[index(run, field)] = UInt64(newValue) }
    }

    private func index(_ run: Int, _ field: Field) -> Int { run * Field.allCases.count + field.rawValue }
}
