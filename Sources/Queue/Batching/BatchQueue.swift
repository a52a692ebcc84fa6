/// The queue that delivers samples to all backends: a shared log, and a lane for each backend.
public final class BatchQueue: Sendable {
    struct State {
        var lanes: [DeliveryLane] = []
        var consent: ConsentState
    }

    let store: any SampleStore
    let clock: any SchedulingClock
    private let randomness: RandomSource
    private let reachability: any Reachability
    let privacy: PrivacyRegister
    /// Nil stands for `isErrorOrEnd`, for which no sample is copied.
    private let isPrompt: (@Sendable (Sample) -> Bool)?
    private let report: @Sendable (Diagnostic) -> Void
    let state: Lock<State>
    /// Serializes changes of consent. Never held on the path of `emit`.
    let consentChange = Lock(())
    private let refusals = Lock(RefusalBursts())
    private let networkWatch = Lock<Task<Void, Never>?>(nil)
    /// Runs the tasks that wait for lanes and for the network, without a thread of Swift's pool. Never blocks.
    private let waiting = LaneExecutor(label: "instrument.queue")

    /// Creates a queue over `store`.
    ///
    /// - Parameters:
    ///   - store: stores the samples.
    ///   - backends: receive the samples. Their names must differ: of two backends with the same name, the queue uses
    ///     the first and reports the second (``Diagnostic/Kind/duplicateBackend``).
    ///   - clock: the clock for deliveries.
    ///   - randomness: the source of the retries' jitter.
    ///   - consent: the consent of the person whom the samples describe; nil keeps the consent of the store, which is
    ///     `granted` for a new store.
    ///   - privacy: changes attributes before they are stored. By default the queue stores all attributes unchanged;
    ///     an ``Instrument/Instrument`` checks what trackers may collect.
    ///   - reachability: reports whether a network exists. Without a network, the queue makes no delivery to backends
    ///     that need one.
    ///   - report: receives a diagnostic for each drop, dead letter and retry; called on the lanes' threads.
    ///   - isPrompt: whether the queue delivers a sample at once, with all samples before it; nil for errors and ends
    ///     of playbacks, because the app may end soon after them. Receives the last sample of each call of
    ///     ``append(_:for:)``, on the path of `emit`.
    public init(
        store: any SampleStore = InMemoryStore(),
        backends: [any Backend] = [],
        clock: any SchedulingClock = SystemClock(),
        randomness: RandomSource = RandomSource(),
        consent: Consent? = nil,
        privacy: PrivacyRules = PrivacyRules(),
        reachability: any Reachability = AlwaysOnline(),
        report: @escaping @Sendable (Diagnostic) -> Void = { _ in },
        isPrompt: (@Sendable (Sample) -> Bool)? = nil
    ) {
        self.store = store
        self.clock = clock
        self.randomness = randomness
        self.privacy = PrivacyRegister(privacy, report: report)
        self.reachability = reachability
        self.isPrompt = isPrompt
        self.report = report
        let consent = consent ?? store.consent
        state = Lock(State(consent: ConsentState(consent)))
        do throws(QueueError) { try set(consent: consent) } catch {
            state.withLock { $0.consent.stopSending() }
            report(
                .store(
                    "consent \(consent) was not applied: \(error). The queue sends nothing until consent is set again."
                )
            )
        }
        // A delivery begins only when every backend has its place: what all known backends have passed is deleted.
        let lanes = backends.compactMap { makePlace(for: $0) }
        for lane in lanes { lane.start() }
        watchNetwork()
    }

    deinit {
        networkWatch.withLock { $0 }?.cancel()
        for lane in lanes { lane.close() }
    }

    var lanes: [DeliveryLane] { state.withLock { $0.lanes } }

    /// Adds a backend.
    ///
    /// - Returns: false if the queue already has a backend of that name. The queue then ignores the new backend and
    ///   reports ``Diagnostic/Kind/duplicateBackend``; ``replace(backend:timeout:)`` replaces a backend.
    @discardableResult
    public func add(_ backend: any Backend) -> Bool {
        guard let lane = makePlace(for: backend) else { return false }
        lane.start()
        return true
    }

    /// Creates a backend's place in the store, and its lane, which the caller starts; nil if the name is taken.
    private func makePlace(for backend: any Backend) -> DeliveryLane? {
        let name = backend.name
        if !lanes.contains(where: { $0.name == name }) {
            // Created outside the lock, which `emit` takes: a store may save the position at which the backend begins.
            let lane = makeLane(backend)
            let isNew = state.withLock { state in
                if state.lanes.contains(where: { $0.name == name }) { return false }
                if state.consent.isHeld { lane.hold() }
                state.lanes.append(lane)
                return true
            }
            if isNew { return lane }
        }
        report(.duplicateBackend(name))
        return nil
    }

    func makeLane(_ backend: any Backend, replacing predecessor: DeliveryLane? = nil) -> DeliveryLane {
        DeliveryLane(
            backend: backend,
            replacing: predecessor,
            store: store,
            clock: clock,
            randomness: randomness,
            reachability: reachability,
            report: report
        )
    }

    /// Flushes a backend within `timeout`, ends its service, and discards its samples that are still queued.
    ///
    /// Cancellation of the calling task while samples are queued ends the wait, and the queue keeps the backend with
    /// its samples.
    ///
    /// Makes progress like ``flush(timeout:isolation:)`` while the app's tasks keep every thread busy.
    /// - Returns: true if no sample was discarded; false if samples were discarded, or the removal was cancelled.
    @discardableResult
    public func remove(
        _ backend: BackendName,
        timeout: Duration,
        isolation: isolated (any Actor)? = #isolation
    ) async -> Bool {
        guard let lane = lanes.first(where: { $0.name == backend }) else { return true }
        let deadline = clock.now.advanced(by: timeout)
        return await all([lane]) { [self] lane in
            let isEmpty = await lane.flush(until: deadline)
            if !isEmpty, Task.isCancelled { return false }
            await end(backend, by: deadline)
            store.forget(lane.name)
            return isEmpty
        }
    }

    /// Ends a backend's lane, and the lane that replaces it meanwhile.
    private func end(_ backend: BackendName, by deadline: MonotonicInstant) async {
        while let lane = lanes.first(where: { $0.name == backend }) {
            // Closed first: an erasure or a denial that does not find the lane need not stop it, and no lane replaces
            // a closed one.
            lane.close()
            let isLast = state.withLock { state in
                let index = state.lanes.firstIndex { $0 === lane }
                if let index { state.lanes.remove(at: index) }
                return index != nil
            }
            await lane.end(by: deadline)
            if isLast { return }
        }
    }

    /// Appends samples in order, all of them or none. Never waits for a backend, and for a disk no longer than the
    /// store's documented limit.
    ///
    /// Without consent or backends the queue stores nothing. It skips and reports metrics that are NaN or infinite.
    ///
    /// - Parameters:
    ///   - samples: the samples.
    ///   - service: the only service that receives the samples (``Backend/service``); nil for every backend. Backends
    ///     that name no service, such as consoles and files, receive the samples in both cases.
    @discardableResult
    public func append(_ samples: [Sample], for service: ServiceName? = nil) -> EmitResult {
        let kept = admitted(service == nil ? samples : samples.map { $0.addressed(to: service) })
        if kept.isEmpty { return .notCollected }
        do throws(QueueError) {
            let (lanes, bytes) = try state.withLock { (state: inout State) throws(QueueError) in
                if !state.consent.isCollecting || state.lanes.isEmpty { return ([DeliveryLane](), 0) }
                return (state.lanes, try store.append(kept))
            }
            if lanes.isEmpty { return .notCollected }
            let isPrompt = self.isPrompt == nil ? kept[kept.count - 1].isErrorOrEnd : asksForDelivery(kept)
            let added = Backlog(count: kept.count, bytes: bytes)
            for index in lanes.indices { lanes[index].appended(added, isPrompt: isPrompt) }
            return .stored
        } catch {
            if refusals.withLock({ $0.isNews(error.code, at: clock.now) }) { report(.notQueued(error)) }
            return .notStored(error)
        }
    }

    /// Apart, so that no sample is copied for the default.
    @inline(never)
    private func asksForDelivery(_ samples: [Sample]) -> Bool {
        guard let isPrompt, let last = samples.last else { return false }
        return isPrompt(last)
    }

    /// The samples to store: without metrics that no encoder can write, and with the attributes that the privacy
    /// register admits.
    private func admitted(_ samples: [Sample]) -> [Sample] {
        // One loop by index, because every emit runs it: samples without a change cost neither a copy nor a lookup.
        var (isFinite, isAdmitted) = (true, true)
        let limit = privacy.passingLimit
        for index in samples.indices {
            if !samples[index].isFinite { isFinite = false }
            if !samples[index].hasOnlyNames(below: limit) { isAdmitted = false }
        }
        if !isAdmitted { isAdmitted = privacy.admits(samples) }
        if isFinite, isAdmitted, !privacy.hasFieldRules { return samples }
        return samples.compactMap { sample in
            if case .metric(let metric) = sample, !metric.isFinite {
                report(.metricNotFinite(metric.name, metric.tracker))
                return nil
            }
            return privacy.storable(sample, isAdmitted: isAdmitted)
        }
    }

    /// Delivers every sample that the queue has accepted so far. Samples that are not settled within `timeout` stay
    /// queued.
    ///
    /// Cancellation of the calling task ends the wait: the flush then returns false, unless every sample was settled
    /// before. The lanes deliver the remaining samples by their policies.
    ///
    /// Blocks no thread. Delivery and deadline need no thread of Swift's pool: the flush makes progress while the app's
    /// tasks keep all of its threads busy or blocked. The caller resumes on its own executor: on a busy pool when a
    /// thread is free, on the main actor as soon as the flush has ended.
    ///
    /// - Returns: true if every sample was settled within `timeout`.
    @discardableResult
    public func flush(timeout: Duration, isolation: isolated (any Actor)? = #isolation) async -> Bool {
        let deadline = clock.now.advanced(by: timeout)
        return await all(lanes) { await $0.flush(until: deadline) }
    }

    /// Begins a flush, and returns at once.
    package func startFlush(timeout: Duration) {
        // The task holds the queue, and the queue holds the executor.
        Task(executorPreference: waiting) { [self] in await flush(timeout: timeout) }
    }

    /// Flushes within `timeout`, then delivers no more and ends the backends' service; true if nothing was left.
    ///
    /// Cancelling the task does not shorten the shutdown, so that an app that was cancelled can still deliver;
    /// `timeout` does. A delivery that is still in flight when the time is up is cancelled; its samples stay. Runs like
    /// ``flush(timeout:isolation:)`` while the app's tasks keep every thread busy.
    @discardableResult
    public func shutdown(timeout: Duration, isolation: isolated (any Actor)? = #isolation) async -> Bool {
        let deadline = clock.now.advanced(by: timeout)
        // A separate task, which the caller's cancellation does not reach.
        let shutdown = Task(executorPreference: waiting) { [self, lanes] in
            await all(lanes, isolation: nil) { lane in
                let isEmpty = await lane.flush(until: deadline)
                lane.close()
                await lane.end(by: deadline)
                return isEmpty
            }
        }
        return await shutdown.value
    }

    /// Waits until every lane has delivered what is due now and waits for time to pass, for samples or for the network;
    /// returns early if the current task is cancelled.
    ///
    /// For tests on a `VirtualClock`: what an advance of the clock makes due is delivered when this returns. A lane
    /// whose backend has not answered yet is not idle.
    ///
    /// ```swift
    /// clock.advance(by: .seconds(5))
    /// await queue.waitUntilIdle()
    /// #expect(backend.samples.count == 1)
    /// ```
    public func waitUntilIdle() async {
        // A delivery may cause work for another lane.
        repeat {
            for lane in lanes { await lane.waitUntilIdle() }
        } while !Task.isCancelled && !lanes.allSatisfy(\.isIdle)
    }

    /// The ledger of each backend.
    public var ledger: [BackendName: Ledger] {
        let names = lanes.map(\.name)
        return Dictionary(names.map { ($0, store.ledger(of: $0)) }) { first, _ in first }
    }

    /// The samples that a backend will never accept, with the reasons.
    public func deadLetters(of backend: BackendName) -> [DeadLetter] { store.deadLetters(of: backend) }

    /// Notifies the backends that the instrument is ready.
    func ready() { for lane in lanes { lane.backend.ready() } }

    /// Runs `body` for all lanes at the same time, without a thread of Swift's pool. Returns true if every `body`
    /// returns true.
    private func all(
        _ lanes: [DeliveryLane],
        isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable (DeliveryLane) async -> Bool
    ) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for lane in lanes { group.addTask(executorPreference: waiting) { await body(lane) } }
            var isTrue = true
            for await isTrueForOne in group { isTrue = isTrue && isTrueForOne }
            return isTrue
        }
    }

    private func watchNetwork() {
        let changes = reachability.changes()
        let watch = Task(executorPreference: waiting) { [weak self, waiting] in
            for await isOnline in changes {
                guard let lanes = self?.lanes else { break }
                for lane in lanes { lane.networkChanged(isOnline: isOnline) }
            }
            // The task may outlive the queue and needs the executor until its end.
            withExtendedLifetime(waiting) {}
        }
        networkWatch.withLock { $0 = watch }
    }
}
