internal import Dispatch

/// Runs the checks of streams on threads of Dispatch.
///
/// A check parses large playlists and decodes pictures. On the threads of Swift's pool, of which there are as many as
/// processors, the responses of other streams would wait for that.
final class CheckExecutor: TaskExecutor {
    private let queue = DispatchQueue.global(qos: .utility)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
