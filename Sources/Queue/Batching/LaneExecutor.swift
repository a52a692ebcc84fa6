internal import Dispatch

/// Runs tasks on a dedicated serial dispatch queue, outside Swift's thread pool.
///
/// A backend that blocks its thread delays no other, and a task that prefers this executor makes progress while the app
/// keeps every thread of Swift's pool busy. Child tasks, actors without a custom executor and continuations that such a
/// task awaits stay here; `Task.detached` and the main actor do not. A task that may outlive its executor's owner
/// captures the executor.
package final class LaneExecutor: TaskExecutor {
    private let queue: DispatchQueue
    #if DEBUG
    /// The line of a test that chooses how jobs and threads interleave.
    private let line = LockTurns.ofThread?.makeJobLine()
    #endif

    /// Creates an executor; `label` is the name that debuggers show.
    package init(label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        #if DEBUG
        if let line { return line { job.runSynchronously(on: self.asUnownedTaskExecutor()) } }
        #endif
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
