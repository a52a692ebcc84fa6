internal import Synchronization

/// The one queue that feeds every backend: a shared log, and a lane per backend.
public final class BatchQueue: Sendable {
    struct State {
        var lanes: [DeliveryLane] = []
        var consent: Consent
        /// Nothing is sent: there is no consent, or the store could not carry it out.
        var isHeld = false
        var isCollecting = true
    }

    let store: any SampleStore
    let clock: any SchedulingClock
    private let randomness: RandomSource
    private let reachability: any Reachability
    let privacy: PrivacyRules
    private let hasFieldRules: Bool
    private let gate: Lock<FieldGate>
    /// Names with smaller numbers may all pass, so that most samples are let in without a lock.
    private let passingPrefix: Atomic<UInt32>
    private let isPrompt: @Sendable (Sample) -> Bool
    private let report: @Sendable (Diagnostic) -> Void
    let state: Lock<State>
    /// Held while consent changes, one change at a time; never on the path of `emit`.
    let consentChange = Lock(())
    private let networkWatch = Lock<Task<Void, Never>?>(nil)
    /// Runs what waits for lanes and for the network, and never blocks: neither needs a thread of Swift's pool.
    private let waiting = LaneExecutor(label: "instrument.queue")

    /// Creates a queue over `store`.
    ///
    /// - Parameters:
    ///   - store: keeps the samples.
    ///   - backends: where they are delivered to. Names must differ: of two with one name only the first is used, and the
    ///     other is reported (``Diagnostic/duplicateBackend(_:)``).
    ///   - clock: times deliveries.
    ///   - randomness: the jitter of retries.
    ///   - consent: what the person whose samples these are has allowed; nil leaves the consent that the store is under,
    ///     which for a new store is `granted`.
    ///   - privacy: changes attributes before they are stored. By default the queue stores all attributes unchanged;
    ///     an ``Instrument/Instrument`` checks what trackers may collect.
    ///   - reachability: whether there is a network; without one, backends that need it are not tried.
    ///   - report: receives a diagnostic for each drop, dead letter and retry; called from the lanes' threads.
    ///   - isPrompt: whether a sample is delivered at once, with all that waits before it; by default errors and ends of
    ///     playbacks are, since an app may not live much longer. Of samples that come together the last one is asked;
    ///     called on the path of `emit`.
    public init(
        store: any SampleStore = InMemoryStore(),
        backends: [any Backend] = [],
        clock: any SchedulingClock = SystemClock(),
        randomness: RandomSource = RandomSource(),
        consent: Consent? = nil,
        privacy: PrivacyRules = PrivacyRules(),
        reachability: any Reachability = AlwaysOnline(),
        report: @escaping @Sendable (Diagnostic) -> Void = { _ in },
        isPrompt: @escaping @Sendable (Sample) -> Bool = BatchQueue.isErrorOrEnd
    ) {
        self.store = store
        self.clock = clock
        self.randomness = randomness
        self.privacy = privacy
        hasFieldRules = !privacy.fields.isEmpty
        let gate = FieldGate(privacy)
        passingPrefix = Atomic(gate.passingPrefix)
        self.gate = Lock(gate)
        self.reachability = reachability
        self.isPrompt = isPrompt
        self.report = report
        let consent = consent ?? store.consent
        state = Lock(State(consent: consent))
        do throws(QueueError) { try set(consent: consent) } catch {
            report(.store("consent \(consent) is not carried out, nothing is sent until it is set again: \(error)"))
        }
        for backend in backends { add(backend) }
        watchNetwork()
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

    deinit {
        networkWatch.withLock { $0 }?.cancel()
        for lane in lanes { lane.close() }
    }

    var lanes: [DeliveryLane] { state.withLock { $0.lanes } }

    /// Delivers to `backend`, too, from now on.
    ///
    /// - Returns: false if the queue has a backend of that name already. The new one is then not used, and
    ///   ``Diagnostic/duplicateBackend(_:)`` is reported; ``replace(backend:timeout:)`` exchanges the two.
    @discardableResult
    public func add(_ backend: any Backend) -> Bool {
        let name = backend.name
        if !lanes.contains(where: { $0.name == name }) {
            // Made outside the lock, which `emit` takes: a store may write down where the backend begins.
            let lane = makeLane(backend)
            let isNew = state.withLock { state in
                if state.lanes.contains(where: { $0.name == name }) { return false }
                if state.isHeld { lane.hold() }
                state.lanes.append(lane)
                return true
            }
            if isNew {
                lane.start()
                return true
            }
        }
        report(.duplicateBackend(name))
        return false
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

    /// Flushes a backend within `timeout`, ends its service and gives up what it was not sent by then.
    ///
    /// Cancelling the task while samples are queued ends the wait, and the backend stays with its samples.
    ///
    /// - Returns: true if nothing was given up; false if samples were given up, or the removal was cancelled. Runs like ``flush(timeout:isolation:)`` while the app's tasks keep every thread busy.
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
            state.withLock { $0.lanes.removeAll { $0 === lane } }
            lane.close()
            await lane.end(by: deadline)
            store.forget(lane.name)
            return isEmpty
        }
    }

    /// Takes samples, in order, all of them or none. Never waits for a backend, nor for a disk longer than the store says.
    ///
    /// Without consent or backends it takes none; metrics that are NaN or infinite are left out and reported.
    ///
    /// - Parameters:
    ///   - samples: the samples.
    ///   - service: the only service that receives the samples (``Backend/service``); nil for every backend. Backends that
    ///     name no service, such as consoles and files, receive the samples in both cases.
    @discardableResult
    public func append(_ samples: [Sample], for service: ServiceName? = nil) -> EmitResult {
        let kept = admitted(service == nil ? samples : samples.map { $0.addressed(to: service) })
        if kept.isEmpty { return .notCollected }
        do throws(QueueError) {
            let (lanes, bytes) = try state.withLock { (state: inout State) throws(QueueError) in
                if !state.isCollecting || state.lanes.isEmpty { return ([DeliveryLane](), 0) }
                return (state.lanes, try store.append(kept))
            }
            if lanes.isEmpty { return .notCollected }
            let isPrompt = kept.last.map(isPrompt) ?? false
            for lane in lanes { lane.appended(Backlog(count: kept.count, bytes: bytes), isPrompt: isPrompt) }
            return .stored
        } catch {
            report(.notQueued(error))
            return .notStored(error)
        }
    }

    /// What may be stored: no metric that no encoder could write, and attributes by the rules.
    private func admitted(_ samples: [Sample]) -> [Sample] {
        // A loop, since every emit comes here: nothing is copied or called where nothing is wrong.
        var (isFinite, isAdmitted) = (true, true)
        let limit = passingPrefix.load(ordering: .acquiring)
        for sample in samples {
            if !sample.isFinite { isFinite = false }
            if !sample.hasOnlyNames(below: limit) { isAdmitted = false }
        }
        if !isAdmitted { isAdmitted = gate.withLock { $0.admits(samples) } }
        if isFinite, isAdmitted, !hasFieldRules { return samples }
        return samples.compactMap { sample in
            if case .metric(let metric) = sample, !metric.isFinite {
                report(.metricNotFinite(metric.name, metric.tracker))
                return nil
            }
            return privacy.applied(to: isAdmitted ? sample : filtered(sample))
        }
    }

    /// The sample without the fields that may not be sent.
    private func filtered(_ sample: Sample) -> Sample {
        var sample = sample
        let undeclared = gate.withLock { gate in
            defer { passingPrefix.store(gate.passingPrefix, ordering: .releasing) }
            return gate.filter(&sample.attributes)
        }
        for name in undeclared { report(.undeclared(name)) }
        return sample
    }

    /// Knows these fields, too, from now on: they may be sent, unless they are off.
    public func declare(_ fields: PrivacyCatalogue) { if !fields.isEmpty { learn { $0.declare(fields) } } }

    /// Knows these fields of a tracker; where the app has declared one, that counts.
    func declare(collected fields: PrivacyCatalogue) {
        if !fields.isEmpty { learn { $0.declare(collected: fields) } }
    }

    private func learn(_ body: (inout FieldGate) -> Void) {
        gate.withLock { gate in
            body(&gate)
            passingPrefix.store(gate.passingPrefix, ordering: .releasing)
        }
    }

    /// Reports a field that a tracker collected and nobody declared, once.
    func reportUndeclared(_ name: AttributeName) {
        if gate.withLock({ $0.isNews(name) }) { report(.undeclared(name)) }
    }

    /// All fields that are declared so far.
    public var catalogue: PrivacyCatalogue { gate.withLock { $0.catalogue } }

    /// Delivers what was taken so far; true if all of it was settled within `timeout`. What was not stays queued.
    ///
    /// Cancelling the task ends the wait: the flush then returns false, unless everything was settled by then. The lanes
    /// deliver what stays queued by their policies.
    ///
    /// Blocks no thread. The delivery and the deadline need none of the threads that Swift's tasks share: the flush makes progress while
    /// the app's own tasks keep all of them busy or blocked. The caller resumes where it was called: a task on such a busy pool resumes
    /// when a thread of the pool is free, a task of the main actor as soon as the flush is over.
    @discardableResult
    public func flush(timeout: Duration, isolation: isolated (any Actor)? = #isolation) async -> Bool {
        let deadline = clock.now.advanced(by: timeout)
        return await all(lanes) { await $0.flush(until: deadline) }
    }

    /// Flushes within `timeout`, then delivers no more and ends the backends' service; true if nothing was left.
    ///
    /// Cancelling the task does not shorten the shutdown, so that an app that was cancelled can still deliver; `timeout` does.
    /// A delivery that is still in flight when the time is up is cancelled; its samples stay. Runs like ``flush(timeout:isolation:)`` while
    /// the app's tasks keep every thread busy.
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

    /// Waits until every lane has delivered what is due now and waits for time to pass, for samples or for the network; returns
    /// early if the current task is cancelled.
    ///
    /// For tests on a `VirtualClock`: what an advance of the clock makes due is delivered when this returns. A lane whose backend
    /// has not answered yet is not idle.
    ///
    /// ```swift
    /// clock.advance(by: .seconds(5))
    /// await queue.waitUntilIdle()
    /// #expect(backend.samples.count == 1)
    /// ```
    public func waitUntilIdle() async {
        // A delivery may give another lane something to do.
        repeat {
            for lane in lanes { await lane.waitUntilIdle() }
        } while !Task.isCancelled && !lanes.allSatisfy(\.isIdle)
    }

    /// Where each backend's samples are.
    public var ledger: [BackendName: Ledger] {
        let names = lanes.map(\.name)
        return Dictionary(names.map { ($0, store.ledger(of: $0)) }) { first, _ in first }
    }

    /// What a backend will never take, and why.
    public func deadLetters(of backend: BackendName) -> [DeadLetter] { store.deadLetters(of: backend) }

    /// Tells the backends that the instrument is ready.
    func ready() { for lane in lanes { lane.backend.ready() } }

    /// Runs `body` for each of the lanes at once, on none of the threads that tasks share; true if it is for all of them.
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
            // The task may outlive the queue, and needs its executor to the end.
            withExtendedLifetime(waiting) {}
        }
        networkWatch.withLock { $0 = watch }
    }
}
