/// Feeds one backend from the store: waits until a batch is due, delivers it, settles it.
///
/// Lanes share nothing but the store, so that a slow or failing backend delays no other.
final class DeliveryLane: Sendable {
    struct State {
        /// Since when the oldest sample not yet delivered waits.
        var waitingSince: MonotonicInstant?
        /// What the store was last seen to hold for this backend; only tells `appended` when to wake the lane.
        var pending = Backlog()
        /// Up to which count samples are not to wait for company.
        var promptGoal: Int?
        var flushes: [(goal: Int, gate: Gate)] = []
        var inFlight: Task<DeliveryOutcome, Never>?
        /// There is no consent to send.
        var isHeld = false
        /// Counts the events after which a batch that was read and not sent must not be sent.
        var epoch = 0
        var cameOnline = false
        var isSilenced = false
        var isClosed = false
        /// The lane of the backend that this lane's backend replaces, until that lane has ended.
        var predecessor: DeliveryLane?
        /// The lane of the backend that replaces this lane's.
        var successor: DeliveryLane?
        /// What this lane has reported as dropped when it ended.
        var reportedDrops: [DropReason: Int] = [:]
        /// How often the lane was woken, and how many of these wake-ups it has dealt with.
        var wakeCount = 0
        var handledWakeCount = 0
        var hasEnded = false
        var idleGates: [Gate] = []

        var isIdle: Bool { hasEnded || handledWakeCount == wakeCount }

        /// Whether a batch that was read in `epoch` may still be delivered or settled.
        func maySetOut(_ epoch: Int) -> Bool { self.epoch == epoch && !isHeld && !isClosed }
    }

    let name: BackendName
    let backend: any Backend
    let policy: DeliveryPolicy
    let service: ServiceName?
    let store: any SampleStore
    let clock: any SchedulingClock
    let randomness: RandomSource
    let reachability: any Reachability
    let report: @Sendable (Diagnostic) -> Void
    let executor: LaneExecutor
    let state = Lock(State())
    let ended = Gate()
    let signals: AsyncStream<Void>
    let signal: AsyncStream<Void>.Continuation
    /// What was dropped before this lane: an earlier run has reported it.
    let earlierDrops: [DropReason: Int]

    init(
        backend: any Backend,
        replacing predecessor: DeliveryLane? = nil,
        store: any SampleStore,
        clock: any SchedulingClock,
        randomness: RandomSource,
        reachability: any Reachability,
        report: @escaping @Sendable (Diagnostic) -> Void
    ) {
        self.backend = backend
        name = backend.name
        policy = backend.policy
        service = backend.service
        self.store = store
        self.clock = clock
        self.randomness = randomness
        self.reachability = reachability
        self.report = report
        executor = LaneExecutor(label: "instrument.backend.\(name)")
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        // A lane that replaces another takes over its place, or none if the backend is being removed in this moment.
        if predecessor == nil { store.attach(name, isEphemeral: backend.isEphemeral) }
        earlierDrops = store.ledger(of: name).drops
        if let predecessor { state.withLock { $0.predecessor = predecessor } }
    }

    /// Begins to deliver, once the lane that this one replaces has ended.
    func start() {
        Task(executorPreference: executor) { await self.run(after: await self.predecessorDrops() ?? self.earlierDrops) }
        // What an earlier run left in the store is due like anything else.
        wake()
    }

    /// Makes the lane look at what is due.
    func wake() {
        state.withLock { $0.wakeCount += 1 }
        signal.yield()
    }

    /// Returns once the lane has dealt with everything it was woken for and waits, or once the current task is cancelled.
    func waitUntilIdle() async {
        let gate = state.withLock { state -> Gate? in
            if state.isIdle { return nil }
            let gate = Gate()
            state.idleGates.append(gate)
            return gate
        }
        await gate?.wait()
    }

    /// Whether the lane has dealt with everything it was woken for.
    var isIdle: Bool { state.withLock { $0.isIdle } }

    /// Called after samples were appended; wakes the lane only when that may change what it does.
    func appended(_ added: Backlog, isPrompt: Bool) {
        let goal = isPrompt ? store.ledger(of: name).flushGoal : nil
        let isNews = state.withLock { state in
            let isNewlyPrompt = goal != nil && state.promptGoal == nil
            if let goal { state.promptGoal = max(goal, state.promptGoal ?? 0) }
            let before = state.pending
            state.pending = Backlog(count: before.count + added.count, bytes: before.bytes + added.bytes)
            if before.count == 0 { state.waitingSince = clock.now }
            let isNews = before.count == 0 || isNewlyPrompt || (!isFull(before) && isFull(state.pending))
            if isNews { state.wakeCount += 1 }
            return isNews
        }
        if isNews { signal.yield() }
        // A backend that was replaced in this moment leaves the hurry to the new one.
        if isPrompt, let successor = state.withLock({ $0.successor }) { successor.appended(added, isPrompt: true) }
    }

    /// Asks for everything emitted so far to be delivered; true once it is, false if `deadline` or the task's cancellation
    /// comes first, or nothing more will be delivered.
    func flush(until deadline: MonotonicInstant) async -> Bool {
        let ledger = store.ledger(of: name)
        if ledger.queued == 0 { return true }
        let (goal, gate) = (ledger.flushGoal, Gate())
        let (isHopeless, successor) = state.withLock { state in
            let isHopeless = state.isSilenced || state.isClosed || state.isHeld
            if !isHopeless { state.flushes.append((goal, gate)) }
            return (isHopeless, state.successor)
        }
        if let successor { return await successor.flush(until: deadline) }
        if isHopeless { return false }
        wake()
        // No later call reports the samples that were settled between reading the ledger and adding the entry to the list.
        openGates()
        _ = await gate.wait(until: deadline, on: clock)
        forget(gate)
        return store.ledger(of: name).hasReached(goal)
    }

    /// Delivers no more after what is in flight, and lets the backend end. Waiting flushes return.
    func close() {
        endFlushes { $0.isClosed = true }
        wake()
        signal.finish()
    }

    /// Sends nothing more, except a running delivery, until `release()`. Waiting flushes return.
    func hold() {
        endFlushes { state in
            state.isHeld = true
            state.epoch += 1
        }
    }

    /// Sends again.
    func release() {
        state.withLock { $0.isHeld = false }
        wake()
    }

    /// Batches that were read and not sent are read again: some samples may be erased by now.
    func readAgain() { state.withLock { $0.epoch += 1 } }

    /// The network has returned, or is gone.
    func networkChanged(isOnline: Bool) {
        if isOnline { state.withLock { $0.cameOnline = true } }
        wake()
    }

    /// Waits until the backend's service has ended; at `deadline`, or when the task is cancelled, cancels what is in flight
    /// and returns.
    func end(by deadline: MonotonicInstant) async {
        if let predecessor = state.withLock({ $0.predecessor }) { await predecessor.end(by: deadline) }
        if await ended.wait(until: deadline, on: clock) { return }
        state.withLock { $0.inFlight }?.cancel()
    }

    func isFull(_ backlog: Backlog) -> Bool {
        backlog.count >= policy.dueCount ?? policy.maxCount || backlog.bytes >= policy.maxBytes
    }

    /// Tells those whose samples are settled.
    func openGates() {
        let ledger = store.ledger(of: name)
        let gates = state.withLock { state in
            if let goal = state.promptGoal, ledger.hasReached(goal) { state.promptGoal = nil }
            let done = state.flushes.filter { ledger.hasReached($0.goal) }.map(\.gate)
            state.flushes.removeAll { ledger.hasReached($0.goal) }
            return done
        }
        for gate in gates { gate.open() }
    }

    /// Changes the state such that no flush can succeed any more.
    func endFlushes(_ change: (inout State) -> Void) {
        let gates = state.withLock { state in
            change(&state)
            defer { state.flushes = [] }
            return state.flushes.map(\.gate)
        }
        for gate in gates { gate.open() }
    }
}
