/// Opens once; tasks wait for that, up to a deadline.
package final class Gate: Sendable {
    /// Called once, with whether the gate opened.
    private struct Waiter: Sendable { let resume: @Sendable (Bool) -> Void }

    private struct State {
        var isOpen = false
        var waiters: [Int: Waiter] = [:]
        var nextNumber = 0
    }

    private let state = Lock(State())

    package init() {}

    /// Opens; waiting tasks and threads continue.
    package func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(true) }
    }

    /// Returns once it is open.
    package func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.nextNumber += 1
                if !state.isOpen { state.waiters[state.nextNumber] = Waiter { _ in continuation.resume() } }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Returns once it is open, or once the current task is cancelled.
    package func waitUnlessCancelled() async {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiters[number] = Waiter { _ in continuation.resume() } }
                    return state.isOpen
                }
                if isOpen { return continuation.resume() }
                // The cancellation may have come before there was somebody to tell.
                if Task.isCancelled { giveUp(number) }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    /// True once it is open, false if `deadline` comes first.
    func wait(until deadline: MonotonicInstant, on clock: any SchedulingClock) async -> Bool {
        if deadline <= clock.now { return state.withLock { $0.isOpen } }
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        var alarm: ScheduledAction?
        let isOpen = await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters[number] = Waiter { continuation.resume(returning: $0) } }
                return state.isOpen
            }
            if isOpen { return continuation.resume(returning: true) }
            alarm = clock.schedule(at: deadline) { [weak self] in self?.giveUp(number) }
            // A virtual clock may have been advanced meanwhile.
            if deadline <= clock.now { giveUp(number) }
        }
        alarm?.cancel()
        return isOpen
    }

    private func giveUp(_ number: Int) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(false)
    }
}
