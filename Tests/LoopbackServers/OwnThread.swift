internal import Dispatch

/// Runs tasks on a thread of their own: for tests that measure time, while others block the threads that tasks share.
package final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "test.own-thread")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
