import Dispatch
import Instrument
import InstrumentTestKit
import Testing

/// A backend that answers from a script, then acknowledges everything.
final class ScriptedBackend: Backend {
    let name: BackendName
    let policy: DeliveryPolicy
    private struct State {
        var script: [DeliveryOutcome]
        var batches: [Batch] = []
        var attempts: [Batch] = []
        var endCount = 0
    }

    private let state: Lock<State>
    private let attemptCounter = EventCounter()
    private let onDeliver: @Sendable () -> Void
    private let refuses: (@Sendable (Sample) -> Bool)?

    init(
        _ name: BackendName = "scripted",
        policy: DeliveryPolicy = DeliveryPolicy(),
        script: [DeliveryOutcome] = [],
        onDeliver: @escaping @Sendable () -> Void = {},
        refusing refuses: (@Sendable (Sample) -> Bool)? = nil
    ) {
        self.name = name
        self.policy = policy
        self.refuses = refuses
        self.onDeliver = onDeliver
        state = Lock(State(script: script))
    }

    var batches: [Batch] { state.withLock { $0.batches } }
    var attempts: Int { state.withLock { $0.attempts.count } }
    var firstAttempt: [SampleRecord] { state.withLock { $0.attempts.first?.records ?? [] } }
    var endCount: Int { state.withLock { $0.endCount } }
    var delivered: [Sample] { batches.flatMap(\.records).map(\.sample) }
    func waitForAttempts(_ count: Int) async { await attemptCounter.wait(for: count) }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        onDeliver()
        state.withLock { $0.attempts.append(batch) }
        defer { attemptCounter.increment() }
        if let refuses, batch.records.contains(where: { refuses($0.sample) }) { return .refused(reason: "no") }
        return state.withLock { state in
            let outcome = state.script.isEmpty ? .acknowledged : state.script.removeFirst()
            if outcome == .acknowledged { state.batches.append(batch) }
            return outcome
        }
    }

    func end() async { state.withLock { $0.endCount += 1 } }
}

func sample(_ number: Int) -> Sample { numbered(number) }

func numbered(_ number: Int, _ attributes: Attributes = [:]) -> Sample {
    let time = Timestamp(instant: MonotonicInstant(nanoseconds: Int64(number)), wallTime: WallTime(milliseconds: 0))
    var event = Event(Action("Numbered"), tracker: TrackerID(0), time: time, attributes: attributes)
    event.attributes["number"] = .int(number)
    return .event(event)
}

@Suite("Shared queue", .timeLimit(.minutes(30)))
struct QueueTests {
    @Test("A flush delivers everything, in order, in batches no larger than the policy's")
    func flush() async {
        let backend = ScriptedBackend(policy: DeliveryPolicy(maxCount: 10, maxAge: .seconds(3600)))
        let queue = BatchQueue(backends: [backend], clock: VirtualClock())
        let samples = (0..<105).map(sample)
        for sample in samples { queue.append([sample]) }
        #expect(await queue.flush(timeout: .seconds(60)))
        #expect(backend.delivered == samples)
        #expect(backend.batches.allSatisfy { $0.records.count <= 10 })
        #expect(queue.ledger["scripted"]?.acknowledged == 105)
    }

    @Test("A refused sample is isolated and becomes the only dead letter")
    func split() async {
        let backend = ScriptedBackend(refusing: { $0 == sample(13) })
        let queue = BatchQueue(backends: [backend], clock: VirtualClock())
        queue.append((0..<50).map(sample))
        #expect(await queue.flush(timeout: .seconds(60)))
        #expect(backend.delivered == (0..<50).filter { $0 != 13 }.map(sample))
        #expect(queue.ledger["scripted"]?.dead == 1)
    }

    @Test("A failing backend keeps its samples and delays no other, and a flush ends at its deadline")
    func isolation() async {
        let clock = VirtualClock()
        let down = ScriptedBackend(
            "down",
            script: Array(repeating: .retry(after: .seconds(60), reason: "off"), count: 9)
        )
        let up = ScriptedBackend("up")
        let queue = BatchQueue(backends: [down, up], clock: clock)
        queue.append((0..<20).map(sample))
        // Less than five seconds, the age at which the batch is due.
        async let isEmpty = queue.flush(timeout: .seconds(4))
        await clock.waitUntilPending(at: clock.now.advanced(by: .seconds(4)))
        await queue.waitUntilIdle()
        #expect(queue.ledger["up"]?.acknowledged == 20)
        clock.advance(by: .seconds(4))
        #expect(await isEmpty == false)
        #expect(queue.ledger["down"]?.queued == 20)
        #expect(up.delivered.count == 20)
    }

    @Test("A full store drops the oldest, and the ledger still adds up")
    func full() throws {
        let store = InMemoryStore(limits: QueueLimits(maxCount: 10))
        store.attach("one")
        _ = try store.append((0..<25).map(sample))
        let records = store.next(for: "one", maxCount: 100, maxBytes: .max)
        #expect(records.map(\.sample) == (15..<25).map(sample))
        #expect(records.map(\.sequence) == Array(15..<25))
        store.settle("one", through: 17, dead: [:])
        let ledger = store.ledger(of: "one")
        #expect((ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dropped) == (25, 3, 7, 15))
        #expect(ledger.drops == [.count: 15])
    }

    @Test("A store over its byte limit drops the oldest samples or refuses new samples, and counts them")
    func bytes() throws {
        let size = sample(0).estimatedSize
        let dropping = InMemoryStore(limits: QueueLimits(maxBytes: 4 * size))
        dropping.attach("one")
        #expect(try dropping.append((0..<6).map(sample)) == 6 * size)
        #expect(dropping.next(for: "one", maxCount: 9, maxBytes: .max).map(\.sequence) == [2, 3, 4, 5])
        #expect(dropping.backlog(of: "one") == Backlog(count: 4, bytes: 4 * size))

        let refusing = InMemoryStore(limits: QueueLimits(maxCount: 4, whenFull: .refuseNew))
        refusing.attach("one")
        _ = try refusing.append((0..<3).map(sample))
        #expect(throws: QueueError.self) { try refusing.append([sample(3), sample(4)]) }
        #expect(refusing.next(for: "one", maxCount: 9, maxBytes: .max).map(\.sequence) == [0, 1, 2])
        let ledger = refusing.ledger(of: "one")
        #expect((ledger.emitted, ledger.queued, ledger.drops) == (5, 3, [.refused: 2]))
    }

    @Test("Samples older than the limit are dropped, by the samples' instants")
    func age() throws {
        let store = InMemoryStore(limits: QueueLimits(maxAge: .nanoseconds(10)))
        store.attach("one")
        for number in [0, 5, 12, 20] { _ = try store.append([sample(number)]) }
        #expect(store.next(for: "one", maxCount: 9, maxBytes: .max).map(\.sample) == [sample(12), sample(20)])
        #expect(store.ledger(of: "one").drops == [.age: 2])
    }

    @Test("A batch has at most the policy's bytes, and a larger sample is sent alone")
    func batchBytes() async {
        let size = sample(0).estimatedSize
        let backend = ScriptedBackend(policy: DeliveryPolicy(maxBytes: 3 * size + 1, maxAge: .seconds(3600)))
        let queue = BatchQueue(backends: [backend], clock: VirtualClock())
        let large = numbered(7, ["text": .string(String(repeating: "x", count: 10 * size))])
        queue.append((0..<7).map(sample) + [large, sample(8)])
        #expect(await queue.flush(timeout: .seconds(60)))
        #expect(backend.batches.map(\.records.count) == [3, 3, 1, 1, 1])
    }

    @Test("A batch is due by bytes, before count or age")
    func dueByBytes() async {
        let size = sample(0).estimatedSize
        let backend = ScriptedBackend(policy: DeliveryPolicy(maxBytes: 5 * size, maxAge: .seconds(3600)))
        let queue = BatchQueue(backends: [backend], clock: VirtualClock())
        for number in 0..<5 { queue.append([sample(number)]) }
        await queue.waitUntilIdle()
        #expect(queue.ledger["scripted"]?.acknowledged == 5)
        #expect(backend.batches.map(\.records.count) == [5])
    }

    @Test("Samples that the server refuses become dead letters with its message, and the others arrive")
    func named() async {
        let store = InMemoryStore(randomness: RandomSource(SeededGenerator(seed: 1)))
        let culprit = SampleID(
            log: {
                var g = SeededGenerator(seed: 1); return g.next()
            }(),
            sequence: 2
        )
        let backend = ScriptedBackend(script: [.acknowledgedExcept([culprit: "no such verb"])])
        let said = Lock<[Diagnostic]>([])
        let queue = BatchQueue(store: store, backends: [backend], clock: VirtualClock()) { diagnostic in
            said.withLock { $0.append(diagnostic) }
        }
        queue.append((0..<5).map(sample))
        #expect(await queue.flush(timeout: .seconds(60)))
        #expect(queue.ledger["scripted"]?.acknowledged == 4)
        let letters = queue.deadLetters(of: "scripted")
        #expect(letters.map(\.record.sample) == [sample(2)])
        #expect(letters.map(\.reason) == ["no such verb"])
        #expect(said.withLock { $0 } == [.deadLetter("scripted", culprit, reason: "no such verb")])
    }

    @Test("A batch that is too large is halved, and a single sample that is too large becomes a dead letter")
    func tooLarge() async {
        let script: [DeliveryOutcome] = [.tooLarge(reason: "413"), .tooLarge(reason: "413"), .tooLarge(reason: "413")]
        let backend = ScriptedBackend(script: script)
        let queue = BatchQueue(backends: [backend], clock: VirtualClock())
        queue.append((0..<4).map(sample))
        #expect(await queue.flush(timeout: .seconds(60)))
        #expect(backend.delivered == (1..<4).map(sample))
        #expect(queue.deadLetters(of: "scripted").map(\.record.sample) == [sample(0)])
    }

    @Test("A backend that is gone receives nothing more, its samples stay, and a flush does not wait for it")
    func gone() async {
        let backend = ScriptedBackend(script: [.gone(reason: "410")])
        let queue = BatchQueue(backends: [backend], clock: VirtualClock())
        queue.append([sample(0)])
        #expect(await queue.flush(timeout: .seconds(60)) == false)
        queue.append([sample(1)])
        #expect(await queue.flush(timeout: .seconds(60)) == false)
        #expect(queue.ledger["scripted"]?.queued == 2)
    }

    @Test(
        "A server's retry delay is kept, an equal failure is reported once, and a missing credential has a longer back-off"
    )
    func pauses() async {
        let clock = VirtualClock()
        let script: [DeliveryOutcome] = [
            .retry(after: .seconds(7), reason: "busy"), .retry(after: .seconds(7), reason: "busy"),
            .unauthorized(reason: "401"),
        ]
        let backend = ScriptedBackend(policy: DeliveryPolicy(maxAge: .zero), script: script)
        let said = Lock<[Diagnostic]>([])
        let queue = BatchQueue(backends: [backend], clock: clock) { diagnostic in
            said.withLock { $0.append(diagnostic) }
        }
        queue.append([sample(0)])
        for count in 1...3 {
            await queue.waitUntilIdle()
            #expect((backend.attempts, clock.pendingCount) == (count, 1))
            let wait = clock.now.duration(to: clock.nextDeadline ?? clock.now)
            #expect(count < 3 ? wait == .seconds(7) : (wait >= .seconds(60) && wait <= .seconds(300)))
            clock.advance(by: wait)
        }
        await queue.waitUntilIdle()
        #expect(queue.ledger["scripted"]?.acknowledged == 1)
        #expect(said.withLock { $0 }.allSatisfy { $0.kind == .retrying })
        let reasons = said.withLock { $0 }.map(\.reason)
        #expect(reasons == ["busy", "401"])
    }

    @Test("Identifiers are UUIDs of version 4, the same at every attempt, different for every sample and log")
    func identifiers() async {
        let clock = VirtualClock()
        let backend = ScriptedBackend(script: [.retry(after: .zero, reason: "once")])
        let queue = BatchQueue(backends: [backend], clock: clock)
        queue.append((0..<1000).map(sample))
        #expect(await queue.flush(timeout: .seconds(60)))
        let records = backend.batches.flatMap(\.records)
        #expect(backend.firstAttempt == Array(records.prefix(backend.firstAttempt.count)))
        let ids = Set(records.map(\.id.description))
        #expect(ids.count == 1000)
        let pattern = /[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/
        #expect(ids.allSatisfy { $0.wholeMatch(of: pattern) != nil })
        let other = SampleID(log: 12, sequence: 5)
        #expect(SampleID(other.description) == other)
        #expect(SampleID("not an identifier") == nil)
        #expect(SampleID(log: 13, sequence: 5) != other)
    }

    @Test("A backend that blocks its thread delays no other backend")
    func blocking() async {
        let release = DispatchSemaphore(value: 0)
        let blocked = (0..<8).map { ScriptedBackend(BackendName("blocked\($0)"), onDeliver: { release.wait() }) }
        let free = ScriptedBackend("free")
        let queue = BatchQueue(backends: blocked + [free])
        queue.append([sample(0)])
        async let isEmpty = queue.flush(timeout: .seconds(1800))
        await free.waitForAttempts(1)
        for _ in blocked { release.signal() }
        #expect(await isEmpty)
    }

    @Test("An added backend receives later events; a removed backend is notified once")
    func swapping() async {
        let (first, second) = (ScriptedBackend("first"), ScriptedBackend("second"))
        let queue = BatchQueue(backends: [first], clock: VirtualClock())
        queue.append([sample(0)])
        #expect(queue.add(second))
        #expect(!queue.add(ScriptedBackend("second")))
        queue.append([sample(1)])
        #expect(await queue.remove("first", timeout: .seconds(5)))
        queue.append([sample(2)])
        #expect(await queue.shutdown(timeout: .seconds(5)))
        #expect(first.delivered == [sample(0), sample(1)])
        #expect(second.delivered == [sample(1), sample(2)])
        #expect((first.endCount, second.endCount) == (1, 1))
    }

    @Test("Errors and ends trigger delivery of all samples before them, and later samples wait again")
    func prompt() async {
        let backend = ScriptedBackend(policy: DeliveryPolicy(maxAge: .seconds(3600)))
        let queue = BatchQueue(backends: [backend], clock: VirtualClock())
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 9), wallTime: WallTime(milliseconds: 0))
        let error = Sample.event(Event(.error, tracker: TrackerID(0), time: time))
        queue.append([sample(0)])
        queue.append([sample(1)])
        await queue.waitUntilIdle()
        #expect(backend.attempts == 0)
        queue.append([error])
        await queue.waitUntilIdle()
        #expect(queue.ledger["scripted"]?.acknowledged == 3)
        #expect(backend.delivered == [sample(0), sample(1), error])
        queue.append([sample(2)])
        await queue.waitUntilIdle()
        #expect(queue.ledger["scripted"]?.queued == 1)
    }
}
