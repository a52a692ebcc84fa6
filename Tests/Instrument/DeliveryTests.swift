import Dispatch
import Instrument
import InstrumentTestKit
import LoopbackServers
import Testing

/// A store that can stop returning samples.
private final class ReluctantStore: ForwardingStore {
    let store = InMemoryStore()
    let isReluctant = Lock(false)
    let askedCount = Lock(0)

    func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] {
        askedCount.withLock { $0 += 1 }
        if isReluctant.withLock({ $0 }) { return [] }
        return store.next(for: backend, maxCount: maxCount, maxBytes: maxBytes)
    }
}

/// A store and a network with which a lane sees a sample before the queue has counted it: the lane's first look at the
/// network waits for the sample, and the call that appends the sample waits for the lane's look at the backlog.
private final class EarlyLook: ForwardingStore, Reachability {
    let store = InMemoryStore()
    let network = ReachabilitySwitch(isOnline: false)
    private let stored = DispatchSemaphore(value: 0)
    private let looked = DispatchSemaphore(value: 0)

    var isOnline: Bool {
        stored.wait()
        stored.signal()
        return network.isOnline
    }

    func changes() -> AsyncStream<Bool> { network.changes() }

    func append(_ samples: [Sample]) throws(QueueError) -> Int {
        let size = try store.append(samples)
        stored.signal()
        looked.wait()
        return size
    }

    func backlog(of backend: BackendName) -> Backlog {
        let backlog = store.backlog(of: backend)
        if backlog.count > 0 { looked.signal() }
        return backlog
    }
}

/// Acknowledges everything, with a given maximum age.
private struct PatientBackend: Backend {
    let name: BackendName = "patient"
    let policy = DeliveryPolicy(maxAge: .seconds(5))
    let clock: VirtualClock
    let end: MonotonicInstant

    func patience() -> Duration? { clock.now.duration(to: end) }
    func deliver(_ batch: Batch) async -> DeliveryOutcome { .acknowledged }
}

/// Returns only when its task is cancelled.
private final class HangingBackend: Backend {
    let name: BackendName = "hanging"
    let policy: DeliveryPolicy
    let attempts = EventCounter()
    let cancellations = EventCounter()

    init(timeout: Duration?) { policy = DeliveryPolicy(maxAge: .zero, timeout: timeout) }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        attempts.increment()
        let gate = Gate()
        _ = await withTaskCancellationHandler {
            await gate.wait()
        } onCancel: {
            cancellations.increment()
            gate.open()
        }
        return .retry(after: nil, reason: "cancelled")
    }
}

@Suite("Delivery", .timeLimit(.minutes(30)))
struct DeliveryTests {
    @Test("A flush waits for queued samples when the full queue refuses new samples")
    func refusedIsNotDelivered() async {
        let limits = QueueLimits(maxCount: 10, whenFull: .refuseNew)
        let backend = ScriptedBackend(
            policy: DeliveryPolicy(maxCount: 5, maxAge: .seconds(3600)),
            script: [.acknowledged, .retry(after: .seconds(100), reason: "busy")]
        )
        let clock = VirtualClock()
        let queue = BatchQueue(store: InMemoryStore(limits: limits), backends: [backend], clock: clock)
        // Refused first: if these counted as settled, they would hide ten unsettled samples.
        for _ in 0..<10 { queue.append((0..<11).map(sample)) }
        queue.append((0..<10).map(sample))
        async let isEmpty = queue.flush(timeout: .seconds(10))
        await clock.waitUntilPending(at: clock.now.advanced(by: .seconds(10)))
        await queue.waitUntilIdle()
        #expect(backend.attempts == 2)
        clock.advance(by: .seconds(10))
        #expect(await isEmpty == false)
        #expect(queue.ledger["scripted"]?.queued == 5)
    }

    @Test("A flush after a shutdown returns false immediately when samples are left")
    func flushAfterShutdown() async {
        let backend = ScriptedBackend(script: [.gone(reason: "410")])
        let queue = BatchQueue(backends: [backend], clock: VirtualClock())
        queue.append([sample(0)])
        #expect(await queue.shutdown(timeout: .seconds(5)) == false)
        // With a stopped clock, a wrong wait would never return.
        #expect(await queue.flush(timeout: .seconds(5)) == false)
    }

    @Test("A shutdown cancels a delivery that hangs at its timeout, and the sample stays")
    func hangingShutdown() async {
        let (clock, backend) = (VirtualClock(), HangingBackend(timeout: nil))
        let queue = BatchQueue(backends: [backend], clock: clock)
        queue.append([sample(0)])
        await backend.attempts.wait(for: 1)
        async let isEmpty = queue.shutdown(timeout: .seconds(5))
        await clock.waitUntilPending(at: clock.now.advanced(by: .seconds(5)))
        clock.advance(by: .seconds(5))
        #expect(await isEmpty == false)
        await backend.cancellations.wait(for: 1)
        #expect(queue.ledger["hanging"]?.queued == 1)
        #expect(backend.attempts.count == 1)
    }

    @Test("A delivery that exceeds the policy's timeout is cancelled and retried")
    func timeout() async {
        let (clock, backend) = (VirtualClock(), HangingBackend(timeout: .seconds(30)))
        let queue = BatchQueue(backends: [backend], clock: clock)
        queue.append([sample(0)])
        await backend.attempts.wait(for: 1)
        await clock.waitUntilPending(at: clock.now.advanced(by: .seconds(30)))
        clock.advance(by: .milliseconds(29_999))
        #expect(backend.cancellations.count == 0)
        clock.advance(by: .milliseconds(1))
        // Cancelled, and then due after the first delay, which is at most a second.
        await queue.waitUntilIdle()
        #expect(backend.cancellations.count == 1)
        clock.advance(by: .seconds(1))
        await backend.attempts.wait(for: 2)
        #expect(queue.ledger["hanging"]?.queued == 1)
    }

    @Test(
        "A lane asks a store that returns no batch again after a delay, and a limited number of times"
    )
    func reluctantStore() async {
        let (clock, store, backend) = (VirtualClock(), ReluctantStore(), ScriptedBackend())
        store.isReluctant.withLock { $0 = true }
        let queue = BatchQueue(store: store, backends: [backend], clock: clock)
        queue.append([sample(0)])
        async let isEmpty = queue.flush(timeout: .seconds(60))
        await clock.waitUntilPending(at: clock.now.advanced(by: .seconds(60)))
        await queue.waitUntilIdle()
        #expect(store.askedCount.withLock { $0 } == 1)
        store.isReluctant.withLock { $0 = false }
        clock.advance(by: .seconds(1))
        #expect(await isEmpty)
        #expect(backend.delivered == [sample(0)])
    }

    @Test("Samples of an earlier run wait for a batch no longer than new samples")
    func leftovers() async throws {
        let (clock, store) = (VirtualClock(), InMemoryStore())
        let backend = ScriptedBackend(policy: DeliveryPolicy(maxAge: .seconds(5)))
        store.attach(backend.name)
        _ = try store.append([sample(0)])
        let queue = BatchQueue(store: store, backends: [backend], clock: clock)
        await queue.waitUntilIdle()
        clock.advance(by: .seconds(5))
        await queue.waitUntilIdle()
        #expect(queue.ledger["scripted"]?.acknowledged == 1)
    }

    @Test("The queue reports new drops of a store once, and earlier drops not at all")
    func earlierDrops() async {
        let store = InMemoryStore(limits: QueueLimits(maxCount: 10))
        store.attach("scripted")
        _ = try? store.append((0..<30).map(sample))
        let said = Lock<[Diagnostic]>([])
        let queue = BatchQueue(store: store, backends: [ScriptedBackend()], clock: VirtualClock()) { diagnostic in
            said.withLock { $0.append(diagnostic) }
        }
        #expect(await queue.flush(timeout: .seconds(5)))
        queue.append((0..<15).map(sample))
        #expect(await queue.shutdown(timeout: .seconds(5)))
        #expect(said.withLock { $0 } == [.dropped("scripted", count: 5, .count)])
    }

    @Test("An error triggers delivery of the samples before it, and not of those that arrive during that delivery")
    func promptGoal() async {
        let clock = VirtualClock()
        let queue = Lock<BatchQueue?>(nil)
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 9), wallTime: WallTime(milliseconds: 0))
        let isFirst = Lock(true)
        let backend = ScriptedBackend(
            policy: DeliveryPolicy(maxAge: .seconds(3600)),
            onDeliver: {
                // Another sample arrives during the first delivery.
                let isNow = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                if isNow { queue.withLock { $0 }?.append([sample(7)]) }
            }
        )
        let made = BatchQueue(backends: [backend], clock: clock)
        queue.withLock { $0 = made }
        made.append([sample(0), .event(Event(.error, tracker: TrackerID(0), time: time))])
        await made.waitUntilIdle()
        #expect(made.ledger["scripted"]?.acknowledged == 2)
        #expect(backend.attempts == 1)
        #expect(made.ledger["scripted"]?.queued == 1)
        queue.withLock { $0 = nil }
    }

    @Test(
        "A backend's patience shortens the wait of the policy, and never extends it",
        arguments: [(0, 0), (2, 2), (5, 5), (100, 5), (-3, 0)]
    )
    func patience(seconds: Int, expected: Int) async {
        let clock = VirtualClock()
        let backend = PatientBackend(clock: clock, end: clock.now.advanced(by: .seconds(seconds)))
        let queue = BatchQueue(backends: [backend], clock: clock)
        queue.append([sample(0)])
        let due = MonotonicInstant(nanoseconds: 0).advanced(by: .seconds(expected))
        if expected > 0 {
            // The lane has set its alarm.
            await queue.waitUntilIdle()
            #expect(clock.nextDeadline == due)
            #expect(queue.ledger["patient"]?.queued == 1)
            clock.advance(to: due)
        }
        await queue.waitUntilIdle()
        #expect(queue.ledger["patient"]?.queued == 0)
        #expect(clock.now == due)
    }

    @Test("A metric that is NaN or infinite is dropped and reported, and the others are stored")
    func notFinite() async {
        let (backend, said) = (ScriptedBackend(), Lock<[Diagnostic]>([]))
        let queue = BatchQueue(backends: [backend], clock: VirtualClock()) { diagnostic in
            said.withLock { $0.append(diagnostic) }
        }
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 0))
        let metrics = [Double.nan, 1, .infinity, -.infinity].map { value in
            Sample.metric(
                Metric(MetricName("m", .gauge), .double(value), tracker: TrackerID(0), time: time, attributes: [:])
            )
        }
        queue.append(metrics)
        queue.append([metrics[0]])
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(backend.delivered == [metrics[1]])
        #expect(said.withLock { $0.count } == 4)
    }

    @Test("Samples stay queued after any number of failures")
    func neverGivesUp() async throws {
        let clock = VirtualClock()
        let failures = (0..<100).map { DeliveryOutcome.retry(after: nil, reason: "failure \($0)") }
        let backend = ScriptedBackend(policy: DeliveryPolicy(maxAge: .zero), script: failures)
        let queue = BatchQueue(backends: [backend], clock: clock)
        queue.append((0..<10).map(sample))
        for failures in 1...100 {
            await queue.waitUntilIdle()
            #expect(backend.attempts == failures)
            let next = try #require(clock.nextDeadline)
            #expect(clock.now.duration(to: next) <= .seconds(300))
            // Not five minutes in one step, because the lane may set its next alarm while the clock advances.
            clock.advance(to: next)
        }
        await queue.waitUntilIdle()
        #expect(queue.ledger["scripted"]?.acknowledged == 10)
        #expect(backend.delivered == (0..<10).map(sample))
    }

    @Test("A server's retry delay is limited to an hour, and an invalid delay is ignored")
    func longWish() async {
        for (wish, longest) in [(Duration.seconds(1_000_000), 3600), (.seconds(-5), 1), (.zero, 0)] {
            let clock = VirtualClock()
            let backend = ScriptedBackend(
                policy: DeliveryPolicy(maxAge: .zero),
                script: [.retry(after: wish, reason: "busy")]
            )
            let queue = BatchQueue(backends: [backend], clock: clock)
            queue.append([sample(0)])
            await queue.waitUntilIdle()
            clock.advance(by: .seconds(longest))
            await queue.waitUntilIdle()
            #expect(queue.ledger["scripted"]?.acknowledged == 1)
        }
    }

    @Test("A flush does not wait for samples that are appended during the flush")
    func appendedDuringFlush() async {
        let queue = Lock<BatchQueue?>(nil)
        let left = Lock(20)
        let backend = ScriptedBackend(
            policy: DeliveryPolicy(maxCount: 3, maxAge: .seconds(3600)),
            onDeliver: {
                let number = left.withLock { left in
                    left -= 1
                    return left
                }
                if number >= 0 { queue.withLock { $0 }?.append([sample(100 + number)]) }
            }
        )
        let made = BatchQueue(backends: [backend], clock: VirtualClock())
        queue.withLock { $0 = made }
        made.append((0..<30).map(sample))
        repeat { #expect(await made.flush(timeout: .seconds(5))) } while made.ledger["scripted"]?.queued != 0
        #expect(Set(backend.delivered).count == 50 && backend.delivered.count == 50)
        queue.withLock { $0 = nil }
    }

    @Test("Steps of the wall clock by years neither delay, drop nor reorder samples")
    func calendarSteps() async {
        let clock = VirtualClock()
        let backend = ScriptedBackend(policy: DeliveryPolicy(maxAge: .seconds(1)))
        let limits = QueueLimits(maxAge: .seconds(3600))
        let queue = BatchQueue(store: InMemoryStore(limits: limits), backends: [backend], clock: clock)
        let years: [Duration] = [.seconds(86_400 * 3650), .seconds(-86_400 * 7300), .seconds(86_400 * 365)]
        var sent: [Sample] = []
        for (number, step) in years.enumerated() {
            clock.stepWallTime(by: step)
            let new = Sample.event(Event(.ping, tracker: TrackerID(number), time: clock.timestamp))
            sent.append(new)
            queue.append([new])
        }
        #expect(await queue.flush(timeout: .seconds(5)))
        #expect(backend.delivered == sent)
        #expect(queue.ledger["scripted"]?.dropped == 0)
    }

    @Test("One refused sample in a thousand is isolated with about two requests per halving")
    func bisection() async {
        for culprit in [0, 1, 499, 500, 733, 999] {
            let backend = ScriptedBackend(policy: DeliveryPolicy(maxCount: 1000), refusing: { $0 == sample(culprit) })
            let queue = BatchQueue(backends: [backend], clock: VirtualClock())
            queue.append((0..<1000).map(sample))
            #expect(await queue.flush(timeout: .seconds(60)))
            #expect(backend.delivered == (0..<1000).filter { $0 != culprit }.map(sample))
            #expect(backend.attempts <= 24, "culprit \(culprit): \(backend.attempts) requests")
        }
    }

    @Test("The queue finds every subset of refused samples in a small batch")
    func allSubsets() async {
        for subset in 0..<256 {
            let isCulprit = { @Sendable (sample: Sample) in
                guard case .event(let event) = sample, case .int(let number)? = event.attributes["number"] else {
                    return false
                }
                return subset >> number & 1 == 1
            }
            let backend = ScriptedBackend(refusing: isCulprit)
            let queue = BatchQueue(backends: [backend], clock: VirtualClock())
            queue.append((0..<8).map(sample))
            #expect(await queue.flush(timeout: .seconds(60)))
            #expect(backend.delivered == (0..<8).filter { subset >> $0 & 1 == 0 }.map(sample))
            let dead = queue.deadLetters(of: "scripted").map(\.record.sample)
            #expect(dead == (0..<8).filter { subset >> $0 & 1 == 1 }.map(sample))
        }
    }

    @Test("A server with a smaller limit causes few failed requests")
    func serverLimit() async {
        let taken = Lock(0)
        let refused = Lock(0)
        struct Limited: Backend {
            let name: BackendName = "limited"
            let policy = DeliveryPolicy(maxCount: 100)
            let taken: Lock<Int>
            let refused: Lock<Int>
            func deliver(_ batch: Batch) async -> DeliveryOutcome {
                if batch.records.count > 60 {
                    refused.withLock { $0 += 1 }
                    return .tooLarge(reason: "413")
                }
                taken.withLock { $0 += 1 }
                return .acknowledged
            }
        }
        let queue = BatchQueue(backends: [Limited(taken: taken, refused: refused)], clock: VirtualClock())
        queue.append((0..<5000).map(sample))
        #expect(await queue.flush(timeout: .seconds(60)))
        #expect(refused.withLock { $0 } * 8 < taken.withLock { $0 })
        #expect(taken.withLock { $0 } < 130)
    }

    @Test("Without a network, only backends that need none deliver; all backends deliver when the network returns")
    func offline() async {
        let clock = VirtualClock()
        let network = ReachabilitySwitch(isOnline: false)
        let remote = ScriptedBackend("remote", policy: DeliveryPolicy(maxAge: .seconds(1)))
        let local = ScriptedBackend("local", policy: DeliveryPolicy(maxAge: .seconds(1), needsNetwork: false))
        let queue = BatchQueue(backends: [remote, local], clock: clock, reachability: network)
        queue.append([sample(0)])
        await queue.waitUntilIdle()
        clock.advance(by: .seconds(1))
        await queue.waitUntilIdle()
        #expect(local.delivered.count == 1)
        #expect(remote.attempts == 0)
        network.set(isOnline: true)
        await remote.waitForAttempts(1)
        await queue.waitUntilIdle()
        #expect(remote.delivered.count == 1)
    }

    @Test("A sample that a lane sees early, without a network, waits from that moment")
    func seenEarly() async {
        let clock = VirtualClock()
        let early = EarlyLook()
        let backend = ScriptedBackend(policy: DeliveryPolicy(maxAge: .seconds(1)))
        let queue = BatchQueue(store: early, backends: [backend], clock: clock, reachability: early)
        await blocking { _ = queue.append([sample(0)]) }
        await queue.waitUntilIdle()
        clock.advance(by: .seconds(1))
        early.network.set(isOnline: true)
        await backend.waitForAttempts(1)
        await queue.waitUntilIdle()
        #expect(backend.delivered.count == 1)
    }

    @Test("A returning network ends a back-off, but not a delay that the server requested")
    func onlineAgain() async {
        for (wish, isEnded) in [(nil, true), (Duration.seconds(600), false)] {
            let clock = VirtualClock()
            let network = ReachabilitySwitch()
            let failures = Array(repeating: DeliveryOutcome.retry(after: wish, reason: "unreachable"), count: 3)
            let backend = ScriptedBackend(policy: DeliveryPolicy(maxAge: .zero), script: failures)
            // The queue notifies its lane of the network after the other lane, so its idleness shows that both know.
            let last = ScriptedBackend(
                "last",
                policy: DeliveryPolicy(maxAge: .zero),
                script: [.retry(after: nil, reason: "unreachable")]
            )
            let queue = BatchQueue(backends: [backend, last], clock: clock, reachability: network)
            queue.append([sample(0)])
            await queue.waitUntilIdle()
            #expect((backend.attempts, last.attempts) == (1, 1))
            network.set(isOnline: false)
            network.set(isOnline: true)
            await last.waitForAttempts(2)
            await queue.waitUntilIdle()
            #expect((backend.attempts > 1) == isEnded)
        }
    }
}
