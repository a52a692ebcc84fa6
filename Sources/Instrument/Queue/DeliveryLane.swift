/// Feeds one backend from the store: waits until a batch is due, delivers it, settles it.
///
/// Lanes share nothing but the store, so that a slow or failing backend delays no other.
final class DeliveryLane: Sendable {
    private struct State {
        /// Since when the oldest sample not yet delivered waits.
        var waitingSince: MonotonicInstant?
        /// What the store was last seen to hold for this backend; only tells `appended` when to wake the lane.
        var pending = Backlog()
        /// Something waits that is not to wait for company.
        var isPrompt = false
        var flushes: [(settled: Int, gate: Gate)] = []
        var isSilenced = false
        var isClosed = false
    }

    /// What the lane knows between two deliveries.
    private struct Course {
        var delay = RetryDelay()
        var maxCount: Int
        var notBefore: MonotonicInstant?
        var lastReason: String?
        var drops: [DropReason: Int] = [:]
    }

    let backend: any Backend
    private let policy: DeliveryPolicy
    private let store: any SampleStore
    private let clock: any SchedulingClock
    private let randomness: RandomSource
    private let report: @Sendable (Diagnostic) -> Void
    private let executor: LaneExecutor
    private let state = Lock(State())
    private let ended = Gate()
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(
        backend: any Backend,
        store: any SampleStore,
        clock: any SchedulingClock,
        randomness: RandomSource,
        report: @escaping @Sendable (Diagnostic) -> Void
    ) {
        self.backend = backend
        policy = backend.policy
        self.store = store
        self.clock = clock
        self.randomness = randomness
        self.report = report
        executor = LaneExecutor(backend.name)
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        store.attach(backend.name)
    }

    /// Begins to deliver.
    func start() {
        Task(executorPreference: executor) { await self.run() }
        // What an earlier run left in the store is due like anything else.
        signal.yield()
    }

    /// Called after samples were appended; wakes the lane only when that may change what it does.
    func appended(_ added: Backlog, isPrompt: Bool) {
        let isNews = state.withLock { state in
            let isNewlyPrompt = isPrompt && !state.isPrompt
            if isPrompt { state.isPrompt = true }
            let before = state.pending
            state.pending = Backlog(count: before.count + added.count, bytes: before.bytes + added.bytes)
            if before.count == 0 { state.waitingSince = clock.now }
            return before.count == 0 || isNewlyPrompt || (!isFull(before) && isFull(state.pending))
        }
        if isNews { signal.yield() }
    }

    /// Asks for everything emitted so far to be delivered; true once it is, false if `deadline` comes first.
    func flush(until deadline: MonotonicInstant) async -> Bool {
        let ledger = store.ledger(of: backend.name)
        if ledger.queued == 0 { return true }
        let gate = Gate()
        let isSilenced = state.withLock { state in
            if !state.isSilenced { state.flushes.append((ledger.emitted, gate)) }
            return state.isSilenced
        }
        if isSilenced { return false }
        signal.yield()
        // What was settled between the look at the ledger and the entry in the list will not be told again.
        openGates()
        let isDone = await gate.wait(until: deadline, on: clock)
        state.withLock { $0.flushes.removeAll { $0.gate === gate } }
        return isDone && store.ledger(of: backend.name).settled >= ledger.emitted
    }

    /// Delivers no more after what is in flight, and lets the backend end.
    func close() {
        state.withLock { $0.isClosed = true }
        signal.yield()
        signal.finish()
    }

    /// Waits until the backend's service has ended; false if `deadline` comes first.
    func waitUntilEnded(until deadline: MonotonicInstant) async -> Bool { await ended.wait(until: deadline, on: clock) }

    private func run() async {
        var course = Course(maxCount: policy.maxCount)
        var alarm: ScheduledAction?
        for await _ in signals {
            while let wake = wakeTime(notBefore: course.notBefore) {
                if wake > clock.now {
                    alarm?.cancel()
                    alarm = clock.schedule(at: wake) { [signal] in signal.yield() }
                    break
                }
                let records = store.next(for: backend.name, maxCount: course.maxCount, maxBytes: policy.maxBytes)
                guard !records.isEmpty else { break }
                let outcome = await backend.deliver(Batch(records: records))
                apply(outcome, to: records, &course)
            }
            reportDrops(&course)
            if state.withLock({ $0.isClosed }) { break }
        }
        alarm?.cancel()
        await backend.end()
        ended.open()
    }

    private func isFull(_ backlog: Backlog) -> Bool {
        backlog.count >= policy.maxCount || backlog.bytes >= policy.maxBytes
    }

    private func wakeTime(notBefore: MonotonicInstant?) -> MonotonicInstant? {
        state.withLock { state in
            // Read under the lock: a sample stored later is counted by an `appended` that comes later, and wakes.
            state.pending = store.backlog(of: backend.name)
            if state.pending.count == 0 { state.isPrompt = false }
            guard state.pending.count > 0, !state.isSilenced, !state.isClosed else { return nil }
            let since = state.waitingSince ?? clock.now
            let isDue = !state.flushes.isEmpty || state.isPrompt || isFull(state.pending)
            let due = isDue ? since : since.advanced(by: policy.maxAge)
            return max(due, notBefore ?? due)
        }
    }

    private func apply(_ outcome: DeliveryOutcome, to records: [SampleRecord], _ course: inout Course) {
        switch outcome {
        case .acknowledged: settle(records, dead: [:], &course)
        case .acknowledgedExcept(let refused): settle(records, dead: refused, &course)
        case .retry(let wish, let reason):
            pause(for: course.delay.next(after: wish, randomness), reason, &course)
        case .unauthorized(let reason):
            pause(for: course.delay.nextUnauthorized(randomness), reason, &course)
        case .tooLarge(let reason), .refused(let reason):
            if records.count > 1 {
                course.maxCount = records.count / 2
            } else {
                settle(records, dead: Dictionary(records.map { ($0.id, reason) }) { first, _ in first }, &course)
            }
        case .gone(let reason): silence(reason)
        }
    }

    private func settle(_ records: [SampleRecord], dead: [SampleID: String], _ course: inout Course) {
        guard let last = records.last else { return }
        var letters: [UInt64: String] = [:]
        for record in records {
            guard let reason = dead[record.id] else { continue }
            letters[record.sequence] = reason
            report(.deadLetter(backend.name, record.id, reason: reason))
        }
        store.settle(backend.name, through: last.sequence, dead: letters)
        course.maxCount = policy.maxCount
        course.notBefore = nil
        course.lastReason = nil
        course.delay.reset()
        state.withLock { $0.waitingSince = clock.now }
        openGates()
    }

    private func pause(for delay: Duration, _ reason: String, _ course: inout Course) {
        course.notBefore = clock.now.advanced(by: delay)
        if course.lastReason != reason { report(.retrying(backend.name, after: delay, reason: reason)) }
        course.lastReason = reason
    }

    private func silence(_ reason: String) {
        let gates = state.withLock { state in
            state.isSilenced = true
            defer { state.flushes = [] }
            return state.flushes.map(\.gate)
        }
        for gate in gates { gate.open() }
        report(.silenced(backend.name, reason: reason))
    }

    private func reportDrops(_ course: inout Course) {
        let drops = store.ledger(of: backend.name).drops
        for (reason, count) in drops.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let news = count - (course.drops[reason] ?? 0)
            if news > 0 { report(.dropped(backend.name, count: news, reason)) }
        }
        course.drops = drops
    }

    private func openGates() {
        let settled = store.ledger(of: backend.name).settled
        let gates = state.withLock { state in
            let done = state.flushes.filter { $0.settled <= settled }.map(\.gate)
            state.flushes.removeAll { $0.settled <= settled }
            return done
        }
        for gate in gates { gate.open() }
    }
}
