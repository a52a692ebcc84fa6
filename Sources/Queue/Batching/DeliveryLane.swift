/// Delivers samples from the store to one backend: waits until a batch is due, delivers it, and settles it.
///
/// Lanes share only the store, so that a slow or failing backend delays no other backend.
final class DeliveryLane: Sendable {
    struct State {
        /// The instant since which the oldest undelivered sample waits.
        var waitingSince: MonotonicInstant?
        /// The last known backlog of this backend. Used only to decide when `appended` wakes the lane.
        var pending = Backlog()
        /// The count up to which samples do not wait for a full batch.
        var promptGoal: Int?
        var flushes: [(goal: Int, gate: Gate)] = []
        var inFlight: Task<DeliveryOutcome?, Never>?
        /// Whether consent to send is missing.
        var isHeld = false
        /// Counts the events that invalidate a batch that was read and not sent.
        var epoch = 0
        var cameOnline = false
        var isSilenced = false
        var isClosed = false
        /// The lane that this lane replaces, until that lane has ended.
        var predecessor: DeliveryLane?
        /// The lane that replaces this lane.
        var successor: DeliveryLane?
        /// The drops that this lane had reported at its end.
        var reportedDrops: [DropReason: Int] = [:]
        /// The number of wake-ups, and the number of wake-ups that the lane has processed.
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
    /// The drops before this lane, which an earlier run has reported.
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
        // A lane that replaces another uses the existing place, which a concurrent removal may have deleted.
        if predecessor == nil { store.attach(name, isEphemeral: backend.isEphemeral) }
        earlierDrops = store.ledger(of: name).drops
        if let predecessor { state.withLock { $0.predecessor = predecessor } }
    }

    /// Starts the deliveries, after the end of the replaced lane.
    func start() {
        Task(executorPreference: executor) { await self.run(after: await self.predecessorDrops() ?? self.earlierDrops) }
        // Samples of an earlier run may be due.
        wake()
    }

    /// Makes the lane compute the next batch again.
    func wake() {
        state.withLock { $0.wakeCount += 1 }
        signal.yield()
    }

    /// Returns when the lane has processed all wake-ups, or when the current task is cancelled.
    func waitUntilIdle() async {
        let gate = state.withLock { state -> Gate? in
            if state.isIdle { return nil }
            let gate = Gate()
            state.idleGates.append(gate)
            return gate
        }
        await gate?.wait()
    }

    /// Whether the lane has processed all wake-ups.
    var isIdle: Bool { state.withLock { $0.isIdle } }

    /// Notes appended samples. Wakes the lane only if they may change the next batch.
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
        // After a concurrent replacement, the new lane has to deliver promptly.
        if isPrompt, let successor = state.withLock({ $0.successor }) { successor.appended(added, isPrompt: true) }
    }

    /// Waits until every sample that is queued now has left the queue. Returns false if `deadline` or a cancellation of
    /// the task comes first, or if the lane delivers nothing any more.
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
        // Samples that were settled before the flush was in the list have opened no gate.
        openGates()
        _ = await gate.wait(until: deadline, on: clock)
        forget(gate)
        return store.ledger(of: name).hasReached(goal)
    }

    /// Starts no further delivery, and ends the backend after the delivery in flight. Waiting flushes return.
    func close() {
        endFlushes { $0.isClosed = true }
        wake()
        signal.finish()
    }

    /// Starts no delivery until `release()`. A delivery in flight continues. Waiting flushes return.
    func hold() {
        endFlushes { state in
            state.isHeld = true
            state.epoch += 1
        }
    }

    /// Allows deliveries again.
    func release() {
        state.withLock { $0.isHeld = false }
        wake()
    }

    /// Discards batches that were read and not sent, because some of their samples may have been erased.
    func readAgain() { state.withLock { $0.epoch += 1 } }

    /// Notes that the network has returned or disappeared.
    func networkChanged(isOnline: Bool) {
        if isOnline { state.withLock { $0.cameOnline = true } }
        wake()
    }

    /// Waits until the backend's service has ended. At `deadline`, or when the task is cancelled, cancels the delivery
    /// in flight and returns.
    func end(by deadline: MonotonicInstant) async {
        if let predecessor = state.withLock({ $0.predecessor }) { await predecessor.end(by: deadline) }
        if await ended.wait(until: deadline, on: clock) { return }
        state.withLock { $0.inFlight }?.cancel()
    }

    func isFull(_ backlog: Backlog) -> Bool {
        backlog.count >= policy.dueCount ?? policy.maxCount || backlog.bytes >= policy.maxBytes
    }

    /// Resumes the flushes whose samples are settled.
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

    /// Makes a change after which no flush can succeed, and resumes all flushes.
    func endFlushes(_ change: (inout State) -> Void) {
        let gates = state.withLock { state in
            change(&state)
            defer { state.flushes = [] }
            return state.flushes.map(\.gate)
        }
        for gate in gates { gate.open() }
    }
}
