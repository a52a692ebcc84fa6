internal import Dispatch

/// Flushes for code that cannot await, for example before the process stops or ends.
extension BatchQueue {
    /// Delivers every sample that the queue has accepted so far. Blocks the thread until these samples are settled or
    /// `timeout` has passed.
    ///
    /// The flush runs on the calling thread and on the backends' threads. It needs no thread of Swift's pool, and so
    /// works while the app blocks all of them. Never call it from a task.
    ///
    /// - Returns: true if every sample is settled.
    @discardableResult
    public func flushAndWait(timeout: Duration) -> Bool {
        let executor = CallingThreadExecutor()
        let result = Lock(false)
        Task(executorPreference: executor) { [self] in
            let isSettled = await flush(timeout: timeout)
            result.withLock { $0 = isSettled }
            executor.finish()
        }
        // The flush ends at its deadline on the queue's clock. The margin is for a clock or a thread that is late.
        executor.run(until: .now() + .nanoseconds(Int(clamping: timeout.nanoseconds)) + .milliseconds(250))
        return result.withLock { $0 }
    }
}

/// Runs a task's jobs on the thread that waits for it.
private final class CallingThreadExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isFinished = false
        /// The thread no longer waits: remaining jobs run on a global queue.
        var isAbandoned = false
    }

    private let state = Lock(State())
    private let news = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isAbandoned = state.withLock { state in
            if !state.isAbandoned { state.jobs.append(job) }
            return state.isAbandoned
        }
        if isAbandoned { runElsewhere(job) } else { news.signal() }
    }

    func finish() {
        state.withLock { $0.isFinished = true }
        news.signal()
    }

    func run(until deadline: DispatchTime) {
        while news.wait(timeout: deadline) == .success {
            let job = state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
            job?.runSynchronously(on: asUnownedTaskExecutor())
            if state.withLock({ $0.isFinished && $0.jobs.isEmpty }) { return }
        }
        let left = state.withLock { state in
            state.isAbandoned = true
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in left { runElsewhere(job) }
    }

    private func runElsewhere(_ job: UnownedJob) {
        DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
