internal import Dispatch
internal import Instrument

/// The dispatch queue for work that may wait longer for the disk than a drain.
///
/// A drain requests maintenance, which drains: the queue refers to the maintenance weakly, so that neither a request
/// nor the drainer retains a released store.
final class MaintenanceQueue: Sendable {
    private struct Worker {
        weak var maintenance: Maintenance?
    }

    let queue = DispatchQueue(label: "instrument.durable-queue")
    private let worker = Lock(Worker())

    /// Gives later work to a maintenance.
    func begin(with maintenance: Maintenance) { worker.withLock { $0.maintenance = maintenance } }

    func async(_ work: @escaping @Sendable (Maintenance) -> Void) {
        queue.async { [worker] in worker.withLock({ $0.maintenance }).map(work) }
    }

    /// Schedules a maintenance after samples, as the policy for synchronizing says.
    func schedule(_ synchronization: DurableConfiguration.Synchronization) {
        switch synchronization {
        case .interval(let interval):
            queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: interval.nanoseconds))) { [worker] in
                worker.withLock({ $0.maintenance })?.maintain()
            }
        default: async { $0.maintain() }
        }
    }
}
