internal import Instrument

/// Counts the work that uses the server's thread, so that the thread ends after the last of it.
final class ServerLife: Sendable {
    private struct State {
        var active = 0
        var isEnding = false
        var gate: Gate?
    }

    private let state = Lock(State())

    /// Begins work; false if the server ends, and the work must not begin.
    func enter() -> Bool {
        state.withLock { state in
            if state.isEnding { return false }
            state.active += 1
            return true
        }
    }

    /// Ends work that ``enter()`` began.
    func leave() {
        let gate = state.withLock { state in
            state.active -= 1
            return state.active == 0 ? state.gate : nil
        }
        gate?.open()
    }

    /// Lets no more work begin, and waits until all of it has ended.
    func end() async {
        let gate = Gate()
        let isIdle = state.withLock { state in
            (state.isEnding, state.gate) = (true, gate)
            return state.active == 0
        }
        if !isIdle { _ = await gate.wait() }
    }
}
