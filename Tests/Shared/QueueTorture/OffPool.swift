import Foundation
import Instrument
import LoopbackServers

/// Runs work that blocks on a thread that Swift's tasks do not share. Issues still belong to the current test.
package func offPool<Value: Sendable>(_ work: @Sendable @escaping () throws -> Value) async throws -> Value {
    try await withTaskExecutorPreference(OwnThread()) {
        // A separate function: it hops to the preferred executor.
        try await perform(work)
    }
}

private func perform<Value: Sendable>(_ work: @Sendable () throws -> Value) async throws -> Value { try work() }

/// Runs pieces of blocking work on a few threads, and adds up what they find. An error is a failure.
package func inParallel(
    _ count: Int,
    atOnce: Int = 2,
    part: String,
    _ work: @Sendable @escaping (Int) throws -> Findings
) -> Findings {
    struct State {
        var next = 0
        var done = 0
        var findings = Findings()
    }
    let state = Lock(State())
    let group = DispatchGroup()
    for _ in 0..<min(atOnce, count) {
        group.enter()
        Thread {
            while true {
                let index = state.withLock { state in
                    defer { state.next += 1 }
                    return state.next
                }
                guard index < count else { break }
                var found = Findings()
                do { found += try work(index) } catch { found.fail("\(error)") }
                // At once: a long run may be ended before its report.
                for failure in found.failures { TortureSettings.progress("\(part): failure: \(failure)") }
                let (done, failures) = state.withLock { state in
                    state.findings += found
                    state.done += 1
                    return (state.done, state.findings.failures.count)
                }
                if done % max(1, count / 20) == 0 {
                    TortureSettings.progress("\(part): \(done) of \(count) done, \(failures) failures")
                }
            }
            group.leave()
        }.start()
    }
    group.wait()
    return state.withLock { $0.findings }
}
