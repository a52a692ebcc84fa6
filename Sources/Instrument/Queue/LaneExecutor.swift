internal import Dispatch

/// Runs one backend's deliveries on a queue of its own, so that one that blocks holds up nobody's thread but its own.
final class LaneExecutor: TaskExecutor {
    private let queue: DispatchQueue

    init(_ name: BackendName) { queue = DispatchQueue(label: "instrument.backend.\(name)") }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
