import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import Testing

@testable import InstrumentDurableQueue

@Suite("Folders that are adopted, drained and removed")
struct FolderRemovalTests {
    let scratch: Scratch
    let queue: String

    init() throws {
        scratch = try Scratch()
        queue = scratch.path + "/queue"
    }

    func open(_ report: @escaping @Sendable (Diagnostic) -> Void = { _ in }) throws -> DurableStore {
        try DurableStore(
            directory: queue,
            configuration: DurableConfiguration(segmentSize: 4096, synchronization: .never),
            randomness: RandomSource(),
            stagingDirectory: scratch.stagingDirectory,
            report: report
        )
    }

    static func sums(_ store: DurableStore, _ backend: BackendName = "one") -> [Int] {
        let ledger = store.ledger(of: backend)
        #expect(ledger.emitted == ledger.acknowledged + ledger.queued + ledger.dead + ledger.dropped)
        return [ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dropped]
    }

    /// Two folders: the older one is drained of 100 samples, 3 of which were discarded; the younger one has 10 that
    /// wait.
    func makeFolders(_ names: [BackendName] = ["one"]) throws {
        let (first, second) = (try open(), try open())
        for name in names {
            first.attach(name)
            second.attach(name)
        }
        for number in 0..<100 { _ = try first.append([NumberedSamples.sample(number)]) }
        for number in 0..<10 { _ = try second.append([NumberedSamples.sample(100 + number)]) }
        for name in names {
            let records = first.next(for: name, maxCount: 100, maxBytes: .max)
            first.settle(name, through: 99, dead: [3: "a", 5: "b", 8: "c"])
            first.dropDeadLetters(Set(records.map(\.id)), of: name)
        }
        first.close()
        second.close()
    }

    @Test("The ledger of a drained folder counts exactly once, whenever its removal is interrupted")
    func interruptedRemoval() throws {
        try makeFolders()
        let saved = scratch.path + "/saved"
        try FileManager.default.copyItem(atPath: queue, toPath: saved)
        let (older, younger) = ("/00000001.queue", "/00000002.queue")
        let names = FolderNames.inOrderOfDeletion(try FileManager.default.contentsOfDirectory(atPath: queue + older))
        #expect(names.contains("bookkeeping.sqlite") && names.last == "lock")
        // Before the sums are saved, then after a number of deleted files, then with the folder.
        for deleted in -1...names.count + 1 {
            try FileManager.default.removeItem(atPath: queue)
            try FileManager.default.copyItem(atPath: saved, toPath: queue)
            if deleted >= 0 { try carry(from: queue + older, to: queue + younger) }
            for name in names.prefix(max(0, deleted)) {
                try FileManager.default.removeItem(atPath: queue + older + "/" + name)
            }
            if deleted > names.count { try FileManager.default.removeItem(atPath: queue + older) }
            for _ in 0..<3 {
                let store = try open()
                store.attach("one")
                #expect(Self.sums(store) == [110, 97, 10, 3], "\(deleted) files deleted")
                store.forget("nobody")
                #expect(Self.sums(store) == [110, 97, 10, 3], "\(deleted) files deleted")
                store.close()
            }
            #expect(!FileManager.default.fileExists(atPath: queue + older), "\(deleted) files deleted")
            let store = try open()
            #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == Array(100..<110))
            #expect(Self.sums(store) == [110, 107, 0, 3])
            store.close()
        }
    }

    /// Saves the sums of one folder in another folder, as a process does that is killed afterwards.
    private func carry(from path: String, to heir: String) throws {
        func store(_ path: String) throws -> DirectoryStore {
            let lock = try DirectoryLock(path)
            return try DirectoryStore(
                path: path,
                lock: lock,
                configuration: DurableConfiguration(segmentSize: 4096),
                randomness: RandomSource(),
                report: { _ in }
            )
        }
        let (drained, own) = (try store(path), try store(heir))
        try own.keepSums(drained.view.settledSums, of: drained.logNumber)
        // A second save has no effect.
        try own.keepSums(drained.view.settledSums, of: drained.logNumber)
        drained.close()
        own.close()
    }

    @Test("A store that adopts a folder does not repeat a ledger that a folder in use counts")
    func heirInUse() throws {
        try makeFolders()
        try carry(from: queue + "/00000001.queue", to: queue + "/00000002.queue")
        let lock = try DirectoryLock(queue + "/00000002.queue")
        let store = try open()
        #expect(Self.sums(store) == [0, 0, 0, 0])
        #expect(!FileManager.default.fileExists(atPath: queue + "/00000001.queue"))
        store.close()
        withExtendedLifetime(lock) {}
    }

    @Test("The ledger of a backend that this run does not have is kept through any number of adoptions")
    func absentBackend() throws {
        try makeFolders(["one", "two"])
        for _ in 0..<3 {
            let (first, second) = (try open(), try open())
            first.attach("one")
            second.attach("three")
            _ = NumberedSamples.drain(first)
            _ = NumberedSamples.drain(first, "two")
            first.close()
            second.close()
        }
        let store = try open()
        #expect(Self.sums(store) == [110, 107, 0, 3])
        #expect(Self.sums(store, "two") == [110, 107, 0, 3])
        #expect(store.backends == ["one", "three", "two"])
        store.forget("two")
        #expect(Self.sums(store, "two") == [0, 0, 0, 0])
        store.close()
        #expect(Self.sums(try open(), "two") == [0, 0, 0, 0])
    }

    @Test("A folder stays locked until it is deleted, and a deleted folder is not adopted")
    func lockedUntilDeleted() throws {
        let folder = queue + "/00000001.queue"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // A process finds the folder, and locks it after its owner has deleted it and another process has created it
        // again.
        let owner = try DirectoryLock(folder)
        try FileManager.default.moveItem(atPath: folder, toPath: queue + "/gone")
        let isInPlace = owner.isInPlace
        #expect(!isInPlace)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let other = try DirectoryLock(folder)
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: folder + "/0000000000000000.segment"))
        // The path is another process's folder now.
        let isRemoved = owner.removeFolder()
        #expect(isRemoved && FileManager.default.fileExists(atPath: folder + "/0000000000000000.segment"))
        let isOtherRemoved = other.removeFolder()
        #expect(isOtherRemoved && !FileManager.default.fileExists(atPath: folder))
        #expect(throws: DirectoryLock.Refusal.self) { _ = try DirectoryLock(folder) }
    }

    @Test("Stores that are opened, drained and closed concurrently on one directory lose and duplicate nothing")
    func race() async throws {
        let seen = Lock<[Int]>([])
        let queue = queue
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask(executorPreference: OwnThread()) {
                    for round in 0..<15 {
                        do {
                            let store = try DurableStore(
                                directory: queue,
                                configuration: DurableConfiguration(segmentSize: 4096, synchronization: .never)
                            )
                            store.attach("one")
                            _ = try store.append([NumberedSamples.sample(worker * 1000 + round)])
                            if round % 3 > 0 {
                                let numbers = NumberedSamples.numbers(NumberedSamples.drain(store))
                                seen.withLock { $0 += numbers }
                            }
                            store.close()
                        } catch {
                            Issue.record("\(error)")
                        }
                    }
                }
            }
        }
        let store = try open()
        store.attach("one")
        let all = seen.withLock { $0 } + NumberedSamples.numbers(NumberedSamples.drain(store))
        var expected: [Int] = []
        for worker in 0..<4 { expected += (0..<15).map { number in worker * 1000 + number } }
        #expect(all.sorted() == expected)
        #expect(Self.sums(store) == [60, 60, 0, 0])
    }

    // MARK: Deleted while in use

    enum Removal: CaseIterable {
        case directory, folder, contents, bookkeeping, segments, movedAway
    }

    private func remove(_ removal: Removal) throws {
        let folder = queue + "/00000001.queue"
        switch removal {
        case .directory: try FileManager.default.removeItem(atPath: queue)
        case .folder: try FileManager.default.removeItem(atPath: folder)
        case .movedAway: try FileManager.default.moveItem(atPath: folder, toPath: scratch.path + "/away")
        case .contents, .bookkeeping, .segments:
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let isGone =
                    switch removal {
                    case .bookkeeping: name.hasPrefix("bookkeeping")
                    case .segments: name.hasSuffix(".segment") || name == "spare"
                    default: true
                    }
                if isGone { try FileManager.default.removeItem(atPath: folder + "/" + name) }
            }
        }
    }

    @Test("A folder that is deleted while in use is restored with its content", arguments: Removal.allCases)
    func deletedWhileInUse(removal: Removal) throws {
        let said = Lock<[Diagnostic]>([])
        let store = try open { diagnostic in said.withLock { $0.append(diagnostic) } }
        store.attach("one")
        for number in 0..<200 { _ = try store.append([NumberedSamples.sample(number)]) }
        let first = store.next(for: "one", maxCount: 50, maxBytes: .max)
        store.settle("one", through: 49, dead: [7: "no"])
        store.own.choreWorker.doChores()
        try store.hold()
        try remove(removal)
        var refused = 0
        for number in 200..<400 {
            do { _ = try store.append([NumberedSamples.sample(number)]) } catch { refused += 1 }
        }
        #expect(store.ledger(of: "one").emitted == 400)
        #expect(store.ledger(of: "one").drops[.refused] ?? 0 == refused)
        store.own.maintenance.maintain()
        #expect(said.withLock { $0 }.contains { "\($0)".contains("deleted while in use") })
        // From here on the store works as before: it accepts and keeps samples, also after a kill.
        _ = try store.append([NumberedSamples.sample(1000)])
        let before = store.ledger(of: "one")
        #expect(before.emitted == before.settled + before.queued)
        #expect(QueueFolder.folders(in: queue).map(\.isInUse) == [true])
        let copy = scratch.path + "/copy"
        store.settleFiles()
        try FileManager.default.copyItem(atPath: queue, toPath: copy)
        let again = try DurableStore(directory: copy, configuration: DurableConfiguration(segmentSize: 4096))
        #expect(again.ledger(of: "one") == before)
        #expect(again.deadLetters(of: "one").map(\.record) == [first[7]])
        let numbers = NumberedSamples.numbers(NumberedSamples.drain(again))
        #expect(numbers.count == 351 - refused && numbers.last == 1000 && numbers == numbers.sorted())
        #expect(again.own.folder.state.withLock { $0.heldFrom } == 200)
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == numbers)
        store.close()
    }

    @Test("Maintenance changes nothing when no file of a folder is missing")
    func nothingMissing() throws {
        let store = try open { Issue.record("\($0)") }
        store.attach("one")
        for number in 0..<200 { _ = try store.append([NumberedSamples.sample(number)]) }
        try store.synchronize()
        store.own.choreWorker.doChores()
        let before = ForeignFileTests.state(queue)
        store.own.restorer.restoreWhatIsGone()
        #expect(ForeignFileTests.state(queue) == before)
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == Array(0..<200))
    }

    // MARK: Backends of one run

    @Test("An ephemeral backend receives the samples of its run, and leaves no place")
    func ephemeral() throws {
        // An earlier version saved a place for the backend.
        var store = try open()
        store.attach("summary")
        store.attach("one")
        _ = try store.append([NumberedSamples.sample(0)])
        store.close()
        for run in 1...3 {
            store = try open()
            store.attach("one")
            store.attach("summary", isEphemeral: true)
            #expect(Self.sums(store, "summary") == [0, 0, 0, 0])
            for number in 0..<100 { _ = try store.append([NumberedSamples.sample(run * 1000 + number)]) }
            let records = store.next(for: "summary", maxCount: 30, maxBytes: .max)
            #expect(NumberedSamples.numbers(records) == (0..<30).map { run * 1000 + $0 })
            store.settle("summary", through: try #require(records.last).sequence, dead: [:])
            #expect(Self.sums(store, "summary") == [100, 30, 70, 0])
            // As after a kill.
            store.settleFiles()
            try? FileManager.default.removeItem(atPath: scratch.path + "/copy")
            try FileManager.default.copyItem(atPath: queue, toPath: scratch.path + "/copy")
            #expect(DurableQueueReader(directory: scratch.path + "/copy").backends == ["one"])
            #expect(DurableQueueReader(directory: scratch.path + "/copy").ledger(of: "one").queued == 1 + run * 100)
            store.close()
            #expect(DurableQueueReader(directory: queue).backends == ["one"])
        }
    }
}
