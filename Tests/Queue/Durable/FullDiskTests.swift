import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import QueueTorture
import TestTraits
import Testing

@testable import InstrumentDurableQueue

@Suite("Durable store on a full disk", .ownThread)
struct FullDiskTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test("A full disk is an error that differs from a full queue, and writing continues when there is room")
    func fullDisk() throws {
        guard let disk = try mountSmallDisk() else { return }
        defer { _ = Self.run("umount", "-l", disk) }
        let (store, clock) = (try openSmallDisk(disk), VirtualClock())
        store.own.folder.state.withLock { $0.retryClock = clock }
        var (stored, refused) = (0, 0)
        var failure: QueueError?
        while failure == nil, stored < 100_000 {
            do throws(QueueError) {
                try appendOnceAnswered(NumberedSamples.sample(stored), to: store, &refused)
                stored += 1
            } catch {
                failure = error
                refused += 1
            }
        }
        #expect(failure?.code == .diskFull)
        #expect(stored > 100)
        // However many samples were refused, the store retries once a second.
        for _ in 0..<300 where (try? store.append([NumberedSamples.sample(stored)])) == nil { refused += 1 }
        // A retry for each refused sample would make hundreds of attempts. Maintenance may add a few.
        for _ in 0..<3 { #expect(failuresOfASecond(store, clock) <= 10) }
        try FileManager.default.removeItem(atPath: disk + "/filler")
        // A drain that began while the disk was full may still fail: wait for the end of it.
        try store.own.drainer.drain()
        try appendOnceAnswered(NumberedSamples.sample(stored), to: store, &refused)
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == Array(0...stored))
        let ledger = store.ledger(of: "one")
        // The ledger also counts each refused sample.
        #expect(
            (ledger.emitted, ledger.acknowledged, ledger.drops) == (
                stored + 1 + refused, stored + 1, [.refused: refused]
            )
        )
        store.close()
    }

    @Test("A sample for which the disk has no room is refused, delays no later sample, and never arrives")
    func tooLargeForDisk() throws {
        guard let disk = try mountSmallDisk() else { return }
        defer { _ = Self.run("umount", "-l", disk) }
        let store = try openSmallDisk(disk)
        var refused = 0
        try appendOnceAnswered(NumberedSamples.sample(0), to: store, &refused)
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 1))
        let attributes: Attributes = ["number": 1, "text": .string(String(repeating: "a", count: 4 << 20))]
        let large = Sample.event(Event(.ping, tracker: TrackerID(0), time: time, attributes: attributes))
        let error = #expect(throws: QueueError.self) { try appendOnceAnswered(large, to: store, &refused) }
        #expect(error?.code == .diskFull)
        try appendOnceAnswered(NumberedSamples.sample(2), to: store, &refused)
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == [0, 2])
        let ledger = store.ledger(of: "one")
        #expect((ledger.emitted, ledger.acknowledged, ledger.drops) == (3 + refused, 2, [.refused: 1 + refused]))
        store.close()
    }

    @Test("An append reports a full disk, not a stall, once a disk that did not respond has answered with an error")
    func fullDiskAfterStall() throws {
        guard DirectoryStore.stagingDirectory != nil else { return }
        guard let disk = try mountSmallDisk() else { return }
        defer { _ = Self.run("umount", "-l", disk) }
        let store = try openSmallDisk(disk)
        var (number, refused) = (0, 0)
        let append = { () throws(QueueError) in
            defer { number += 1 }
            try appendOnceAnswered(NumberedSamples.sample(number), to: store, &refused)
        }
        #expect(throws: QueueError.self) { while number < 100_000 { try append() } }
        // The disk and the staging area are full. Now the disk does not respond for a while.
        store.hangingDisk {
            let stalled = #expect(throws: QueueError.self) { try store.append([NumberedSamples.sample(number)]) }
            #expect(stalled?.code == .notResponding)
        }
        let answer = #expect(throws: QueueError.self) { try store.own.drainer.drain() }
        #expect(answer?.code == .diskFull)
        try #require(store.own.folder.state.withLock { !$0.isStalled })
        let later = #expect(throws: QueueError.self) { try append() }
        #expect(later?.code == .diskFull)
        store.close()
    }

    /// A disk of 2 MiB; nil without the permission to mount: then the test checks nothing.
    private func mountSmallDisk() throws -> String? {
        let disk = scratch.path + "/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        return Self.run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk) ? disk : nil
    }

    /// A store on a disk of 2 MiB that another file fills.
    private func openSmallDisk(_ disk: String) throws -> DurableStore {
        let store = try DurableStore(
            directory: disk + "/queue",
            configuration: DurableConfiguration(segmentSize: 16 << 10, synchronization: .never)
        )
        store.attach("one")
        try Data(count: 1700 << 10).write(to: URL(fileURLWithPath: disk + "/filler"))
        return store
    }

    /// Appends a sample. On a busy machine the disk may not respond in the time that an append waits: waits for the
    /// disk's response, and appends again.
    private func appendOnceAnswered(_ sample: Sample, to store: DurableStore, _ refused: inout Int) throws(QueueError) {
        while true {
            do throws(QueueError) {
                _ = try store.append([sample])
                return
            } catch {
                guard error.code == .notResponding else { throw error }
                refused += 1
                // Returns once every sample is copied. If the copy fails, the next append throws the error.
                do throws(QueueError) { try store.own.drainer.drain() } catch { continue }
            }
        }
    }

    /// The number of drains that fail when a second passes on the clock of the retries.
    private func failuresOfASecond(_ store: DurableStore, _ clock: VirtualClock) -> Int {
        // Drains run one after another on this queue: first those that are due already.
        store.own.drainer.queue.sync {}
        let before = store.own.folder.state.withLock { $0.drainFailures }
        clock.advance(by: .seconds(1))
        store.own.drainer.queue.sync {}
        return store.own.folder.state.withLock { $0.drainFailures } - before
    }

    private static func run(_ tool: String, _ arguments: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [tool] + arguments
        process.standardError = FileHandle.nullDevice
        guard (try? process.start()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
