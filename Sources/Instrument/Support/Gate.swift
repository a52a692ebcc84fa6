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

    /// Returns true once the gate is open, false if the current task is cancelled first.
    @discardableResult
    package func wait() async -> Bool {
        let number = makeNumber()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The cancellation may have come before the waiter.
                if register(number, continuation), Task.isCancelled { giveUp(number) }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    /// Returns once the gate is open, also in a task that is cancelled.
    package func waitDespiteCancellation() async {
        let number = makeNumber()
        _ = await withCheckedContinuation { continuation in _ = register(number, continuation) }
    }

    /// Returns true once the gate is open, false if `deadline` comes or the current task is cancelled first.
    func wait(until deadline: MonotonicInstant, on clock: any SchedulingClock) async -> Bool {
        if deadline <= clock.now { return state.withLock { $0.isOpen } }
        let number = makeNumber()
        return await withTaskCancellationHandler {
            var alarm: ScheduledAction?
            let isOpen = await withCheckedContinuation { continuation in
                guard register(number, continuation) else { return }
                alarm = clock.schedule(at: deadline) { [weak self] in self?.giveUp(number) }
                // A virtual clock may have been advanced meanwhile, and the cancellation may have come before the
                // waiter.
                if deadline <= clock.now || Task.isCancelled { giveUp(number) }
            }
            alarm?.cancel()
            return isOpen
        } onCancel: {
            giveUp(number)
        }
    }

    private func makeNumber() -> Int {
        state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
    }

    /// Adds a waiter; resumes it and returns false if the gate is open.
    private func register(_ number: Int, _ continuation: CheckedContinuation<Bool, Never>) -> Bool {
        let isOpen = state.withLock { state in
            if !state.isOpen { state.waiters[number] = Waiter { continuation.resume(returning: $0) } }
            return state.isOpen
        }
        if isOpen { continuation.resume(returning: true) }
        return !isOpen
    }

    private func giveUp(_ number: Int) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(false)
    }
}
