/// Opens once; tasks wait for that, up to a deadline.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
        var nextNumber = 0
    }

    private let state = Lock(State())

    /// Opens; who waits goes on.
    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: true) }
    }

    /// True once it is open, false if `deadline` comes first.
    func wait(until deadline: MonotonicInstant, on clock: any SchedulingClock) async -> Bool {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        var alarm: ScheduledAction?
        let isOpen = await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters[number] = continuation }
                return state.isOpen
            }
            if isOpen { return continuation.resume(returning: true) }
            alarm = clock.schedule(at: deadline) { [weak self] in self?.giveUp(number) }
        }
        alarm?.cancel()
        return isOpen
    }

    private func giveUp(_ number: Int) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: false)
    }
}
