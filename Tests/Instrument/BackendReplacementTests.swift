import InstrumentTestKit
import Testing

@testable import Instrument

/// A virtual clock that reports scheduled actions.
private final class WatchedClock: SchedulingClock {
    private let clock = VirtualClock()
    private let gates = Lock<[MonotonicInstant: Gate]>([:])

    var now: MonotonicInstant { clock.now }
    var wallTime: WallTime { clock.wallTime }
    var minimumResolution: Duration { clock.minimumResolution }

    func advance(by duration: Duration) { clock.advance(by: duration) }

    func schedule(at deadline: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        defer { gate(deadline).open() }
        return clock.schedule(at: deadline, action)
    }

    func sleep(until deadline: MonotonicInstant, tolerance: Duration?) async throws {
        try await clock.sleep(until: deadline, tolerance: tolerance)
    }

    /// Returns once something is scheduled `duration` from now.
    func scheduled(in duration: Duration) async { await gate(now.advanced(by: duration)).wait() }

    private func gate(_ deadline: MonotonicInstant) -> Gate {
        gates.withLock { gates in
            let gate = gates[deadline] ?? Gate()
            gates[deadline] = gate
            return gate
        }
    }
}

/// Reports each received sample.
private struct TellingBackend: Backend {
    let name: BackendName = "telling"
    let policy = DeliveryPolicy(maxAge: .zero)
    let arrivals: AsyncStream<Sample>
    private let arrival: AsyncStream<Sample>.Continuation

    init() { (arrivals, arrival) = AsyncStream.makeStream() }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        for record in batch.records { arrival.yield(record.sample) }
        return .acknowledged
    }
}

/// Delays each delivery until the test gives its outcome, or its task is cancelled.
private final class GatedBackend: Backend {
    private struct State {
        var attempts: [Batch] = []
        var arrived: [SampleRecord] = []
        var endCount = 0
        var readyCount = 0
        var attemptsWhenReady: Int?
    }

    let name: BackendName
    let policy: DeliveryPolicy
    let answer: DeliveryOutcome
    let answersCancellation: Bool
    /// Opens when a delivery has begun.
    let hasBegun = Gate()
    /// Lets the delivery end.
    let mayEnd = Gate()
    private let state = Lock(State())

    init(
        _ name: BackendName = "gated",
        policy: DeliveryPolicy = DeliveryPolicy(maxAge: .zero, timeout: nil),
        answer: DeliveryOutcome = .acknowledged,
        answersCancellation: Bool = true
    ) {
        (self.name, self.policy, self.answer) = (name, policy, answer)
        self.answersCancellation = answersCancellation
    }

    var attempts: [Batch] { state.withLock { $0.attempts } }
    var arrived: [SampleRecord] { state.withLock { $0.arrived } }
    var endCount: Int { state.withLock { $0.endCount } }
    var readyCount: Int { state.withLock { $0.readyCount } }
    var attemptsWhenReady: Int? { state.withLock { $0.attemptsWhenReady } }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        state.withLock { $0.attempts.append(batch) }
        hasBegun.open()
        if answersCancellation {
            _ = await withTaskCancellationHandler {
                await mayEnd.wait()
            } onCancel: {
                mayEnd.open()
            }
            if Task.isCancelled { return .retry(after: nil, reason: "cancelled") }
        } else {
            await mayEnd.waitDespiteCancellation()
        }
        if answer == .acknowledged { state.withLock { $0.arrived += batch.records } }
        return answer
    }

    func ready() {
        state.withLock { state in
            state.readyCount += 1
            state.attemptsWhenReady = state.attempts.count
        }
    }

    func end() async { state.withLock { $0.endCount += 1 } }
}

@Suite("Replacing a backend")
struct BackendReplacementTests {
    private let clock = WatchedClock()

    private func sums(_ queue: BatchQueue, _ name: BackendName) -> [Int] {
        guard let ledger = queue.ledger[name] else { return [] }
        return [ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dead, ledger.dropped]
    }

    @Test("The new backend receives waiting and later samples, and the ledger continues")
    func exchange() async {
        let old = ScriptedBackend("one", policy: DeliveryPolicy(maxAge: .seconds(3600)))
        let new = ScriptedBackend("one", policy: DeliveryPolicy(maxAge: .seconds(3600)))
        let queue = BatchQueue(backends: [old], clock: clock)
        queue.append((0..<3).map(sample))
        #expect(await queue.flush(timeout: .seconds(5)))
        queue.append((3..<5).map(sample))
        #expect(await queue.replace(backend: new))
        #expect(old.endCount == 1)
        queue.append((5..<7).map(sample))
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(old.delivered == (0..<3).map(sample))
        #expect(new.delivered == (3..<7).map(sample))
        #expect(sums(queue, "one") == [7, 7, 0, 0, 0])
    }

    @Test("A delivery in flight completes, and the new backend starts after it")
    func inFlight() async {
        let old = GatedBackend("one")
        let new = ScriptedBackend("one", policy: DeliveryPolicy(maxAge: .zero))
        let queue = BatchQueue(backends: [old], clock: clock)
        queue.append((0..<3).map(sample))
        await old.hasBegun.wait()
        let isHandedOver = Gate()
        async let isReplaced = queue.replace(new, timeout: .seconds(60)) { isHandedOver.open() }
        queue.append((3..<6).map(sample))
        await isHandedOver.wait()
        #expect(new.attempts == 0)
        old.mayEnd.open()
        #expect(await isReplaced)
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(old.arrived.map(\.sample) + new.delivered == (0..<6).map(sample))
        #expect(old.endCount == 1)
        #expect(sums(queue, "one") == [6, 6, 0, 0, 0])
    }

    @Test("A replacement whose task is cancelled cancels the delivery in flight and is completed")
    func cancelledTask() async {
        let old = GatedBackend("one")
        let new = ScriptedBackend("one", policy: DeliveryPolicy(maxAge: .zero))
        let queue = BatchQueue(backends: [old], clock: clock)
        queue.append((0..<3).map(sample))
        await old.hasBegun.wait()
        let replacement = Task { await queue.replace(backend: new, timeout: .seconds(10)) }
        await clock.scheduled(in: .seconds(10))
        replacement.cancel()
        #expect(await replacement.value)
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(old.arrived.isEmpty)
        #expect(new.delivered == (0..<3).map(sample))
    }

    @Test(
        "A delivery that exceeds the timeout is cancelled, and the new backend gets the same batch with the same identifiers"
    )
    func cancelled() async {
        let old = GatedBackend("one")
        let new = ScriptedBackend("one", policy: DeliveryPolicy(maxAge: .zero))
        let queue = BatchQueue(backends: [old], clock: clock)
        queue.append((0..<3).map(sample))
        await old.hasBegun.wait()
        let given = old.attempts.first?.records ?? []
        queue.append((3..<6).map(sample))
        async let isReplaced = queue.replace(backend: new, timeout: .seconds(10))
        await clock.scheduled(in: .seconds(10))
        clock.advance(by: .seconds(10))
        #expect(await isReplaced)
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(old.arrived.isEmpty)
        #expect(new.firstAttempt == given)
        #expect(new.delivered == (0..<6).map(sample))
        #expect(sums(queue, "one") == [6, 6, 0, 0, 0])
    }

    @Test(
        "A backend that ignores the cancellation delays its successor, no other backend, and loses or repeats nothing"
    )
    func stubborn() async {
        let old = GatedBackend("one", answersCancellation: false)
        let new = ScriptedBackend("one", policy: DeliveryPolicy(maxAge: .zero))
        let other = TellingBackend()
        let queue = BatchQueue(backends: [old, other], clock: clock)
        queue.append((0..<3).map(sample))
        await old.hasBegun.wait()
        #expect(await queue.replace(backend: new, timeout: .zero))
        queue.append((3..<6).map(sample))
        var others: [Sample] = []
        for await sample in other.arrivals {
            others.append(sample)
            if others.count == 6 { break }
        }
        #expect(others == (0..<6).map(sample))
        #expect(new.attempts == 0)
        old.mayEnd.open()
        #expect(await queue.flush(timeout: .seconds(5)))
        let inFirst = old.arrived.map(\.sample)
        #expect(inFirst + new.delivered == (0..<6).map(sample))
        #expect(sums(queue, "one") == [6, 6, 0, 0, 0])
    }

    @Test(
        "Back-off, halved batches and silence of the old backend end with it",
        arguments: [
            .retry(after: .seconds(3600), reason: "busy"), .retry(after: nil, reason: "down"),
            .unauthorized(reason: "key"), .gone(reason: "closed"), .tooLarge(reason: "413"), .refused(reason: "400"),
        ] as [DeliveryOutcome]
    )
    func failures(outcome: DeliveryOutcome) async {
        let old = GatedBackend("one", answer: outcome)
        let new = ScriptedBackend("one", policy: DeliveryPolicy(maxAge: .zero))
        let queue = BatchQueue(backends: [old], clock: clock)
        queue.append((0..<8).map(sample))
        await old.hasBegun.wait()
        let isHandedOver = Gate()
        async let isReplaced = queue.replace(new, timeout: .seconds(90)) { isHandedOver.open() }
        await isHandedOver.wait()
        old.mayEnd.open()
        #expect(await isReplaced)
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(new.delivered == (0..<8).map(sample))
        #expect(new.attempts == 1)
        #expect(sums(queue, "one") == [8, 8, 0, 0, 0])
    }

    @Test("Dead letters and the ledger stay with the name")
    func deadLetters() async {
        let old = ScriptedBackend("one", refusing: { $0 == sample(1) })
        let new = ScriptedBackend("one")
        let queue = BatchQueue(backends: [old], clock: clock)
        queue.append((0..<3).map(sample))
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(await queue.replace(backend: new))
        queue.append([sample(3)])
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(queue.deadLetters(of: "one").map(\.record.sample) == [sample(1)])
        #expect(sums(queue, "one") == [4, 3, 0, 1, 0])
        #expect(new.delivered == [sample(3)])
    }

    @Test("A running flush continues with the new backend")
    func flush() async {
        let old = GatedBackend("one")
        let new = ScriptedBackend("one", policy: DeliveryPolicy(maxAge: .seconds(3600)))
        let queue = BatchQueue(backends: [old], clock: clock)
        queue.append((0..<3).map(sample))
        await old.hasBegun.wait()
        async let isFlushed = queue.flush(timeout: .seconds(60))
        await clock.scheduled(in: .seconds(60))
        async let isReplaced = queue.replace(backend: new, timeout: .zero)
        #expect(await isFlushed)
        #expect(await isReplaced)
        #expect(new.delivered == (0..<3).map(sample))
    }

    @Test("A flush whose last samples the old backend delivers ends with that delivery")
    func flushOfOld() async {
        let old = GatedBackend("one")
        let new = ScriptedBackend("one")
        let queue = BatchQueue(backends: [old], clock: clock)
        queue.append((0..<3).map(sample))
        await old.hasBegun.wait()
        async let isFlushed = queue.flush(timeout: .seconds(60))
        await clock.scheduled(in: .seconds(60))
        let isHandedOver = Gate()
        async let isReplaced = queue.replace(new, timeout: .seconds(90)) { isHandedOver.open() }
        await isHandedOver.wait()
        old.mayEnd.open()
        #expect(await isFlushed)
        #expect(await isReplaced)
        #expect(new.attempts == 0)
    }

    @Test("A replacement has no effect without a backend of that name, and after a shutdown")
    func nothingToReplace() async {
        let (old, new) = (ScriptedBackend("one"), GatedBackend("two"))
        let instrument = Instrument(hub: OpenHub(), metricalc: nil, backends: [old], clock: clock)
        instrument.ready()
        #expect(await instrument.replace(backend: new) == false)
        #expect(instrument.queue.ledger["two"] == nil)
        await instrument.shutdown(timeout: .seconds(1))
        let late = GatedBackend("one")
        #expect(await instrument.replace(backend: late) == false)
        #expect(new.readyCount + new.endCount + late.readyCount + late.endCount == 0)
    }

    @Test("The new backend is notified once that the instrument is ready, before its first delivery")
    func ready() async {
        let (old, new) = (ScriptedBackend("one"), GatedBackend("one"))
        let instrument = Instrument(hub: OpenHub(), metricalc: nil, backends: [old], clock: clock)
        let id = instrument.add(PlainTracker())
        instrument.ready()
        instrument.emit(.start, from: id)
        #expect(await instrument.replace(backend: new))
        await new.hasBegun.wait()
        #expect((new.readyCount, new.attemptsWhenReady) == (1, 0))
        new.mayEnd.open()
        #expect(await instrument.shutdown(timeout: .seconds(60)))
        #expect((old.endCount, new.endCount) == (1, 1))
        let early = Instrument(hub: OpenHub(), metricalc: nil, backends: [ScriptedBackend("one")], clock: clock)
        let unready = GatedBackend("one")
        #expect(await early.replace(backend: unready))
        #expect(unready.readyCount == 0)
        early.ready()
        #expect(unready.readyCount == 1)
    }

    @Test("The new backend sends nothing without consent")
    func consent() async throws {
        let (old, new) = (ScriptedBackend("one"), ScriptedBackend("one"))
        let queue = BatchQueue(backends: [old], clock: clock, consent: .pending)
        queue.append((0..<3).map(sample))
        #expect(await queue.replace(backend: new))
        #expect(await queue.flush(timeout: .zero) == false)
        #expect(new.attempts == 0)
        try queue.set(consent: .granted)
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(new.delivered == (0..<3).map(sample))
        #expect(old.attempts == 0)
    }

    @Test("A removal and a shutdown during an exchange wait for both backends, up to their deadline")
    func removal() async {
        for isShutdown in [true, false] {
            let clock = WatchedClock()
            let (old, new) = (GatedBackend("one", answersCancellation: false), ScriptedBackend("one"))
            let queue = BatchQueue(backends: [old], clock: clock)
            queue.append((0..<3).map(sample))
            await old.hasBegun.wait()
            #expect(await queue.replace(backend: new, timeout: .zero))
            async let isDone =
                isShutdown ? queue.shutdown(timeout: .seconds(60)) : queue.remove("one", timeout: .seconds(60))
            await clock.scheduled(in: .seconds(60))
            old.mayEnd.open()
            #expect(await isDone)
            #expect((old.endCount, new.endCount) == (1, 1))
            #expect(old.arrived.map(\.sample) == (0..<3).map(sample))
        }
    }

    @Test("Repeated replacements during emits deliver each sample exactly once, in order")
    func underLoad() async {
        let (count, rounds) = (2000, 30)
        let queue = BatchQueue(backends: [ScriptedBackend("one", policy: DeliveryPolicy(maxCount: 7, maxAge: .zero))])
        var backends = queue.lanes.compactMap { $0.backend as? ScriptedBackend }
        let writing = Task {
            for number in 0..<count { queue.append([sample(number)]) }
        }
        for round in 0..<rounds {
            let policy = DeliveryPolicy(maxCount: 1 + round % 11, maxAge: .zero)
            let new = ScriptedBackend("one", policy: policy, script: [.retry(after: nil, reason: "\(round)")])
            backends.append(new)
            // Some exchanges overlap with the next.
            if round.isMultiple(of: 3) {
                let isHandedOver = Gate()
                Task { await queue.replace(new, timeout: .zero) { isHandedOver.open() } }
                await isHandedOver.wait()
            } else {
                #expect(await queue.replace(backend: new))
            }
        }
        await writing.value
        let last = ScriptedBackend("one")
        backends.append(last)
        #expect(await queue.replace(backend: last))
        #expect(await queue.flush(timeout: .seconds(300)))
        #expect(backends.flatMap(\.delivered) == (0..<count).map(sample))
        #expect(sums(queue, "one") == [count, count, 0, 0, 0])
        await queue.shutdown(timeout: .seconds(300))
        #expect(backends.map(\.endCount) == Array(repeating: 1, count: rounds + 2))
    }
}
