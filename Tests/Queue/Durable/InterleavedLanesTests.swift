import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentDurableQueue

/// Two changes beside lanes at work, in orders that a seed chooses: batches are in flight, wait for their back-off, or
/// are refused in parts while the queue changes.
@Suite("Changes of a queue beside its lanes", .ownThread)
struct InterleavedLanesTests {
    let scratch: Scratch
    let template: String

    init() throws {
        scratch = try Scratch()
        template = scratch.path + "/template"
        try QueueTemplate.make(template, scratch)
    }

    @Test(
        "No sample is delivered again or after its erasure, no lane stops, and the ledger adds up",
        arguments: QueueChange.pairs
    )
    func pairs(_ changes: [QueueChange]) throws {
        for seed in Rounds.seeds(40) {
            let path = scratch.path + "/\(seed)"
            try FileManager.default.copyItem(atPath: template, toPath: path)
            let comment: Comment = "\(changes), seed \(seed)"
            let run = try LaneRun(seed: seed, store: QueueTemplate.open(path, scratch))
            run.perform(changes) { try? QueueTemplate.open(path, scratch) }
            run.settle()
            run.check(comment)
            run.close()
            #expect(run.violations.isEmpty, "\(comment): \(run.violations)")
            try checkReopened(path, run, comment)
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("A delivery whose task begins after an erasure has returned is not sent")
    func lateDelivery() throws {
        // The erasure comes after each number of a lane's jobs.
        for count in 0..<40 {
            let notes = LaneNotes(seed: UInt64(count))
            let jobs = Lock<[@Sendable () -> Void]>([])
            func runNext() -> Bool {
                guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
                job()
                return true
            }
            let turns = LockTurns(willTake: { _, _ in }, didRelease: { _ in }) {
                { job in jobs.withLock { $0.append(job) } }
            }
            let queue = turns.apply {
                BatchQueue(
                    store: InMemoryStore(),
                    backends: [MoodyBackend(name: "one", notes: notes)],
                    clock: VirtualClock()
                )
            }
            for number in 0..<9 { queue.append([DurableErasingTests.sample("p-ann", number)]) }
            var left = count
            while left > 0, runNext() { left -= 1 }
            #expect(try queue.erase(userId: "p-ann") >= 0)
            notes.isErased = true
            while runNext() {}
            #expect(notes.violations.isEmpty, "after \(count) jobs: \(notes.violations)")
        }
    }

    /// What the run left is consistent on disk, and nothing that was acknowledged comes again.
    private func checkReopened(_ path: String, _ run: LaneRun, _ comment: Comment) throws {
        let store = try QueueTemplate.open(path, scratch)
        for name in store.backends { store.attach(name) }
        for name: BackendName in ["one", "two"] where store.backends.contains(name) {
            let ledger = store.ledger(of: name)
            #expect(ledger.emitted == ledger.settled + ledger.queued, "\(comment): \(ledger)")
            #expect(ledger.drops[.corrupt] == nil, "\(comment): \(ledger)")
            let letters = store.deadLetters(of: name).map(\.record)
            let rest = NumberedSamples.drain(store, name)
            #expect(rest.count == ledger.queued, comment)
            #expect(run.acknowledged(by: name).isDisjoint(with: rest.map(\.id)), comment)
            if run.isErased { #expect(!(letters + rest).contains(where: ChangeRun.isAnn), comment) }
        }
        store.close()
    }
}

/// What the backends of a run have seen, and what the changes have done.
private final class LaneNotes: @unchecked Sendable {
    // Sendable: `Interleaving` runs one thread at a time. Without a lock, so that no thread waits between the start of
    // a delivery and its note.
    var generator: SeededGenerator
    var acknowledged: [BackendName: Set<SampleID>] = [:]
    var inFlight: [BackendName: Int] = [:]
    var isErased = false
    var isHeld = false
    var isClosed = false
    var isRemoved = false
    var openTasks = 0
    var violations: [String] = []

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// Notes that a delivery begins, and chooses its outcome.
    func begin(_ name: BackendName, _ records: [SampleRecord]) -> DeliveryOutcome {
        if isErased, records.contains(where: ChangeRun.isAnn) { violate(name, "begins with a person who is erased") }
        if isHeld { violate(name, "begins without consent") }
        if isClosed { violate(name, "begins after the end") }
        if isRemoved, name == "one" { violate(name, "begins after the removal") }
        inFlight[name, default: 0] += 1
        if inFlight[name] != 1 { violate(name, "begins beside another one") }
        let known = acknowledged[name] ?? []
        if records.contains(where: { known.contains($0.id) }) { violate(name, "repeats an acknowledged sample") }
        switch generator.next() % 8 {
        case 0: return .retry(after: nil, reason: "busy")
        case 1: return .retry(after: .milliseconds(500), reason: "later")
        case 2: return .refused(reason: "no")
        case 3: return records.last.map { .acknowledgedExcept([$0.id: "no"]) } ?? .acknowledged
        case 4: return .tooLarge(reason: "large")
        default: return .acknowledged
        }
    }

    /// Notes that a delivery has ended.
    func end(_ name: BackendName, _ records: [SampleRecord], _ outcome: DeliveryOutcome) {
        inFlight[name, default: 0] -= 1
        switch outcome {
        case .acknowledged: acknowledged[name, default: []].formUnion(records.map(\.id))
        case .acknowledgedExcept(let reasons):
            acknowledged[name, default: []].formUnion(records.map(\.id).filter { reasons[$0] == nil })
        case .retry, .unauthorized, .tooLarge, .refused, .gone: break
        }
    }

    private func violate(_ name: BackendName, _ text: String) { violations.append("a delivery to \(name) \(text)") }
}

/// A queue with two backends, and the changes of one run.
private final class LaneRun: Sendable {
    private let store: DurableStore
    private let queue: BatchQueue
    private let clock: VirtualClock
    private let interleaving: Interleaving
    /// Runs the changes that suspend.
    private let executor: LaneExecutor
    private let notes: LaneNotes
    private let letters: Set<SampleID>
    private let before: [BackendName: Ledger]

    private static let names: [BackendName] = ["one", "two"]

    init(seed: UInt64, store: DurableStore) {
        self.store = store
        letters = Set(store.deadLetters(of: "one").map(\.record.id))
        let (notes, interleaving, clock) = (LaneNotes(seed: seed), Interleaving(seed: seed), VirtualClock())
        (self.notes, self.interleaving, self.clock) = (notes, interleaving, clock)
        before = Dictionary(uniqueKeysWithValues: Self.names.map { ($0, store.ledger(of: $0)) })
        (queue, executor) = interleaving.prepare {
            let queue = BatchQueue(
                store: store,
                backends: Self.names.map { MoodyBackend(name: $0, notes: notes) },
                clock: clock,
                randomness: RandomSource(SeededGenerator(seed: seed))
            )
            return (queue, LaneExecutor(label: "changes"))
        }
    }

    var violations: [String] { notes.violations }
    var isErased: Bool { notes.isErased }
    func acknowledged(by name: BackendName) -> Set<SampleID> { notes.acknowledged[name] ?? [] }

    /// Performs the changes while the lanes deliver and time passes.
    func perform(_ changes: [QueueChange], _ open: @escaping @Sendable () -> DurableStore?) {
        let time: @Sendable () -> Void = { [clock] in for _ in 0..<4 { clock.advance(by: .milliseconds(400)) } }
        interleaving.run(changes.map { change in { [self] in perform(change, open) } } + [time])
    }

    /// Lets time pass until nothing is due.
    func settle() {
        for _ in 0..<200 {
            guard let next = clock.nextDeadline else { return }
            clock.advance(to: next)
            interleaving.run()
        }
        notes.violations.append("something is due again and again")
    }

    /// Ends the queue, and releases the store.
    func close() {
        if !notes.isClosed {
            start { [self] in await shutDown() }
            interleaving.run()
            settle()
        }
        if notes.openTasks > 0 { notes.violations.append("a change has not ended") }
        interleaving.end()
    }

    private func start(_ body: @escaping @Sendable () async -> Void) {
        notes.openTasks += 1
        Task(executorPreference: executor) { [notes] in
            await body()
            notes.openTasks -= 1
        }
    }

    private func perform(_ change: QueueChange, _ open: () -> DurableStore?) {
        switch change {
        case .erase: if (try? queue.erase(userId: "p-ann")) != nil { notes.isErased = true }
        case .retry:
            store.retryDeadLetters(letters, of: "one")
            queue.startFlush(timeout: .seconds(1_000))
        case .drop: store.dropDeadLetters(letters, of: "one")
        case .forget: start { [self] in await remove() }
        case .deny: deny()
        case .replace: start { [self] in await replace() }
        case .close: start { [self] in await shutDown() }
        case .adopt:
            guard let other = open() else { return }
            other.attach("one")
            _ = NumberedSamples.drain(other, "two")
            other.close()
        }
    }

    private func remove() async {
        await queue.remove("one", timeout: .seconds(1_000))
        notes.isRemoved = true
    }

    private func deny() {
        for consent in [Consent.pending, .denied] where (try? queue.set(consent: consent)) != nil {
            notes.isHeld = true
        }
        notes.isHeld = false
        try? queue.set(consent: .granted)
    }

    private func replace() async {
        await queue.replace(backend: MoodyBackend(name: "one", notes: notes), timeout: .seconds(1_000))
    }

    private func shutDown() async {
        await queue.shutdown(timeout: .seconds(1_000))
        notes.isClosed = true
        store.close()
    }

    /// Checks a queue that nothing changes any more.
    func check(_ comment: Comment) {
        #expect(violations.isEmpty, "\(comment): \(violations)")
        if notes.isClosed { return }
        checkProgress(comment)
        for name in Self.names where store.backends.contains(name) {
            guard let before = before[name] else { continue }
            let ledger = store.ledger(of: name)
            #expect(ledger.emitted == ledger.settled + ledger.queued, "\(comment): \(ledger)")
            #expect(ledger.dead == store.deadLetters(of: name).count, "\(comment): \(ledger)")
            #expect(ledger.drops[.corrupt] == nil, "\(comment): \(ledger)")
            #expect(
                ledger.acknowledged - before.acknowledged <= acknowledged(by: name).count,
                "\(comment): acknowledged without a delivery"
            )
        }
    }

    /// Every backend of the queue receives a new sample, and nothing waits.
    private func checkProgress(_ comment: Comment) {
        let names = Array(queue.ledger.keys)
        let settled = names.map { store.ledger(of: $0).settled }
        if names.isEmpty { return }
        queue.append([DurableErasingTests.sample("p-bob", 1_000)])
        // The threads of the store are not part of the interleaving.
        store.own.drainer.queue.sync {}
        store.own.maintenanceQueue.queue.sync {}
        queue.startFlush(timeout: .seconds(1_000))
        interleaving.run()
        settle()
        for (name, before) in zip(names, settled) {
            let ledger = store.ledger(of: name)
            #expect(ledger.queued == 0, "\(comment): \(name): \(ledger)")
            #expect(ledger.settled > before, "\(comment): \(name) receives nothing any more: \(ledger)")
        }
    }
}

/// A backend whose notes choose the outcomes, and whose deliveries take a while.
private struct MoodyBackend: Backend {
    let name: BackendName
    let policy = DeliveryPolicy(maxCount: 3, maxAge: .milliseconds(100), timeout: .seconds(60), dueCount: 1)
    let notes: LaneNotes

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        let outcome = notes.begin(name, batch.records)
        for _ in 0..<3 { await Task.yield() }
        notes.end(name, batch.records, outcome)
        return outcome
    }
}
