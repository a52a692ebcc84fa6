/// The one queue that feeds every backend: a shared log, and a lane per backend.
public final class BatchQueue: Sendable {
    private let store: any SampleStore
    private let clock: any SchedulingClock
    private let randomness: RandomSource
    private let isPrompt: @Sendable (Sample) -> Bool
    private let report: @Sendable (Diagnostic) -> Void
    private let lanes = Lock([DeliveryLane]())

    /// Creates a queue over `store`.
    ///
    /// - Parameters:
    ///   - store: keeps the samples.
    ///   - backends: where they are delivered to; of two with one name the first counts.
    ///   - clock: times deliveries.
    ///   - randomness: the jitter of retries.
    ///   - report: is told what is dropped, dead or tried again; called from the lanes' threads.
    ///   - isPrompt: whether a sample is delivered at once, with all that waits before it; by default errors and ends of
    ///     playbacks are, since an app may not live much longer. Of samples that come together the last one is asked;
    ///     called on the path of `emit`.
    public init(
        store: any SampleStore = InMemoryStore(),
        backends: [any Backend] = [],
        clock: any SchedulingClock = SystemClock(),
        randomness: RandomSource = RandomSource(),
        report: @escaping @Sendable (Diagnostic) -> Void = { _ in },
        isPrompt: @escaping @Sendable (Sample) -> Bool = BatchQueue.isErrorOrEnd
    ) {
        self.store = store
        self.clock = clock
        self.randomness = randomness
        self.isPrompt = isPrompt
        self.report = report
        for backend in backends { add(backend) }
    }

    /// Whether a sample is an error or the end of a playback.
    @Sendable
    public static func isErrorOrEnd(_ sample: Sample) -> Bool {
        guard case .event(let event) = sample else { return false }
        switch event.action {
        case .error, .adError, .end, .stop: return true
        default: return false
        }
    }

    deinit { for lane in lanes.withLock({ $0 }) { lane.close() } }

    /// Delivers to `backend`, too, from now on; false if there is one of that name already.
    @discardableResult
    public func add(_ backend: any Backend) -> Bool {
        let lane = lanes.withLock { lanes -> DeliveryLane? in
            if lanes.contains(where: { $0.backend.name == backend.name }) { return nil }
            let lane = DeliveryLane(
                backend: backend,
                store: store,
                clock: clock,
                randomness: randomness,
                report: report
            )
            lanes.append(lane)
            return lane
        }
        lane?.start()
        return lane != nil
    }

    /// Flushes a backend within `timeout`, ends its service and gives up what it was not sent by then.
    ///
    /// Returns true if nothing was given up.
    @discardableResult
    public func remove(_ backend: BackendName, timeout: Duration) async -> Bool {
        guard let lane = lanes.withLock({ $0.first { $0.backend.name == backend } }) else { return true }
        let deadline = clock.now.advanced(by: timeout)
        let isEmpty = await lane.flush(until: deadline)
        lanes.withLock { $0.removeAll { $0 === lane } }
        lane.close()
        _ = await lane.waitUntilEnded(until: deadline)
        store.forget(backend)
        return isEmpty
    }

    /// Takes samples, in order. Never waits for a backend.
    public func append(_ samples: [Sample]) {
        let lanes = lanes.withLock { $0 }
        if lanes.isEmpty || samples.isEmpty { return }
        do throws(QueueError) {
            let bytes = try store.append(samples)
            let isPrompt = samples.last.map(isPrompt) ?? false
            for lane in lanes { lane.appended(Backlog(count: samples.count, bytes: bytes), isPrompt: isPrompt) }
        } catch {
            report(.notQueued(error))
        }
    }

    /// Delivers what was taken so far; true if all of it was settled within `timeout`. What was not stays queued.
    @discardableResult
    public func flush(timeout: Duration) async -> Bool {
        let deadline = clock.now.advanced(by: timeout)
        return await all { await $0.flush(until: deadline) }
    }

    /// Flushes within `timeout`, then delivers no more and ends the backends' service; true if nothing was left.
    @discardableResult
    public func shutdown(timeout: Duration) async -> Bool {
        let deadline = clock.now.advanced(by: timeout)
        return await all { lane in
            let isEmpty = await lane.flush(until: deadline)
            lane.close()
            _ = await lane.waitUntilEnded(until: deadline)
            return isEmpty
        }
    }

    /// Where each backend's samples are.
    public var ledger: [BackendName: Ledger] {
        let names = lanes.withLock { $0.map(\.backend.name) }
        return Dictionary(names.map { ($0, store.ledger(of: $0)) }) { first, _ in first }
    }

    /// What a backend will never take, and why.
    public func deadLetters(of backend: BackendName) -> [DeadLetter] { store.deadLetters(of: backend) }

    /// Tells the backends that the instrument is ready.
    func ready() { for lane in lanes.withLock({ $0 }) { lane.backend.ready() } }

    private func all(_ body: @escaping @Sendable (DeliveryLane) async -> Bool) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for lane in lanes.withLock({ $0 }) { group.addTask { await body(lane) } }
            return await group.reduce(true) { $0 && $1 }
        }
    }
}
