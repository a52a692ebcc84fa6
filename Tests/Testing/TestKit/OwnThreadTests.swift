import Foundation
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@Suite("Blocking tests", .ownThread, .timeLimit(.minutes(30)))
struct OwnThreadTests {
    @Test("A test on separate threads and its child tasks block no thread of Swift's pool")
    func blocks() async {
        let release = DispatchSemaphore(value: 0)
        let count = 2 * ProcessInfo.processInfo.activeProcessorCount
        let results = await withTaskGroup(of: DispatchTimeoutResult.self) { group in
            for _ in 0..<count { group.addTask { release.wait(timeout: .now() + 900) } }
            // Only a task of the pool ends the wait.
            await Task.detached { for _ in 0..<count { release.signal() } }.value
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.allSatisfy { $0 == .success })
    }

    @Test("A blocking call returns what its body returns, throws what it throws, and blocks no signal")
    func blockingCalls() async throws {
        #expect(await blocking { 7 } == 7)
        await #expect(throws: NoServer.self) { try await blocking { throw NoServer(why: "test") } }
        let mask = await blocking {
            var signals = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &signals)
            return sigismember(&signals, SIGTERM)
        }
        #expect(mask == 0)
    }

    @Test("A counter resumes current and later waiters once it reaches their count")
    func counter() async {
        let counter = EventCounter()
        async let two: Void = counter.wait(for: 2)
        counter.increment()
        counter.increment()
        await two
        await counter.wait(for: 1)
        #expect(counter.count == 2)
        let waiter = Task { await counter.wait(for: 3) }
        waiter.cancel()
        await waiter.value
    }
}
