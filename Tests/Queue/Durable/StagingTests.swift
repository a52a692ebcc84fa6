import Foundation
import GRDB
import Instrument
import InstrumentTestKit
import LoopbackServers
import QueueChildPlan
import QueueTorture
import TestTraits
import Testing

@testable import InstrumentDurableQueue

/// A thread that holds the store's draining lock simulates a disk that does not respond, like a thread in a page fault.
@Suite("Staged samples", .ownThread)
struct StagingTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func open(
        _ configuration: DurableConfiguration = DurableConfiguration(segmentSize: 4096),
        _ report: @escaping @Sendable (Diagnostic) -> Void = { _ in }
    ) throws -> DurableStore {
        try DurableStore(directory: scratch.path, configuration: configuration, report: report)
    }

    private func isLinux() -> Bool { DirectoryStore.stagingDirectory != nil }

    // `memcpy` of the GNU C library stores the first bytes of one or two KiB last.
    @Test(
        "A process that ends during a copy of records leaves all bytes before its end",
        arguments: [64, 256, 1000, 1024, 2048, 4096, 60_000]
    )
    func tornCopy(count: Int) throws {
        let size = 64 << 10
        let file = scratch.path + "/torn"
        try Data(count: size).write(to: URL(fileURLWithPath: file))
        var plan = ChildPlan(.tearCopy, directory: file, backends: [])
        plan.count = count
        // A sanitizer would catch the signal, and a backtrace would take seconds.
        let options = [
            "TSAN_OPTIONS": "handle_sigbus=0", "ASAN_OPTIONS": "handle_sigbus=0", "SWIFT_BACKTRACE": "enable=no",
        ]
        let child = try ChildProcess(plan, name: scratch.path + "/child", environment: options)
        #expect(child.hasEnded() && child.status == -SIGBUS)
        let left = try Data(contentsOf: URL(fileURLWithPath: file))
        #expect(left.count == size / 2 && left.suffix(count / 2).allSatisfy { $0 == 1 })
    }

    @Test("A killed process leaves its staged samples to the next one, in order and with the same identifiers")
    func killed() throws {
        guard isLinux() else { return }
        let store = try open()
        store.attach("one")
        for number in 0..<50 { _ = try store.append([NumberedSamples.sample(number)]) }
        let first = store.next(for: "one", maxCount: 10, maxBytes: .max)
        try store.own.drainer.draining.withLock { _ in
            for number in 50..<100 { _ = try store.append([NumberedSamples.sample(number)]) }
            #expect(store.own.folder.state.withLock { $0.log.nextSequence } == 50)
            store.leaveAsKilled()
        }
        let again = try open()
        #expect(again.ledger(of: "one").queued == 100)
        let records = NumberedSamples.drain(again)
        #expect(NumberedSamples.numbers(records) == Array(0..<100))
        #expect(records.prefix(10) == first[...])
        #expect(Set(records.map(\.id)).count == 100)
    }

    @Test("Staged samples are recovered from both halves of a staging area of any size", arguments: [300_001, 262_151])
    func oddSize(segmentSize: Int) throws {
        guard isLinux() else { return }
        let configuration = DurableConfiguration(segmentSize: segmentSize)
        let store = try open(configuration)
        store.attach("one")
        let count = try store.own.drainer.draining.withLock { _ in
            // Beyond the first half, but not beyond both.
            var count = 0
            while store.own.folder.state.withLock({ $0.staging?.taken == nil }) {
                _ = try store.append([NumberedSamples.sample(count)])
                count += 1
            }
            _ = try store.append([NumberedSamples.sample(count)])
            store.leaveAsKilled()
            return count + 1
        }
        #expect(try NumberedSamples.numbers(NumberedSamples.drain(open(configuration))) == Array(0..<count))
    }

    @Test("The samples of one append are staged together or not at all when the process is killed between two of them")
    func company() throws {
        guard isLinux() else { return }
        let store = try open()
        store.attach("one")
        try store.own.drainer.draining.withLock { _ in
            for number in 0..<10 {
                _ = try store.append([NumberedSamples.sample(2 * number), NumberedSamples.sample(2 * number + 1)])
            }
            store.leaveAsKilled()
        }
        #expect(try NumberedSamples.numbers(NumberedSamples.drain(open())) == Array(0..<20))
    }

    @Test("No sequence number is used twice after a loss of power with staged samples, and the ledger adds up")
    func powerLost() throws {
        guard isLinux() else { return }
        let store = try open()
        store.attach("one")
        for number in 0..<10 { _ = try store.append([NumberedSamples.sample(number)]) }
        let before = store.next(for: "one", maxCount: 5, maxBytes: .max)
        store.settle("one", through: 4, dead: [:])
        let path = try #require(store.own.folder.state.withLock { $0.staging?.area.path })
        store.leaveAsKilled()
        try FileManager.default.removeItem(atPath: path)
        let again = try open()
        for number in 10..<20 { _ = try again.append([NumberedSamples.sample(number)]) }
        let records = NumberedSamples.drain(again)
        #expect(NumberedSamples.numbers(records) == Array(5..<20))
        #expect(try #require(records.last).sequence > 1 << 32)
        #expect(Set((before + records).map(\.id)).count == 20)
        let ledger = again.ledger(of: "one")
        #expect([ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dropped] == [20, 20, 0, 0] as [Int])
    }

    @Test("Numbers that were skipped after a loss of power are not counted as lost when the bookkeeping is lost, too")
    func lostLeap() throws {
        guard isLinux() else { return }
        let store = try open()
        store.attach("one")
        for number in 0..<10 { _ = try store.append([NumberedSamples.sample(number)]) }
        try store.synchronize()
        let path = try #require(store.own.folder.state.withLock { $0.staging?.area.path })
        let folder = store.own.path
        store.leaveAsKilled()
        try FileManager.default.removeItem(atPath: path)
        let second = try open()
        for number in 10..<20 { _ = try second.append([NumberedSamples.sample(number)]) }
        second.close()
        for ending in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: folder + "/bookkeeping.sqlite" + ending)
        }
        for _ in 0..<2 {
            let again = try open()
            again.attach("one")
            let ledger = again.ledger(of: "one")
            #expect((ledger.emitted, ledger.queued + ledger.acknowledged, ledger.drops) == (20, 20, [:]))
            #expect(again.next(for: "one", maxCount: 15, maxBytes: .max).count == (ledger.queued == 20 ? 15 : 5))
            again.settle(
                "one",
                through: again.next(for: "one", maxCount: 15, maxBytes: .max).last?.sequence ?? 0,
                dead: [:]
            )
            again.close()
        }
        let ledger = try open().ledger(of: "one")
        #expect((ledger.emitted, ledger.acknowledged, ledger.dropped) == (20, 20, 0))
    }

    @Test(
        "Samples get numbers after a gap, and arrive, when the process that skipped the numbers stored nothing",
        arguments: [false, true],
        [false, true]
    )
    func unusedGap(isPowerLost: Bool, isKilledAgain: Bool) throws {
        guard isLinux() else { return }
        let store = try open()
        store.attach("one")
        for number in 0..<10 { _ = try store.append([NumberedSamples.sample(number)]) }
        try store.synchronize()
        let path = try #require(
            store.own.folder.state.withLock { state in
                // The process was killed after it had noted the next sample, and before it had written that sample.
                state.staging?.area.note(next: state.nextSequence + 1)
                return state.staging?.area.path
            }
        )
        store.leaveAsKilled()
        if isPowerLost { try FileManager.default.removeItem(atPath: path) }
        let idle = try open()
        if isKilledAgain { idle.leaveAsKilled() } else { idle.close() }
        let again = try open()
        let view = again.ledger(of: "one")
        #expect([view.emitted, view.queued] == [10, 10] as [Int])
        let old = NumberedSamples.drain(again)
        // The cursor is behind the gap now.
        #expect(again.ledger(of: "one").queued == 0 && again.backlog(of: "one").count == 0)
        for number in 10..<20 { _ = try again.append([NumberedSamples.sample(number)]) }
        let records = old + NumberedSamples.drain(again)
        #expect(NumberedSamples.numbers(records) == Array(0..<20))
        #expect(Set(records.map(\.id)).count == 20)
        let ledger = again.ledger(of: "one")
        #expect((ledger.emitted, ledger.acknowledged, ledger.dropped) == (20, 20, 0))
    }

    @Test("A copy of a directory does not take the staged samples of the original")
    func copied() throws {
        guard isLinux() else { return }
        let store = try open()
        store.attach("one")
        let copy = scratch.path + "-copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try store.own.drainer.draining.withLock { _ in
            for number in 0..<10 { _ = try store.append([NumberedSamples.sample(number)]) }
            try FileManager.default.copyItem(atPath: scratch.path, toPath: copy)
        }
        let other = try DurableStore(directory: copy)
        #expect(other.ledger(of: "one").queued == 0)
        other.close()
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == Array(0..<10))
    }

    @Test(
        "A disk that does not respond delays no append; samples without room are refused and counted, and no other sample is lost"
    )
    func stalledDisk() throws {
        guard isLinux() else { return }
        let store = try open()
        store.attach("one")
        var (kept, refused): ([Int], Int) = ([], 0)
        store.hangingDisk {
            for number in 0..<20_000 {
                do throws(QueueError) {
                    _ = try store.append([NumberedSamples.sample(number)])
                    kept.append(number)
                } catch {
                    #expect(error.code == .notResponding)
                    refused += 1
                }
            }
            #expect(kept.count > 100 && refused > 100)
            #expect(store.ledger(of: "one").drops == [.refused: refused])
        }
        let late = try eventually { try store.append([NumberedSamples.sample(20_000)]) }
        #expect(late > 0)
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == kept + [20_000])
        let ledger = store.ledger(of: "one")
        #expect(ledger.emitted == ledger.settled)
    }

    /// Repeats a call until the draining thread has noticed that the disk responds.
    private func eventually(_ body: () throws -> Int) throws -> Int {
        while true {
            do { return try body() } catch let error as QueueError where error.code == .notResponding { sched_yield() }
        }
    }

    /// A sample that is larger than a half of the staging area.
    private func large(_ number: Int, size: Int = 300 << 10) -> Sample {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: Int64(number)), wallTime: WallTime(milliseconds: 1))
        let text = String(repeating: "\(number % 10)", count: size)
        let attributes: Attributes = ["number": .int(number), "text": .string(text)]
        return .event(Event(.ping, tracker: TrackerID(0), time: time, attributes: attributes))
    }

    private func texts(_ records: [SampleRecord]) -> [Int] {
        records.map { $0.sample.attributes[AttributeKey<String>("text")]?.utf8.count ?? 0 }
    }

    @Test(
        "Samples larger than the staging area are kept while the disk does not respond, in their order, and outlive the process",
        arguments: [false, true]
    )
    func largeSamples(isKilled: Bool) throws {
        guard isLinux() else { return }
        let store = try open()
        store.attach("one")
        let path = try #require(store.own.folder.state.withLock { $0.staging?.area.path })
        try store.hangingDisk {
            for number in 0..<20 {
                let sample = number % 3 == 1 ? large(number) : NumberedSamples.sample(number)
                let size = try store.append([sample])
                #expect(size > 0)
            }
            #expect(store.own.folder.state.withLock { $0.log.nextSequence } == 0)
            let files = try StagingArea.siblings(of: path)
            #expect(files.count == 7)
            if isKilled { store.leaveAsKilled() }
        }
        let again = isKilled ? try open() : store
        let records = NumberedSamples.drain(again)
        #expect(NumberedSamples.numbers(records) == Array(0..<20))
        #expect(texts(records) == (0..<20).map { $0 % 3 == 1 ? 300 << 10 : 25 })
        let ledger = again.ledger(of: "one")
        #expect((ledger.emitted, ledger.acknowledged, ledger.dropped) == (20, 20, 0))
        #expect(try StagingArea.siblings(of: path).isEmpty)
        again.close()
    }

    @Test("Large samples take limited memory while the disk does not respond; what has no room is refused and counted")
    func manyLargeSamples() throws {
        guard isLinux() else { return }
        let store = try open()
        store.attach("one")
        var (kept, refused): ([Int], Int) = ([], 0)
        store.hangingDisk {
            for number in 0..<12 {
                do throws(QueueError) {
                    _ = try store.append([large(number, size: 3 << 20)])
                    kept.append(number)
                } catch {
                    #expect(error.code == .notResponding)
                    refused += 1
                }
            }
        }
        #expect(kept == [0, 1, 2, 3, 4] && refused == 7)
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == kept)
        #expect(store.ledger(of: "one").drops == [.refused: refused])
        let ledger = store.ledger(of: "one")
        #expect(ledger.emitted == 12 && ledger.settled == 12)
    }

    @Test(
        "Without memory that outlives the process, a sample that the disk does not take in time is refused, counted, and never arrives"
    )
    func withoutLastingMemory() throws {
        let store = try openWithoutLastingMemory()
        store.attach("one")
        for number in 0..<5 { _ = try store.append([NumberedSamples.sample(number)]) }
        // Without a kill: each sample is in a segment when the append returns.
        #expect(store.own.folder.state.withLock { $0.log.nextSequence } == 5)
        var refused = 0
        store.hangingDisk {
            for number in 5..<40 {
                let sample = number == 7 ? large(number) : NumberedSamples.sample(number)
                let error = #expect(throws: QueueError.self) { try store.append([sample]) }
                #expect(error?.code == .notResponding)
                refused += 1
            }
        }
        _ = try eventually { try store.append([NumberedSamples.sample(40)]) }
        _ = try store.append([large(41)])
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == [0, 1, 2, 3, 4, 40, 41])
        let ledger = store.ledger(of: "one")
        // `eventually` may have been refused, too.
        #expect(ledger.acknowledged == 7 && (ledger.drops[.refused] ?? 0) >= refused)
        #expect(ledger.emitted == ledger.settled)
        store.close()
        let again = try openWithoutLastingMemory()
        #expect(again.ledger(of: "one") == ledger)
        #expect(NumberedSamples.drain(again).isEmpty)
    }

    private func openWithoutLastingMemory() throws -> DurableStore {
        try DurableStore(
            directory: scratch.path,
            configuration: DurableConfiguration(segmentSize: 4096),
            randomness: RandomSource(),
            stagingDirectory: nil,
            report: { _ in }
        )
    }

    @Test("A queue that refuses new samples at its limit stays within its bytes and drops nothing that it accepted")
    func refuseNew() throws {
        let limits = QueueLimits(maxBytes: 20_000, whenFull: .refuseNew)
        let store = try open(DurableConfiguration(limits: limits, segmentSize: 4096))
        store.attach("one")
        var (kept, refused): ([Int], Int) = ([], 0)
        for number in 0..<1000 {
            do throws(QueueError) {
                _ = try store.append([NumberedSamples.sample(number)])
                kept.append(number)
            } catch {
                #expect(error.code == .full)
                refused += 1
            }
            if number % 100 == 99 { try store.synchronize() }
        }
        #expect(store.backlog(of: "one").bytes <= 20_000 && kept.count > 100)
        #expect(store.ledger(of: "one").drops == [.refused: refused])
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == kept)
    }
}

extension DurableStore {
    /// Runs `body` while the disk does not respond to the thread that copies staged samples.
    func hangingDisk<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        let (hangs, isReleased) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread { [own] in
            own.drainer.draining.withLock { _ in
                own.drainer.diskWork.begin()
                hangs.signal()
                isReleased.wait()
                own.drainer.diskWork.end()
            }
        }
        hangs.wait()
        defer { isReleased.signal() }
        try body()
    }

    /// Leaves all files in the state after a kill. Work that was scheduled before changes no file.
    func leaveAsKilled() {
        own.drainer.isReleased.withLock { $0 = true }
        own.folder.state.withLock { ($0.staging, $0.isLetGo) = (nil, true) }
        own.folder.lock.withLock { $0 = nil }
    }

    /// Saves all changes, and waits for scheduled work: a copy of the folder is what a kill at one instant leaves.
    func settleFiles() {
        own.drainer.queue.sync {}
        own.maintenance.maintain()
        own.maintenanceQueue.queue.sync {}
    }
}
