import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import QueueTorture
import TestTraits
import Testing

@testable import InstrumentDurableQueue

@Suite("Durable store", .ownThread)
struct DurableStoreTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    func open(_ configuration: DurableConfiguration = DurableConfiguration(segmentSize: 4096)) throws -> DurableStore {
        try DurableStore(directory: scratch.path, configuration: configuration)
    }

    static func sample(_ number: Int) -> Sample {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: Int64(number)), wallTime: WallTime(milliseconds: 1))
        let attributes: Attributes = ["number": .int(number), "text": "some text that takes room"]
        return .event(Event(.ping, tracker: TrackerID(0), time: time, attributes: attributes))
    }

    static func numbers(_ records: [SampleRecord]) -> [Int] {
        records.compactMap { $0.sample.attributes[AttributeKey<Int>("number")] }
    }

    /// Leases and settles all remaining samples of a backend.
    static func drain(_ store: DurableStore, _ backend: BackendName = "one") -> [SampleRecord] {
        var all: [SampleRecord] = []
        while case let records = store.next(for: backend, maxCount: 100, maxBytes: .max), let last = records.last {
            all += records
            store.settle(backend, through: last.sequence, dead: [:])
        }
        return all
    }

    @Test("The store fulfils the contract for stores")
    func contract() throws {
        var number = 0
        try StoreContract.check {
            number += 1
            do {
                return try DurableStore(directory: scratch.path + "/\(number)")
            } catch {
                Issue.record("\(error)")
                return InMemoryStore()
            }
        }
    }

    @Test("A sample keeps its service across restarts, as a dead letter, and when it is retried")
    func service() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        let stored = [Self.sample(0).addressed(to: "sift"), Self.sample(1)]
        _ = try store?.append(stored)
        store = nil
        let again = try open()
        again.attach("one")
        let records = again.next(for: "one", maxCount: 10, maxBytes: .max)
        #expect(records.map(\.service) == ["sift", nil])
        #expect(records.map(\.sample) == [Self.sample(0), Self.sample(1)])
        again.settle("one", through: 1, dead: [0: "no", 1: "no"])
        let letters = again.deadLetters(of: "one").map(\.record)
        #expect(letters == records)
        again.retryDeadLetters(Set(records.map(\.id)), of: "one")
        #expect(again.next(for: "one", maxCount: 10, maxBytes: .max) == records)
    }

    @Test("Unsettled samples are available after the next start with the same identifiers, and the ledger continues")
    func restart() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        store?.attach("two")
        for number in 0..<500 { _ = try store?.append([Self.sample(number)]) }
        let first = store?.next(for: "one", maxCount: 200, maxBytes: .max) ?? []
        store?.settle("one", through: 199, dead: [7: "no"])
        store = nil
        let again = try open()
        again.attach("one")
        let second = again.next(for: "one", maxCount: 1000, maxBytes: .max)
        #expect(Self.numbers(second) == Array(200..<500))
        #expect(again.deadLetters(of: "one").map(\.reason) == ["no"])
        #expect(again.deadLetters(of: "one").map(\.record) == [first[7]])
        let ledger = again.ledger(of: "one")
        #expect(
            [ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dead, ledger.dropped] == [500, 199, 300, 1, 0]
                as [Int]
        )
        #expect(again.next(for: "two", maxCount: 1, maxBytes: .max).first?.id == first.first?.id)
    }

    @Test("A leased batch is read again unchanged after a restart, also after further appends")
    func lease() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        for number in 0..<5 { _ = try store?.append([Self.sample(number)]) }
        let given = store?.next(for: "one", maxCount: 100, maxBytes: .max) ?? []
        for number in 5..<20 { _ = try store?.append([Self.sample(number)]) }
        // As after a crash: the store is not closed.
        store = nil
        store = try open()
        #expect(store?.next(for: "one", maxCount: 100, maxBytes: .max) == given)
        store?.settle("one", through: try #require(given.last).sequence, dead: [:])
        let rest = store?.next(for: "one", maxCount: 100, maxBytes: .max) ?? []
        #expect(Self.numbers(rest) == Array(5..<20))
    }

    @Test("A crash before a spare segment is renamed loses nothing")
    func unnamedSegment() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        for number in 0..<200 { _ = try store?.append([Self.sample(number)]) }
        store?.close()
        store = nil
        let last = try #require(scratch.files(".segment").sorted().last)
        let folder = (last as NSString).deletingLastPathComponent
        try FileManager.default.moveItem(atPath: last, toPath: folder + "/spare")
        store = try open()
        #expect(try Self.numbers(Self.drain(#require(store))) == Array(0..<200))
    }

    @Test("A spare segment without records holds no samples")
    func unusedSpare() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        _ = try store?.append([Self.sample(0)])
        store?.close()
        store = nil
        let folder = (try #require(scratch.files(".segment").first) as NSString).deletingLastPathComponent
        for content in [Data(count: 4096), Data(count: 10), Data("INSTRSEG".utf8) + Data(count: 4088)] {
            try content.write(to: URL(fileURLWithPath: folder + "/spare"))
            store = try open()
            #expect(try store?.append([Self.sample(1)]) ?? 0 > 0)
            store?.close()
            store = nil
        }
        store = try open()
        #expect(try Self.numbers(Self.drain(#require(store))) == [0, 1, 1, 1])
    }

    @Test(
        "Samples older than the limit are dropped by whole segments, by the samples' instants, also after a restart"
    )
    func age() throws {
        func old(_ seconds: Int, _ number: Int) -> Sample {
            let time = Timestamp(
                instant: MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000),
                // The calendar is wrong by years, and nothing uses it.
                wallTime: WallTime(milliseconds: Int64(-number) * 86_400_000_000)
            )
            return .event(Event(.ping, tracker: TrackerID(0), time: time, attributes: ["number": .int(number)]))
        }
        let limits = QueueLimits(maxAge: .seconds(3600))
        let configuration = DurableConfiguration(limits: limits, segmentSize: 4096)
        var store: DurableStore? = try open(configuration)
        store?.attach("one")
        for number in 0..<300 { _ = try store?.append([old(10, number)]) }
        // Exactly an hour later, no sample is too old.
        _ = try store?.append([old(3610, 300)])
        try store?.synchronize()
        #expect(store?.ledger(of: "one").dropped == 0)
        store?.close()
        store = nil
        store = try open(configuration)
        _ = try store?.append([old(3611, 301)])
        try store?.synchronize()
        // The segment with the younger sample is kept as a whole.
        let ledger = try #require(store?.ledger(of: "one"))
        #expect(ledger.drops.keys.allSatisfy { $0 == .age } && ledger.dropped > 200 && ledger.queued >= 2)
        let rest = try Self.numbers(Self.drain(#require(store)))
        #expect(rest == Array((302 - rest.count)..<302))
        _ = try store?.append([old(20_000, 302)])
        #expect(try Self.numbers(Self.drain(#require(store))) == [302])
    }

    @Test("Samples of another boot are kept as if they were new, because their age is unknown")
    func ageOfAnotherBoot() throws {
        let configuration = DurableConfiguration(
            limits: QueueLimits(maxAge: .seconds(60)),
            segmentSize: 4096
        )
        var store: DurableStore? = try open(configuration)
        store?.attach("one")
        // Larger instants than any in the next boot.
        let late = Timestamp(instant: MonotonicInstant(nanoseconds: .max / 2), wallTime: WallTime(milliseconds: 0))
        _ = try store?.append([.event(Event(.ping, tracker: TrackerID(0), time: late))])
        store?.close()
        store = nil
        store = try open(configuration)
        let soon = Timestamp(instant: MonotonicInstant(nanoseconds: 5), wallTime: WallTime(milliseconds: 0))
        _ = try store?.append([.event(Event(.ping, tracker: TrackerID(0), time: soon))])
        #expect(store?.ledger(of: "one").queued == 2)
    }

    @Test("Segments that every backend has passed are deleted, also across starts")
    func deletion() throws {
        let store = try open()
        store.attach("one")
        store.attach("two")
        for number in 0..<500 { _ = try store.append([Self.sample(number)]) }
        try store.synchronize()
        store.own.doChores()
        let before = scratch.files(".segment").count
        #expect(Self.numbers(Self.drain(store, "one")) == Array(0..<500))
        // The rename of the newest segment may follow a moment later.
        #expect(before > 3 && scratch.files(".segment").count >= before)
        #expect(Self.numbers(Self.drain(store, "two")) == Array(0..<500))
        #expect(scratch.files(".segment").count <= 1)
    }

    @Test("A full store drops and counts its oldest segments, or refuses new samples")
    func limits() throws {
        let limits = QueueLimits(maxBytes: 32 << 10)
        let dropping = try open(DurableConfiguration(limits: limits, segmentSize: 4096))
        dropping.attach("one")
        for number in 0..<2000 { _ = try dropping.append([Self.sample(number)]) }
        let kept = Self.numbers(Self.drain(dropping))
        #expect(kept.last == .some(1999))
        #expect(kept == Array((2000 - kept.count)..<2000))
        let ledger = dropping.ledger(of: "one")
        #expect(ledger.drops == [.bytes: 2000 - kept.count])
        #expect(ledger.emitted == ledger.settled)

        let refusing = try DurableStore(
            directory: scratch.path + "/refusing",
            configuration: DurableConfiguration(limits: QueueLimits(maxCount: 10, whenFull: .refuseNew))
        )
        refusing.attach("one")
        for number in 0..<10 { _ = try refusing.append([Self.sample(number)]) }
        #expect(throws: QueueError.self) { try refusing.append([Self.sample(10)]) }
        #expect(refusing.ledger(of: "one").drops == [.refused: 1])
        #expect(Self.numbers(Self.drain(refusing)) == Array(0..<10))
        // Delivered samples have left the queue, although their segment is still there.
        for number in 10..<20 { _ = try refusing.append([Self.sample(number)]) }
        #expect(throws: QueueError.self) { try refusing.append([Self.sample(20)]) }
        #expect(Self.numbers(Self.drain(refusing)) == Array(10..<20))
    }

    @Test("A store that refuses new samples for their size accepts samples again after a delivery")
    func refusalBySize() throws {
        // The segments are larger than the queue may be.
        var configuration = DurableConfiguration(segmentSize: 1 << 20)
        configuration.limits = QueueLimits(maxBytes: 8 << 10, whenFull: .refuseNew)
        let store = try open(configuration)
        store.attach("one")
        store.attach("two")
        var next = 0
        for _ in 0..<3 {
            let first = next
            while (try? store.append([Self.sample(next)])) != nil, next < 100_000 { next += 1 }
            #expect(next > first)
            #expect(Self.numbers(Self.drain(store, "one")) == Array(first..<next))
            // The other backend has the samples still before it.
            #expect(throws: QueueError.self) { try store.append([Self.sample(next)]) }
            #expect(Self.numbers(Self.drain(store, "two")) == Array(first..<next))
        }
    }

    @Test("A sample that is larger than a segment is stored")
    func large() throws {
        let store = try open()
        store.attach("one")
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 0))
        let text = String(repeating: "x", count: 100_000)
        let large = Sample.event(Event(.ping, tracker: TrackerID(0), time: time, attributes: ["text": .string(text)]))
        for sample in [Self.sample(0), large, Self.sample(1)] { _ = try store.append([sample]) }
        #expect(Self.drain(store).map(\.sample) == [Self.sample(0), large, Self.sample(1)])
    }

    @Test("A flipped byte loses only its sample, and the loss is counted")
    func flippedBytes() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        for number in 0..<20 { _ = try store?.append([Self.sample(number)]) }
        store?.close()
        store = nil
        let segment = try #require(scratch.files(".segment").first)
        let whole = try Data(contentsOf: URL(fileURLWithPath: segment))
        let saved = try copies()
        for offset in stride(from: 0, to: whole.count, by: !TortureSettings.isLong ? 3 : 1) {
            try restore(saved)
            var damaged = whole
            damaged[offset] ^= 0x40
            try damaged.write(to: URL(fileURLWithPath: segment))
            let again = try open()
            again.attach("one")
            let numbers = Self.numbers(Self.drain(again))
            #expect(numbers.count >= 19, "byte \(offset): \(numbers)")
            #expect(numbers == numbers.sorted())
            let ledger = again.ledger(of: "one")
            #expect(ledger.emitted == ledger.settled)
            #expect(ledger.acknowledged == numbers.count)
            again.close()
        }
    }

    @Test("A byte flipped anywhere in the bookkeeping loses no sample, and the ledger adds up")
    func flippedBookkeeping() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        for number in 0..<20 { _ = try store?.append([Self.sample(number)]) }
        let settled = store?.next(for: "one", maxCount: 10, maxBytes: .max) ?? []
        store?.settle("one", through: try #require(settled.last).sequence, dead: [3: "no"])
        store?.close()
        store = nil
        let file = try #require(scratch.files(".sqlite").first)
        let whole = try Data(contentsOf: URL(fileURLWithPath: file))
        let folder = (file as NSString).deletingLastPathComponent
        let segment = try #require(scratch.files(".segment").first)
        let samples = try Data(contentsOf: URL(fileURLWithPath: segment))
        // SQLite opens a file with another write version (18) only for reading, and one with another read version (19) not at all.
        // The name of the backend is also that of its dead letter.
        let names = whole.indices.filter { whole[$0...].starts(with: Data("one".utf8)) }
        let offsets =
            TortureSettings.isLong
            ? Array(whole.indices) : [18, 19] + names + stride(from: 0, to: whole.count, by: 397)
        for offset in offsets {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                try FileManager.default.removeItem(atPath: folder + "/" + name)
            }
            var damaged = whole
            damaged[offset] ^= 0x01
            try damaged.write(to: URL(fileURLWithPath: file))
            try samples.write(to: URL(fileURLWithPath: segment))
            let said = Lock<[Diagnostic]>([])
            let again = try DurableStore(
                directory: scratch.path,
                configuration: DurableConfiguration(segmentSize: 4096),
                report: { diagnostic in said.withLock { $0.append(diagnostic) } }
            )
            again.attach("one")
            let numbers = Self.numbers(Self.drain(again))
            #expect(Set(numbers).isSuperset(of: 10..<20), "offset \(offset): \(numbers), \(said.withLock { $0 })")
            let ledger = again.ledger(of: "one")
            let settled = ledger.acknowledged + ledger.queued + ledger.dead + ledger.dropped
            #expect(ledger.emitted == settled, "offset \(offset): \(ledger), \(said.withLock { $0 })")
            again.close()
        }
    }

    @Test("A truncated segment keeps the samples before the cut, and writing continues")
    func cut() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        for number in 0..<20 { _ = try store?.append([Self.sample(number)]) }
        store?.close()
        store = nil
        let segment = try #require(scratch.files(".segment").first)
        let whole = try Data(contentsOf: URL(fileURLWithPath: segment))
        let saved = try copies()
        for length in stride(from: 0, through: whole.count, by: !TortureSettings.isLong ? 41 : 1) {
            try restore(saved)
            try whole.prefix(length).write(to: URL(fileURLWithPath: segment))
            let again = try open()
            again.attach("one")
            _ = try again.append([Self.sample(100)])
            let numbers = Self.numbers(Self.drain(again))
            #expect(numbers.last == .some(100))
            #expect(Array(numbers.dropLast()) == Array(0..<numbers.count - 1), "length \(length)")
            let ledger = again.ledger(of: "one")
            #expect(ledger.emitted == ledger.settled)
            again.close()
        }
    }

    @Test("A damaged bookkeeping is set aside, and every stored sample is delivered again")
    func damagedBookkeeping() throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        for number in 0..<20 { _ = try store?.append([Self.sample(number)]) }
        let ids = store?.next(for: "one", maxCount: 5, maxBytes: .max).map(\.id)
        store?.settle("one", through: 4, dead: [:])
        store?.close()
        store = nil
        let file = try #require(scratch.files("bookkeeping.sqlite").first)
        let whole = try Data(contentsOf: URL(fileURLWithPath: file))
        var flipped = whole
        for offset in stride(from: 100, to: flipped.count, by: 7) { flipped[offset] ^= 0x55 }
        for damage in [Data("this is no database".utf8), whole.prefix(whole.count / 2), flipped] {
            try damage.write(to: URL(fileURLWithPath: file))
            let said = Lock<[Diagnostic]>([])
            let again = try DurableStore(directory: scratch.path) { diagnostic in
                said.withLock { $0.append(diagnostic) }
            }
            again.attach("one")
            let records = again.next(for: "one", maxCount: 100, maxBytes: .max)
            #expect(said.withLock { $0.count } == 1)
            #expect(Self.numbers(records) == Array(0..<20))
            #expect(Array(records.map(\.id).prefix(5)) == ids)
            again.close()
        }
        #expect(scratch.files(".damaged", ".damaged-2", ".damaged-3").count >= 3)
    }

    @Test(
        "A bookkeeping with wrong tables is set aside, and nothing traps",
        arguments: [
            "DROP TABLE letter", "UPDATE place SET cursor = 'x'", "UPDATE place SET acknowledged = NULL",
            "ALTER TABLE place DROP COLUMN carried", "UPDATE log SET random = 'y'",
            "INSERT INTO letter VALUES ('one', 3, NULL, x'00', 0)",
            "INSERT INTO dropped VALUES ('one', 'count', 'many')",
        ]
    )
    func strangeBookkeeping(sql: String) throws {
        var store: DurableStore? = try open()
        store?.attach("one")
        for number in 0..<20 { _ = try store?.append([Self.sample(number)]) }
        store?.close()
        store = nil
        let file = try #require(scratch.files("bookkeeping.sqlite").first)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script =
            "import sqlite3,sys; d=sqlite3.connect(sys.argv[1]); d.execute('PRAGMA ignore_check_constraints=1'); "
            + "d.execute(sys.argv[2]); d.commit()"
        process.arguments = ["python3", "-c", script, file, sql]
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        let again = try open()
        again.attach("one")
        #expect(Self.numbers(Self.drain(again)) == Array(0..<20))
        again.close()
    }

    @Test("Two stores on one directory have a folder each, and the next store delivers their remaining samples")
    func twoStores() throws {
        var first: DurableStore? = try open()
        first?.attach("one")
        let second = try open()
        second.attach("one")
        for number in 0..<10 { _ = try first?.append([Self.sample(number)]) }
        for number in 10..<20 { _ = try second.append([Self.sample(number)]) }
        #expect(Self.numbers(Self.drain(second)) == Array(10..<20))
        first?.close()
        first = nil
        second.close()
        let third = try open()
        third.attach("one")
        _ = try third.append([Self.sample(20)])
        #expect(Self.numbers(Self.drain(third)) == Array(0..<10) + [20])
        #expect(scratch.files("lock").count == 1)
        let ledger = third.ledger(of: "one")
        #expect([ledger.emitted, ledger.acknowledged, ledger.queued] == [21, 21, 0] as [Int])
    }

    @Test("A full disk is an error that differs from a full queue, and writing continues when there is room")
    func fullDisk() throws {
        guard let disk = try mountSmallDisk() else { return }
        defer { _ = Self.run("umount", "-l", disk) }
        let store = try openSmallDisk(disk)
        var (stored, refused) = (0, 0)
        var failure: QueueError?
        while failure == nil, stored < 100_000 {
            do throws(QueueError) {
                try appendOnceAnswered(Self.sample(stored), to: store, &refused)
                stored += 1
            } catch {
                failure = error
                refused += 1
            }
        }
        #expect(failure?.code == .diskFull)
        #expect(stored > 100)
        // However many samples were refused, the store retries once a second.
        for _ in 0..<300 where (try? store.append([Self.sample(stored)])) == nil { refused += 1 }
        let failures = store.own.state.withLock { $0.drainFailures }
        usleep(2_500_000)
        // A retry for each refused sample would make hundreds of attempts in this time.
        #expect(store.own.state.withLock { $0.drainFailures } - failures <= 50)
        try FileManager.default.removeItem(atPath: disk + "/filler")
        // A drain that began while the disk was full may still fail: wait for the end of it.
        try store.own.drain()
        try appendOnceAnswered(Self.sample(stored), to: store, &refused)
        #expect(Self.numbers(Self.drain(store)) == Array(0...stored))
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
        try appendOnceAnswered(Self.sample(0), to: store, &refused)
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 1))
        let attributes: Attributes = ["number": 1, "text": .string(String(repeating: "a", count: 4 << 20))]
        let large = Sample.event(Event(.ping, tracker: TrackerID(0), time: time, attributes: attributes))
        let error = #expect(throws: QueueError.self) { try appendOnceAnswered(large, to: store, &refused) }
        #expect(error?.code == .diskFull)
        try appendOnceAnswered(Self.sample(2), to: store, &refused)
        #expect(Self.numbers(Self.drain(store)) == [0, 2])
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
            try appendOnceAnswered(Self.sample(number), to: store, &refused)
        }
        #expect(throws: QueueError.self) { while number < 100_000 { try append() } }
        // The disk and the staging area are full. Now the disk does not respond for a while.
        store.hangingDisk {
            let stalled = #expect(throws: QueueError.self) { try store.append([Self.sample(number)]) }
            #expect(stalled?.code == .notResponding)
        }
        let answer = #expect(throws: QueueError.self) { try store.own.drain() }
        #expect(answer?.code == .diskFull)
        try #require(store.own.state.withLock { !$0.isStalled })
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
                do throws(QueueError) { try store.own.drain() } catch { continue }
            }
        }
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

    @Test("Dead letters are retried first and alone, or discarded, also across a restart, and the ledger adds up")
    func deadLetters() throws {
        let store = try open()
        store.attach("one")
        for number in 0..<10 { _ = try store.append([Self.sample(number)]) }
        let records = store.next(for: "one", maxCount: 6, maxBytes: .max)
        store.settle("one", through: 5, dead: [1: "a", 3: "b", 4: "c"])
        #expect(store.dropDeadLetters([records[1].id], of: "one") == 1)
        #expect(store.retryDeadLetters([records[3].id, records[4].id, records[0].id], of: "one") == 2)
        store.close()

        let again = try open()
        again.attach("one")
        #expect(again.deadLetters(of: "one").isEmpty)
        let counts = { () -> [Int] in
            let ledger = again.ledger(of: "one")
            return [ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dead, ledger.dropped]
        }
        #expect(counts() == [10, 3, 6, 0, 1])
        let retried = again.next(for: "one", maxCount: 10, maxBytes: .max)
        #expect(retried == [records[3], records[4]])
        again.settle("one", through: 4, dead: [4: "d"])
        #expect(counts() == [10, 4, 4, 1, 1])
        #expect(again.deadLetters(of: "one") == [DeadLetter(record: records[4], reason: "d")])
        #expect(Self.numbers(Self.drain(again)) == Array(6..<10))
        #expect(counts() == [10, 8, 0, 1, 1])
    }

    @Test("A new backend begins now or with the oldest sample, as configured")
    func newcomers() throws {
        let store = try open()
        store.attach("one")
        _ = try store.append([Self.sample(0)])
        store.attach("now")
        store.close()
        let again = try open(DurableConfiguration(newcomers: .oldest))
        again.attach("oldest")
        _ = try again.append([Self.sample(1)])
        #expect(Self.numbers(Self.drain(again, "now")) == [1])
        #expect(Self.numbers(Self.drain(again, "oldest")) == [0, 1])
    }

    @Test("Opening a store fails when the directory is not writable")
    func notWritable() throws {
        #expect(throws: QueueError.self) { try DurableStore(directory: "/proc/no/queue") }
    }

    /// The files of the directory, to restore before each round.
    private func copies() throws -> [String: Data] {
        var saved: [String: Data] = [:]
        for file in scratch.files("") { saved[file] = try? Data(contentsOf: URL(fileURLWithPath: file)) }
        return saved
    }

    private func restore(_ saved: [String: Data]) throws {
        for file in scratch.files("") where (try? FileManager.default.contentsOfDirectory(atPath: file)) == nil {
            try? FileManager.default.removeItem(atPath: file)
        }
        for (file, data) in saved { try data.write(to: URL(fileURLWithPath: file)) }
    }
}
