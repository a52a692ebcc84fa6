extension SchedulingClock {
    /// Suspends the current task until the clock's alarm at `deadline`; throws if the task is cancelled meanwhile.
    func sleepUntilAlarm(at deadline: MonotonicInstant) async throws {
        try Task.checkCancellation()
        if deadline <= now { return }
        let sleeper = Sleeper()
        let scheduled = schedule(at: deadline) { sleeper.wake(.success(())) }
        // A virtual clock may have been advanced meanwhile.
        if deadline <= now { sleeper.wake(.success(())) }
        try await withTaskCancellationHandler {
            try await sleeper.wait()
        } onCancel: {
            scheduled.cancel()
            sleeper.wake(.failure(CancellationError()))
        }
    }
}

/// A task that sleeps until it is woken, exactly once.
final class Sleeper: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Void, any Error>)
        case woken(Result<Void, any Error>)
    }

    private let state = Lock(State.idle)

    func wait() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let result: Result<Void, any Error>? = state.withLock { state in
                if case .woken(let result) = state { return result }
                state = .waiting(continuation)
                return nil
            }
            if let result { continuation.resume(with: result) }
        }
    }

    func wake(_ result: Result<Void, any Error>) {
        let continuation: CheckedContinuation<Void, any Error>? = state.withLock { state in
            switch state {
            case .idle:
                state = .woken(result)
                return nil
            case .waiting(let continuation):
                state = .woken(result)
                return continuation
            case .woken:
                return nil
            }
        }
        continuation?.resume(with: result)
    }
}
