import Foundation
import Instrument

/// A clock on which every wait ends at once and moves the time to its end: a check of half a minute takes no time.
///
/// In `run`, the time moves when nothing else can be done at the same instant, and to the earliest end of all waits, so
/// that what is fetched beside a wait has arrived at its end.
final class SteppingClock: SchedulingClock {
    private struct State {
        var now = MonotonicInstant(nanoseconds: 0)
        var waits: [MonotonicInstant] = []
    }

    private let executor = SerialExecutor()
    private let state = Lock(State())
    private let wallStart: WallTime

    init(wallTime: WallTime = WallTime(milliseconds: 1_767_225_600_000)) { wallStart = wallTime }

    var now: MonotonicInstant { state.withLock { $0.now } }
    var wallTime: WallTime { WallTime(milliseconds: wallStart.milliseconds + now.milliseconds) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: MonotonicInstant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        state.withLock { $0.waits.append(deadline) }
        defer {
            state.withLock { state in
                if let place = state.waits.firstIndex(of: deadline) { state.waits.remove(at: place) }
            }
        }
        while !isNext(deadline) {
            await Task.yield()
            try Task.checkCancellation()
        }
        state.withLock { $0.now = max($0.now, deadline) }
    }

    /// Whether only waits are left, and this one ends first. The others wait for a step, too.
    private func isNext(_ deadline: MonotonicInstant) -> Bool {
        state.withLock { $0.waits.min() == deadline && executor.waitingCount < $0.waits.count }
    }

    /// Runs an operation and its child tasks one step at a time.
    func run<Result: Sendable>(_ operation: @Sendable () async throws -> Result) async rethrows -> Result {
        try await withTaskExecutorPreference(executor) { try await operation() }
    }

    func advance(by duration: Duration) { state.withLock { $0.now = $0.now.advanced(by: duration) } }

    func schedule(at deadline: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        state.withLock { $0.now = max($0.now, deadline) }
        action()
        return ScheduledAction {}
    }
}

/// Runs the steps of tasks one after the other, in their order.
private final class SerialExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "test.stepping-clock")
    private let waiting = Lock(0)

    /// How many steps wait, besides the one that runs.
    var waitingCount: Int { waiting.withLock { $0 } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        waiting.withLock { $0 += 1 }
        queue.async {
            self.waiting.withLock { $0 -= 1 }
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
