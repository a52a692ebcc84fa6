package import Instrument

/// What a tracker has reported, and waits for it.
package final class SignalJournal: Sendable {
    private struct Waiter {
        var isEnough: @Sendable ([PlayerSignal]) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var signals: [PlayerSignal] = []
        var waiters: [Waiter] = []
    }

    private let state = Lock(State())

    package init() {}

    package func append(_ signal: PlayerSignal) {
        let ready = state.withLock { state in
            state.signals.append(signal)
            let ready = state.waiters.filter { $0.isEnough(state.signals) }
            state.waiters.removeAll { $0.isEnough(state.signals) }
            return ready.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }

    package var signals: [PlayerSignal] { state.withLock { $0.signals } }

    package func wait(until isEnough: @escaping @Sendable ([PlayerSignal]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if isEnough(state.signals) { return true }
                state.waiters.append(Waiter(isEnough: isEnough, continuation: continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}
