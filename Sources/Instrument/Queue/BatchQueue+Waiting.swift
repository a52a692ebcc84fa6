internal import Dispatch

/// Flushing where nothing can be awaited: before the process is stopped or ends.
extension BatchQueue {
    /// Delivers what was taken so far, and blocks the thread until it is settled or `timeout` has passed; true if it is settled.
    ///
    /// The flush runs on this thread and the backends' own, and needs none of those that tasks share: an app that blocks all of them
    /// loses nothing. Never call it from a task.
    @discardableResult
    public func flushAndWait(timeout: Duration) -> Bool {
        let executor = CallingThreadExecutor()
        let result = Lock(false)
        Task(executorPreference: executor) { [self] in
            let isSettled = await flush(timeout: timeout)
            result.withLock { $0 = isSettled }
            executor.finish()
        }
        // The flush keeps to its deadline by the queue's clock; whatever holds that up costs a quarter of a second more.
        executor.run(until: .now() + .nanoseconds(Int(clamping: timeout.nanoseconds)) + .milliseconds(250))
        return result.withLock { $0 }
    }
}

/// Runs a task's jobs on the thread that waits for it.
private final class CallingThreadExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isFinished = false
        /// The thread waits no more; what is left goes to where tasks run otherwise.
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
