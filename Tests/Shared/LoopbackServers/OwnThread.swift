internal import Dispatch

/// Runs tasks on dedicated threads: for tests that block, or that measure time while others block the threads that
/// tasks share.
package final class OwnThread: TaskExecutor {
    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // A serial queue gets a thread beyond those of Swift's pool; a new one for each job, so that a child task runs
        // while its parent blocks. The jobs of one task come one after another in any case.
        DispatchQueue(label: "test.own-thread").async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
