/// The one queue that feeds every backend: a shared log, and a lane per backend.
public final class BatchQueue: Sendable {
    private let store: any SampleStore
    private let clock: any SchedulingClock
    private let lanes: [DeliveryLane]

    /// Creates a queue over `store` that delivers to `backends`, whose names have to differ.
    public init(store: any SampleStore, backends: [any Backend], clock: any SchedulingClock = SystemClock()) {
        self.store = store
        self.clock = clock
        lanes = backends.map { DeliveryLane(backend: $0, store: store, clock: clock) }
        for lane in lanes { Task { await lane.run() } }
    }

    deinit { for lane in lanes { lane.close() } }

    /// Takes samples, in order. Never waits for a backend.
    public func append(_ samples: [Sample]) {
        if lanes.isEmpty || samples.isEmpty { return }
        store.append(samples)
        for lane in lanes { lane.appended(samples.count) }
    }

    /// Delivers what was taken so far; true if all of it was settled within `timeout`. What was not stays queued.
    @discardableResult
    public func flush(timeout: Duration) async -> Bool {
        let deadline = clock.now.advanced(by: timeout)
        return await withTaskGroup(of: Bool.self) { group in
            for lane in lanes { group.addTask { await lane.flush(until: deadline) } }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    /// Flushes within `timeout`, then delivers no more; true if nothing was left.
    @discardableResult
    public func shutdown(timeout: Duration) async -> Bool {
        let isEmpty = await flush(timeout: timeout)
        for lane in lanes { lane.close() }
        return isEmpty
    }

    /// Where each backend's samples are.
    public var ledger: [BackendName: Ledger] {
        Dictionary(lanes.map { ($0.backend.name, store.ledger(of: $0.backend.name)) }) { first, _ in first }
    }
}
