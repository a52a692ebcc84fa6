import InstrumentTestKit
import Testing

@testable import Instrument

/// A sample of a person.
private func of(_ userId: String, _ number: Int = 0) -> Sample { numbered(number, ["userId": .string(userId)]) }

@Suite("Consent")
struct ConsentTests {
    @Test("Samples are held while consent is pending, and delivered when it is granted")
    func pendingThenGranted() async throws {
        let backend = ScriptedBackend()
        let queue = BatchQueue(backends: [backend], clock: VirtualClock(), consent: .pending)
        queue.append((0..<5).map(sample))
        // Waits only for deliveries that must happen.
        #expect(await queue.flush(timeout: .seconds(5)) == false)
        #expect(backend.attempts == 0)
        try queue.set(consent: .granted)
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(backend.delivered == (0..<5).map(sample))
    }

    @Test("A denial erases held samples, keeps samples collected under consent unsent, and ends collecting")
    func denied() async throws {
        let backend = ScriptedBackend(policy: DeliveryPolicy(maxAge: .seconds(3600)))
        let queue = BatchQueue(backends: [backend], clock: VirtualClock())
        queue.append([sample(0)])
        try queue.set(consent: .pending)
        queue.append([sample(1), sample(2)])
        try queue.set(consent: .denied)
        queue.append([sample(3)])
        var ledger = try #require(queue.ledger["scripted"])
        #expect((ledger.emitted, ledger.queued, ledger.drops) == (3, 1, [.erased: 2]))
        #expect(await queue.flush(timeout: .seconds(5)) == false)
        #expect(backend.attempts == 0)
        try queue.set(consent: .granted)
        queue.append([sample(4)])
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(backend.delivered == [sample(0), sample(4)])
        ledger = try #require(queue.ledger["scripted"])
        #expect(ledger.emitted == ledger.acknowledged + ledger.dropped)
    }

    @Test("A later consent sends nothing that a denial could not erase", arguments: [false, true])
    func unfinishedDenial(isPendingFirst: Bool) async throws {
        let (backend, disk) = (ScriptedBackend(), FullDisk())
        let queue = BatchQueue(store: disk, backends: [backend], clock: VirtualClock(), consent: .pending)
        queue.append([sample(0)])
        #expect(throws: QueueError.self) { try queue.set(consent: .denied) }
        #expect(throws: QueueError.self) { try queue.set(consent: isPendingFirst ? .pending : .granted) }
        #expect(await queue.flush(timeout: .seconds(5)) == false)
        disk.isFull.withLock { $0 = false }
        if isPendingFirst {
            try queue.set(consent: .pending)
            queue.append([sample(1)])
        }
        try queue.set(consent: .granted)
        queue.append([sample(2)])
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(backend.delivered == (isPendingFirst ? [sample(1), sample(2)] : [sample(2)]))
    }

    @Test("A second pending state does not protect the samples held before from erasure")
    func pendingTwice() throws {
        let queue = BatchQueue(backends: [ScriptedBackend()], clock: VirtualClock(), consent: .pending)
        queue.append([sample(0)])
        try queue.set(consent: .pending)
        queue.append([sample(1)])
        try queue.set(consent: .denied)
        #expect(queue.ledger["scripted"]?.drops == [.erased: 2])
    }

    @Test("A backend that is added while consent is pending receives nothing")
    func newcomer() async throws {
        let (queue, backend) = (BatchQueue(clock: VirtualClock(), consent: .pending), ScriptedBackend())
        queue.add(backend)
        queue.append([sample(0)])
        #expect(await queue.flush(timeout: .seconds(5)) == false)
        #expect(backend.attempts == 0)
    }

    @Test("A lane does not retry a batch after a denial")
    func retryAfterDenial() async throws {
        let clock = VirtualClock()
        let backend = ScriptedBackend(
            policy: DeliveryPolicy(maxAge: .zero),
            script: [.retry(after: .seconds(1), reason: "busy")]
        )
        let queue = BatchQueue(backends: [backend], clock: clock)
        queue.append([sample(0)])
        await queue.waitUntilIdle()
        try queue.set(consent: .denied)
        clock.advance(by: .seconds(100))
        await queue.waitUntilIdle()
        #expect(backend.attempts == 1)
        #expect(queue.ledger["scripted"]?.queued == 1)
    }

    @Test("A denial during emits erases exactly the samples before the following grant")
    func concurrent() async throws {
        let queue = BatchQueue(backends: [ScriptedBackend()], clock: VirtualClock(), consent: .denied)
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask { for number in 0..<500 { queue.append([sample(thread * 1000 + number)]) } }
            }
            group.addTask {
                for round in 0..<200 { try? queue.set(consent: round.isMultiple(of: 2) ? .pending : .denied) }
            }
        }
        let ledger = try #require(queue.ledger["scripted"])
        #expect(ledger.queued == 0)
        #expect(ledger.emitted == ledger.drops[.erased] ?? 0)
    }

    @Test("An instrument without consent collects nothing until consent is granted")
    func instrument() async throws {
        let backend = CollectingBackend()
        let instrument = Instrument(
            hub: NoOpHub(),
            metricalc: nil,
            backends: [backend],
            clock: VirtualClock(),
            consent: .denied
        )
        let player = instrument.add(SilentTracker())
        instrument.emit(.start, from: player)
        try instrument.set(consent: .granted)
        instrument.emit(.end, from: player)
        #expect(await instrument.shutdown(timeout: .seconds(5)))
        #expect(backend.events.map(\.action).contains(.end))
        #expect(!backend.events.map(\.action).contains(.start))
        #expect(instrument.consent == .granted)
    }
}

/// A tracker without events.
private final class SilentTracker: Tracker {
    func begin(in context: TrackerContext) {}
}

@Suite("Erasing a person")
struct ErasingTests {
    @Test("An erasure removes a person's samples and dead letters, and no other person's")
    func erase() async throws {
        let backend = ScriptedBackend(
            policy: DeliveryPolicy(maxCount: 1, maxAge: .seconds(3600)),
            script: [.refused(reason: "no"), .refused(reason: "no"), .gone(reason: "410")]
        )
        let queue = BatchQueue(backends: [backend], clock: VirtualClock())
        queue.append([of("ann", 0), of("bob", 1), of("ann", 2), of("bob", 3), sample(4)])
        _ = await queue.flush(timeout: .seconds(5))
        #expect(try queue.erase(userId: "ann") == 2)
        #expect(queue.deadLetters(of: "scripted").map(\.record.sample) == [of("bob", 1)])
        let ledger = try #require(queue.ledger["scripted"])
        #expect((ledger.queued, ledger.dead, ledger.drops[.erased]) == (2, 1, 2))
        #expect(try queue.erase(userId: "ann") == 0)
        #expect(try queue.erase(userId: "") == 0)
    }

    @Test("A metric carries the person of its event")
    func metrics() async throws {
        let (clock, backend) = (VirtualClock(), CollectingBackend(policy: DeliveryPolicy(maxAge: .seconds(3600))))
        let instrument = Instrument(hub: CoreHub(), metricalc: CoreMetricalc(), backends: [backend], clock: clock)
        instrument.set(.userId, to: "ann")
        let player = instrument.add(SilentTracker())
        instrument.emit(.mediaRequest, from: player)
        clock.advance(by: .seconds(2))
        instrument.emit(.start, from: player)
        let queued = try #require(instrument.queue.ledger["collecting"]?.queued)
        #expect(queued > 2)
        // Only samples from before the person was known stay.
        #expect(try instrument.erase(userId: "ann") == queued)
        #expect(await instrument.shutdown(timeout: .seconds(5)))
        #expect(backend.metrics.isEmpty)
    }

    @Test("An erasure finds a person by the stored pseudonym")
    func hashed() throws {
        let rules = PrivacyRules(fields: ["userId": .hash(salt: "pepper")])
        let queue = BatchQueue(backends: [ScriptedBackend()], clock: VirtualClock(), consent: .pending, privacy: rules)
        queue.append([of("ann"), of("bob")])
        #expect(try queue.erase(userId: "ann") == 1)
        #expect(queue.ledger["scripted"]?.queued == 1)
    }
}

@Suite("Field rules")
struct FieldRuleTests {
    @Test("Attributes are dropped, masked or hashed before anything is stored, in events and metrics")
    func rules() async throws {
        let fields: [AttributeName: FieldRule] = [
            "email": .drop, "source": .mask(), "userId": .hash(salt: "pepper"), "absent": .mask(with: "?"),
        ]
        let backend = CollectingBackend()
        let queue = BatchQueue(
            backends: [backend],
            clock: VirtualClock(),
            privacy: PrivacyRules(fields: fields)
        )
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 0))
        let attributes: Attributes = [
            "userId": "ann", "email": "ann@example.org", "source": ["https://example.org"], "kept": 1,
        ]
        let name = MetricName("m", .counter)
        let metric = Metric(name, 1, tracker: TrackerID(0), time: time, attributes: attributes)
        queue.append([
            .event(Event(.start, tracker: TrackerID(0), time: time, attributes: attributes)), .metric(metric),
        ])
        #expect(await queue.flush(timeout: .seconds(5)))
        // printf %s pepperann | sha256sum
        let digest = "a508e1976826533cc291c823df0562f3d87fc86483a41e141b70a3fa4b50c2de"
        let expected: Attributes = ["userId": .string(digest), "source": "***", "kept": 1]
        for sample in backend.samples { #expect(sample.attributes == expected) }
        #expect(backend.samples.count == 2)
    }

    @Test("No description or dump of a rule shows its salt")
    func secrets() {
        let rules = PrivacyRules(fields: ["userId": .hash(salt: "pepper")])
        var dumped = ""
        dump(rules, to: &dumped)
        #expect(!"\(rules)".contains("pepper") && !dumped.contains("pepper"))
        #expect("\(FieldRule.hash(salt: "pepper"))" == "hash")
    }
}

@Suite("SHA-256")
struct SHA256Tests {
    /// FIPS 180-4 examples, and the lengths around a block's end, each checked with coreutils' sha256sum.
    @Test(
        "Digests agree with the standard's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (String(repeating: "a", count: 55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
            (String(repeating: "a", count: 56), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
            (String(repeating: "a", count: 63), "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
            (String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
            (String(repeating: "a", count: 65), "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"),
            (String(repeating: "a", count: 119), "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
            (String(repeating: "a", count: 120), "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
            (String(repeating: "a", count: 1000), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
        ]
    )
    func digests(text: String, digest: String) {
        #expect(SHA256.hexadecimal(of: text.utf8) == digest)
    }
}

/// A store whose disk is full, so that a denial cannot erase.
private final class FullDisk: ForwardingStore {
    let isFull = Lock(true)
    let store = InMemoryStore()
    private let isDenied = Lock(false)

    var consent: Consent { isDenied.withLock { $0 } ? .denied : store.consent }
    func hold() {
        isDenied.withLock { $0 = false }
        store.hold()
    }
    func release() {
        isDenied.withLock { $0 = false }
        store.release()
    }
    func eraseHeld() throws(QueueError) -> Int {
        isDenied.withLock { $0 = true }
        if isFull.withLock({ $0 }) { throw QueueError(.diskFull, "the disk is full") }
        return store.eraseHeld()
    }
}
