import InstrumentTestKit
import Testing

@testable import Instrument

/// A backend of one service, or without a service, that keeps its batches.
private final class ServiceBackend: Backend {
    let name: BackendName
    let service: ServiceName?
    let policy: DeliveryPolicy
    let collected: CollectingBackend
    private let refuses: @Sendable (Sample) -> DeliveryOutcome?

    init(
        _ name: BackendName,
        service: ServiceName?,
        maxCount: Int = 100,
        script: [DeliveryOutcome] = [],
        refusing refuses: @escaping @Sendable (Sample) -> DeliveryOutcome? = { _ in nil }
    ) {
        (self.name, self.service, self.refuses) = (name, service, refuses)
        policy = DeliveryPolicy(maxCount: maxCount, maxAge: .seconds(3600))
        collected = CollectingBackend(name, policy: policy, script: script)
    }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        for record in batch.records {
            if let refusal = refuses(record.sample) { return refusal }
        }
        return await collected.deliver(batch)
    }

    var numbers: [Int] { collected.samples.compactMap { $0.attributes[AttributeKey<Int>("number")] } }
}

@Suite("Samples for one service", .timeLimit(.minutes(30)))
struct ServiceRoutingTests {
    private static let numberKey = AttributeKey<Int>("number")

    @Test("Each backend receives the samples of its service and those for every backend; ledgers add up")
    func routing() async {
        let one = ServiceBackend("one", service: "a")
        let two = ServiceBackend("two", service: "b")
        let twin = ServiceBackend("twin", service: "a")
        let file = ServiceBackend("file", service: nil)
        let queue = BatchQueue(backends: [one, two, twin, file], clock: VirtualClock())
        for number in 0..<30 {
            let service: ServiceName? = [nil, "a", "b"][number % 3]
            queue.append([sample(number)], for: service)
        }
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(one.numbers == (0..<30).filter { $0 % 3 != 2 })
        #expect(twin.numbers == one.numbers)
        #expect(two.numbers == (0..<30).filter { $0 % 3 != 1 })
        #expect(file.numbers == Array(0..<30))
        for ledger in queue.ledger.values {
            #expect((ledger.emitted, ledger.acknowledged, ledger.queued) == (30, 30, 0))
        }
    }

    @Test("A backend receives the service's name apart from the attributes")
    func attributes() async {
        let (one, file) = (ServiceBackend("one", service: "a"), ServiceBackend("file", service: nil))
        let queue = BatchQueue(backends: [one, file], clock: VirtualClock())
        queue.append([sample(1)], for: "a")
        #expect(await queue.flush(timeout: .seconds(5)))
        for backend in [one, file] {
            let records = backend.collected.batches.flatMap(\.records)
            #expect(records.map(\.sample) == [sample(1)])
            #expect(records.map(\.service) == ["a"])
        }
    }

    @Test("A lane skips samples for other services without its backend, and a flush ends")
    func skipping() async {
        let one = ServiceBackend("one", service: "a", maxCount: 3)
        let queue = BatchQueue(backends: [one], clock: VirtualClock())
        for number in 0..<10 { queue.append([sample(number)], for: "b") }
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(one.collected.attempts.isEmpty)
        #expect(queue.ledger["one"]?.acknowledged == 10)
        queue.append([sample(10)], for: "a")
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(one.numbers == [10])
    }

    @Test(
        "The lane isolates a sample that a service does not take among samples for other services",
        arguments: [DeliveryOutcome.refused(reason: "no"), .tooLarge(reason: "no")],
        [1, 2, 3, 5]
    )
    func isolation(refusal: DeliveryOutcome, interval: Int) async {
        let one = ServiceBackend("one", service: "a", maxCount: 16) {
            $0.attributes[Self.numberKey] == 20 ? refusal : nil
        }
        let queue = BatchQueue(backends: [one], clock: VirtualClock())
        for number in 0..<64 { queue.append([sample(number)], for: number % interval == 0 ? "a" : "b") }
        let own = (0..<64).filter { $0 % interval == 0 }
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(one.numbers == own.filter { $0 != 20 })
        let isOwn = own.contains(20)
        #expect(queue.deadLetters(of: "one").map(\.record.sample) == (isOwn ? [sample(20)] : []))
        #expect(queue.ledger["one"]?.acknowledged == (isOwn ? 63 : 64))
    }

    @Test("A batch is retried with the same samples after a failure")
    func retry() async {
        let clock = VirtualClock()
        let one = ServiceBackend("one", service: "a", script: [.retry(after: .seconds(10), reason: "busy")])
        let queue = BatchQueue(backends: [one], clock: clock)
        for number in 0..<6 { queue.append([sample(number)], for: number.isMultiple(of: 2) ? "a" : "b") }
        async let isEmpty = queue.flush(timeout: .seconds(3600))
        await one.collected.waitForAttempts(1)
        await queue.waitUntilIdle()
        #expect(queue.ledger["one"]?.queued == 6)
        clock.advance(by: .seconds(60))
        #expect(await isEmpty)
        #expect(one.collected.attempts.count == 2)
        #expect(one.collected.attempts.first == one.collected.attempts.last)
        #expect(one.numbers == [0, 2, 4])
    }

    @Test("Samples for other services stay queued without consent, and a withdrawal erases them")
    func consent() async throws {
        let one = ServiceBackend("one", service: "a", maxCount: 1)
        let queue = BatchQueue(backends: [one], clock: VirtualClock(), consent: .pending)
        for number in 0..<3 { queue.append([sample(number)], for: "b") }
        await queue.waitUntilIdle()
        #expect(queue.ledger["one"]?.queued == 3)
        try queue.set(consent: .denied)
        #expect(queue.ledger["one"]?.drops[.erased] == 3)
        #expect(queue.ledger["one"]?.acknowledged == 0)
    }

    @Test("A sample that an earlier build stored with its service among the attributes reaches only that service")
    func storedByEarlierBuild() async throws {
        let store = InMemoryStore()
        for name: BackendName in ["one", "two", "file"] { store.attach(name) }
        _ = try store.append([numbered(1, ["instrument.addressee": "a"]), numbered(2)])
        let (one, two) = (ServiceBackend("one", service: "a"), ServiceBackend("two", service: "b"))
        let file = ServiceBackend("file", service: nil)
        let queue = BatchQueue(store: store, backends: [one, two, file], clock: VirtualClock())
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect((one.numbers, two.numbers, file.numbers) == ([1, 2], [2], [1, 2]))
        #expect(file.collected.samples == [sample(1), sample(2)])
    }

    @Test("Rules for fields keep the service of a sample", arguments: FieldAdmission.allCases)
    func privacy(admission: FieldAdmission) async {
        let (one, two) = (ServiceBackend("one", service: "a"), ServiceBackend("two", service: "b"))
        let off: PrivacyCatalogue = [FieldDeclaration("off", .text, "Off", isOn: false)]
        let privacy = PrivacyRules(declaring: off, admission: admission)
        let queue = BatchQueue(backends: [one, two], clock: VirtualClock(), privacy: privacy)
        queue.append([numbered(1, ["off": 1, "free": 2])], for: "a")
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(one.collected.samples == [numbered(1, ["free": 2])])
        #expect(two.collected.samples.isEmpty)
    }
}
