import InstrumentTestKit
import Testing

@testable import Instrument

@Suite("Cancelled waits", .timeLimit(.minutes(30)))
struct CancelledWaitTests {
    /// Never advanced: a wait that ignores its cancellation reaches the suite's time limit.
    private let clock = VirtualClock()

    private func busyBackend() -> ScriptedBackend {
        ScriptedBackend(script: [.retry(after: .seconds(100), reason: "busy")])
    }

    /// Runs `body` in a task that is cancelled before it begins.
    private func cancelled<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await body()
        }.value
    }

    @Test("A flush returns false when its task is cancelled, and the samples are delivered later")
    func flush() async {
        let backend = busyBackend()
        let queue = BatchQueue(backends: [backend], clock: clock)
        queue.append([sample(0)])
        let flush = Task { await queue.flush(timeout: .seconds(3600)) }
        await backend.waitForAttempts(1)
        await clock.waitUntilPending(at: clock.now.advanced(by: .seconds(3600)))
        flush.cancel()
        #expect(await flush.value == false)
        #expect(queue.ledger["scripted"]?.queued == 1)
        await queue.waitUntilIdle()
        clock.advance(by: .seconds(200))
        await queue.waitUntilIdle()
        #expect(queue.ledger["scripted"]?.acknowledged == 1)
    }

    @Test("A flush in a cancelled task returns at once: false with queued samples, true without")
    func cancelledBefore() async {
        let backend = busyBackend()
        let queue = BatchQueue(backends: [backend], clock: clock)
        #expect(await cancelled { await queue.flush(timeout: .seconds(3600)) })
        queue.append([sample(0)])
        #expect(await cancelled { await queue.flush(timeout: .seconds(3600)) } == false)
    }

    @Test("A cancelled removal leaves the backend and its samples")
    func removal() async {
        let backend = busyBackend()
        let queue = BatchQueue(backends: [backend], clock: clock)
        queue.append([sample(0)])
        let removal = Task { await queue.remove("scripted", timeout: .seconds(3600)) }
        await backend.waitForAttempts(1)
        await clock.waitUntilPending(at: clock.now.advanced(by: .seconds(3600)))
        removal.cancel()
        #expect(await removal.value == false)
        #expect((queue.ledger["scripted"]?.queued, backend.endCount) == (1, 0))
        await queue.waitUntilIdle()
        clock.advance(by: .seconds(200))
        await queue.waitUntilIdle()
        #expect(backend.delivered == [sample(0)])
    }

    @Test("A shutdown in a cancelled task still delivers, and ends the backends' service")
    func shutdown() async {
        let backend = ScriptedBackend(policy: DeliveryPolicy(maxAge: .seconds(3600)))
        let queue = BatchQueue(backends: [backend], clock: clock)
        queue.append([sample(0)])
        #expect(await cancelled { await queue.shutdown(timeout: .seconds(5)) })
        #expect((backend.delivered, backend.endCount) == ([sample(0)], 1))
    }

    @Test("A cancelled wait at a gate returns false, and true once the gate is open")
    func gate() async {
        let (gate, clock) = (Gate(), clock)
        let deadline = clock.now.advanced(by: .seconds(60))
        let waits = [Task { await gate.wait() }, Task { await gate.wait(until: deadline, on: clock) }]
        await clock.waitUntilPending(at: deadline)
        for wait in waits {
            wait.cancel()
            #expect(await wait.value == false)
        }
        #expect(clock.pendingCount == 0)
        #expect(await cancelled { await gate.wait() } == false)
        #expect(await cancelled { await gate.wait(until: deadline, on: clock) } == false)
        gate.open()
        #expect(await cancelled { await gate.wait() })
        #expect(await cancelled { await gate.wait(until: deadline, on: clock) })
        await cancelled { await gate.waitDespiteCancellation() }
    }
}
