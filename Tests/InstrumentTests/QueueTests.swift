import Instrument
import Testing

/// A backend that answers from a script, then acknowledges everything.
final class ScriptedBackend: Backend {
    let name: BackendName
    let policy: DeliveryPolicy
    private let state: Lock<(script: [DeliveryOutcome], batches: [Batch])>
    private let refuses: (@Sendable (Sample) -> Bool)?

    init(
        _ name: BackendName = "scripted",
        policy: DeliveryPolicy = DeliveryPolicy(),
        script: [DeliveryOutcome] = [],
        refusing refuses: (@Sendable (Sample) -> Bool)? = nil
    ) {
        self.name = name
        self.policy = policy
        self.refuses = refuses
        state = Lock((script, []))
    }

    var batches: [Batch] { state.withLock { $0.batches } }
    var delivered: [Sample] { batches.flatMap(\.records).map(\.sample) }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        if let refuses, batch.records.contains(where: { refuses($0.sample) }) { return .refused(reason: "no") }
        return state.withLock { state in
            let outcome = state.script.isEmpty ? .acknowledged : state.script.removeFirst()
            if outcome == .acknowledged { state.batches.append(batch) }
            return outcome
        }
    }
}

func sample(_ number: Int) -> Sample {
    let time = Timestamp(instant: MonotonicInstant(nanoseconds: Int64(number)), wallTime: WallTime(milliseconds: 0))
    return .event(Event(Action("Numbered"), tracker: TrackerID(0), time: time, attributes: ["number": .int(number)]))
}

@Suite("Shared queue")
struct QueueTests {
    @Test("A flush delivers everything, in order, in batches no larger than the policy's")
    func flush() async {
        let backend = ScriptedBackend(policy: DeliveryPolicy(maxCount: 10, maxAge: .seconds(3600)))
        let queue = BatchQueue(store: InMemoryStore(), backends: [backend], clock: VirtualClock())
        let samples = (0..<105).map(sample)
        for sample in samples { queue.append([sample]) }
        #expect(await queue.flush(timeout: .seconds(60)))
        #expect(backend.delivered == samples)
        #expect(backend.batches.allSatisfy { $0.records.count <= 10 })
        #expect(queue.ledger["scripted"]?.acknowledged == 105)
    }

    @Test("A culprit is split out and becomes the one dead letter")
    func split() async {
        let backend = ScriptedBackend { $0 == sample(13) }
        let queue = BatchQueue(store: InMemoryStore(), backends: [backend], clock: VirtualClock())
        queue.append((0..<50).map(sample))
        #expect(await queue.flush(timeout: .seconds(60)))
        #expect(backend.delivered == (0..<50).filter { $0 != 13 }.map(sample))
        #expect(queue.ledger["scripted"]?.dead == 1)
    }

    @Test("A backend that is down keeps its samples and delays no other; the flush ends at its deadline")
    func isolation() async {
        let clock = VirtualClock()
        let down = ScriptedBackend(
            "down",
            script: Array(repeating: .retry(after: .seconds(60), reason: "off"), count: 9)
        )
        let up = ScriptedBackend("up")
        let queue = BatchQueue(store: InMemoryStore(), backends: [down, up], clock: clock)
        queue.append((0..<20).map(sample))
        async let isEmpty = queue.flush(timeout: .seconds(5))
        while queue.ledger["up"]?.acknowledged != 20 || clock.pendingCount < 2 { await Task.yield() }
        clock.advance(by: .seconds(5))
        #expect(await isEmpty == false)
        #expect(queue.ledger["down"]?.queued == 20)
        #expect(up.delivered.count == 20)
    }

    @Test("A full store drops the oldest, and the ledger still adds up")
    func full() {
        let store = InMemoryStore(capacity: 10)
        store.attach("one")
        store.append((0..<25).map(sample))
        let records = store.next(for: "one", limit: 100)
        #expect(records.map(\.sample) == (15..<25).map(sample))
        #expect(records.map(\.sequence) == Array(15..<25))
        store.settle("one", through: 17, as: .acknowledged)
        let ledger = store.ledger(of: "one")
        #expect((ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dropped) == (25, 3, 7, 15))
    }
}
