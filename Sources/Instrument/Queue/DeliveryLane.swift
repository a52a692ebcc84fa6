/// Feeds one backend from the store: waits until a batch is due, delivers it, settles it.
///
/// Lanes share nothing but the store, so that a slow or failing backend delays no other.
final class DeliveryLane: Sendable {
    private struct State {
        /// Since when the oldest sample not yet delivered waits.
        var waitingSince: MonotonicInstant?
        /// What the store was last seen to hold for this backend; only tells `appended` when to wake the lane.
        var pending = 0
        var flushes: [(pastEmitted: Int, continuation: CheckedContinuation<Bool, Never>, number: Int)] = []
        var nextFlush = 0
        var isClosed = false
    }

    let backend: any Backend
    private let store: any SampleStore
    private let clock: any SchedulingClock
    private let state = Lock(State())
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(backend: any Backend, store: any SampleStore, clock: any SchedulingClock) {
        self.backend = backend
        self.store = store
        self.clock = clock
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        store.attach(backend.name)
    }

    /// Called after samples were appended; wakes the lane only when that may change what it does.
    func appended(_ count: Int) {
        let isNews = state.withLock { state in
            let before = state.pending
            state.pending += count
            if before == 0 { state.waitingSince = clock.now }
            return before == 0 || (before < backend.policy.maxCount && state.pending >= backend.policy.maxCount)
        }
        if isNews { signal.yield() }
    }

    /// Delivers until closed.
    func run() async {
        var delay = RetryDelay()
        var limit = backend.policy.maxCount
        var notBefore: MonotonicInstant?
        var alarm: ScheduledAction?
        for await _ in signals {
            while let wake = wakeTime(notBefore: notBefore) {
                if wake > clock.now {
                    alarm?.cancel()
                    alarm = clock.schedule(at: wake) { [signal] in signal.yield() }
                    break
                }
                let records = store.next(for: backend.name, limit: limit)
                guard let last = records.last?.sequence else { break }
                switch await backend.deliver(Batch(records: records)) {
                case .acknowledged:
                    settle(through: last, as: .acknowledged)
                    (limit, notBefore) = (backend.policy.maxCount, nil)
                    delay.reset()
                case .refused where records.count > 1:
                    limit = records.count / 2
                case .refused:
                    settle(through: last, as: .dead)
                    limit = backend.policy.maxCount
                case .retry(let wish, _):
                    let pause = delay.next(after: wish) { .random(in: 0...$0) }
                    notBefore = clock.now.advanced(by: pause)
                }
            }
            if state.withLock({ $0.isClosed }) { return }
        }
    }

    /// Asks for everything emitted so far to be delivered; true once it is, false if `deadline` comes first.
    func flush(until deadline: MonotonicInstant) async -> Bool {
        let ledger = store.ledger(of: backend.name)
        if ledger.queued == 0 { return true }
        return await withCheckedContinuation { continuation in
            let number = state.withLock { state in
                state.nextFlush += 1
                state.flushes.append((ledger.emitted, continuation, state.nextFlush))
                return state.nextFlush
            }
            _ = clock.schedule(at: deadline) { [weak self] in self?.giveUpFlush(number) }
            signal.yield()
            // What was delivered between the look at the ledger and the entry in the list will not be told again.
            resumeFlushes()
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        signal.yield()
        signal.finish()
    }

    private func wakeTime(notBefore: MonotonicInstant?) -> MonotonicInstant? {
        state.withLock { state in
            // Read under the lock: a sample stored later is counted by an `appended` that comes later, and wakes.
            state.pending = store.ledger(of: backend.name).queued
            guard state.pending > 0 else { return nil }
            let since = state.waitingSince ?? clock.now
            let isDue = !state.flushes.isEmpty || state.pending >= backend.policy.maxCount
            let due = isDue ? since : since.advanced(by: backend.policy.maxAge)
            return max(due, notBefore ?? due)
        }
    }

    private func settle(through sequence: UInt64, as fate: SampleFate) {
        store.settle(backend.name, through: sequence, as: fate)
        state.withLock { $0.waitingSince = clock.now }
        resumeFlushes()
    }

    private func resumeFlushes() {
        let ledger = store.ledger(of: backend.name)
        let done = ledger.emitted - ledger.queued
        let finished = state.withLock { state in
            let finished = state.flushes.filter { $0.pastEmitted <= done }.map(\.continuation)
            state.flushes.removeAll { $0.pastEmitted <= done }
            return finished
        }
        for continuation in finished { continuation.resume(returning: true) }
    }

    private func giveUpFlush(_ number: Int) {
        let continuation = state.withLock { state in
            let found = state.flushes.first { $0.number == number }?.continuation
            state.flushes.removeAll { $0.number == number }
            return found
        }
        continuation?.resume(returning: false)
    }
}
