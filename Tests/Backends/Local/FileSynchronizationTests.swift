import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import Synchronization
import TestTraits
import Testing

@testable import InstrumentBackends

@Suite("File backend: synchronization", .ownThread)
struct FileSynchronizationTests {
    /// Counts synchronizations, and fails on command.
    final class Disk: Sendable {
        let files = Mutex(0)
        let directories = Mutex(0)
        let isBroken = Mutex(false)

        var calls: FileCalls {
            var calls = FileCalls()
            calls.synchronize = { [self] descriptor in
                var status = stat()
                guard fstat(descriptor, &status) == 0, !isBroken.withLock({ $0 }) else {
                    errno = EIO
                    return -1
                }
                if status.st_mode & S_IFMT == S_IFDIR {
                    directories.withLock { $0 += 1 }
                } else {
                    files.withLock { $0 += 1 }
                }
                return 0
            }
            return calls
        }
    }

    let scratch: Scratch
    let clock = VirtualClock()
    let disk = Disk()

    init() throws { scratch = try Scratch() }

    func backend(_ configuration: FileConfiguration, _ calls: FileCalls? = nil) throws -> FileBackend {
        let (path, calls) = (scratch.file("s.ndjson"), calls ?? disk.calls)
        return try FileBackend(path: path, configuration: configuration, clock: clock, calls: calls)
    }

    @Test("Without synchronization nothing is synchronized")
    func never() async throws {
        let backend = try backend(FileConfiguration())
        for number in 0..<3 { _ = await backend.deliver(Samples.batch(number..<number + 1)) }
        await backend.end()
        #expect(disk.files.withLock { $0 } == 0)
        #expect(disk.directories.withLock { $0 } == 0)
    }

    @Test("Each batch is synchronized before it counts as delivered, the new file's name once")
    func everyBatch() async throws {
        let backend = try backend(FileConfiguration(synchronization: .everyBatch))
        for number in 0..<3 { _ = await backend.deliver(Samples.batch(number..<number + 1)) }
        #expect(disk.files.withLock { $0 } == 3)
        #expect(disk.directories.withLock { $0 } == 1)
    }

    @Test("With an interval, the first batch after it is synchronized, and the rest at the end")
    func interval() async throws {
        let backend = try backend(FileConfiguration(synchronization: .interval(.seconds(10))))
        var counts: [Int] = []
        for number in 0..<4 {
            _ = await backend.deliver(Samples.batch(number..<number + 1))
            counts.append(disk.files.withLock { $0 })
            clock.advance(by: .seconds(6))
        }
        await backend.end()
        #expect(counts == [0, 0, 1, 1])
        #expect(disk.files.withLock { $0 } == 2)
    }

    @Test("A file is synchronized before its rotation, and the new name afterwards")
    func setAside() async throws {
        let rotation = FileConfiguration.Rotation(maxBytes: 1)
        let backend = try backend(FileConfiguration(rotation: rotation, synchronization: .everyBatch))
        for number in 0..<2 { _ = await backend.deliver(Samples.batch(number..<number + 1)) }
        #expect(disk.files.withLock { $0 } == 3)
        #expect(disk.directories.withLock { $0 } == 2)
    }

    @Test("A batch that cannot be synchronized is removed, and a retry does not write it twice")
    func takenBack() async throws {
        let backend = try backend(FileConfiguration(synchronization: .everyBatch))
        _ = await backend.deliver(Samples.batch(0..<5))
        let before = scratch.bytes("s.ndjson")
        disk.isBroken.withLock { $0 = true }
        guard case .retry(nil, let reason) = await backend.deliver(Samples.batch(5..<9)) else {
            Issue.record("a retry was expected")
            return
        }
        #expect(reason.contains("synchronize"))
        #expect(scratch.bytes("s.ndjson") == before)
        disk.isBroken.withLock { $0 = false }
        #expect(await backend.deliver(Samples.batch(5..<9)) == .acknowledged)
        #expect(try readAll(scratch.file("s.ndjson")).records == Samples.batch(0..<9).records)
    }

    @Test("An interrupted write continues; a write of zero bytes is an error, not a loop")
    func interrupted() async throws {
        let turn = Mutex(0)
        var calls = FileCalls()
        calls.write = { descriptor, bytes in
            let number = turn.withLock { turn in
                turn += 1
                return turn
            }
            if number == 40 { return 0 }
            if number.isMultiple(of: 2) {
                errno = EINTR
                return -1
            }
            return Foundation.write(descriptor, bytes.baseAddress, min(7, bytes.count))
        }
        let backend = try backend(FileConfiguration(), calls)
        guard case .retry = await backend.deliver(Samples.batch(0..<2)) else {
            Issue.record("a retry was expected")
            return
        }
        #expect(scratch.bytes("s.ndjson").isEmpty)
        #expect(await backend.deliver(Samples.batch(0..<2)) == .acknowledged)
        #expect(try readAll(scratch.file("s.ndjson")).records == Samples.batch(0..<2).records)
    }

    @Test("The rest of a failed write is removed, even after another process truncated the file")
    func cutOffThenFull() async throws {
        let room = Mutex(Int.max)
        var calls = FileCalls()
        calls.write = { descriptor, bytes in
            let allowed = room.withLock { min($0, bytes.count) }
            guard allowed > 0 else {
                errno = ENOSPC
                return -1
            }
            room.withLock { $0 -= allowed }
            return Foundation.write(descriptor, bytes.baseAddress, allowed)
        }
        let backend = try backend(FileConfiguration(), calls)
        _ = await backend.deliver(Samples.batch(0..<20))
        #expect(truncate(scratch.file("s.ndjson"), 0) == 0)
        room.withLock { $0 = 300 }
        guard case .retry = await backend.deliver(Samples.batch(20..<25)) else {
            Issue.record("a retry was expected")
            return
        }
        #expect(scratch.bytes("s.ndjson").isEmpty)
        room.withLock { $0 = .max }
        #expect(await backend.deliver(Samples.batch(20..<25)) == .acknowledged)
        #expect(try readAll(scratch.file("s.ndjson")).records == Samples.batch(20..<25).records)
    }
}
