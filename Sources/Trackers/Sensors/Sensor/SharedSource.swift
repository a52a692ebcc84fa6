internal import Instrument

/// A source that exists once in the system, shared by all listeners: started for the first, stopped after the last.
final class SharedSource<Reading: Sendable>: SensorSource {
    private struct State {
        var listeners: [Int: @Sendable (SensorUpdate<Reading>) -> Void] = [:]
        var nextNumber = 0
        var last: SensorUpdate<Reading>?
    }

    private let state = Lock(State())
    /// Starts and stops happen under this lock, one after another.
    private let isBegun = Lock(false)
    private let absence: @Sendable () -> SensorAbsence?
    private let begin: @Sendable (@escaping @Sendable (SensorUpdate<Reading>) -> Void) -> Void
    private let end: @Sendable () -> Void

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - absence: the reason why the source does not exist; then it is never started.
    ///   - begin: starts the source; its argument receives updates, on any thread, after `begin` has returned.
    ///   - end: stops the source.
    init(
        absence: @escaping @Sendable () -> SensorAbsence? = { nil },
        begin: @escaping @Sendable (@escaping @Sendable (SensorUpdate<Reading>) -> Void) -> Void,
        end: @escaping @Sendable () -> Void
    ) {
        (self.absence, self.begin, self.end) = (absence, begin, end)
    }

    /// The latest update.
    func current() -> SensorUpdate<Reading> {
        if let absence = absence() { return .absent(absence) }
        return state.withLock { $0.last } ?? .absent(.silent)
    }

    func start(_ receive: @escaping @Sendable (SensorUpdate<Reading>) -> Void) -> SensorRun {
        let number = state.withLock { state in
            state.nextNumber += 1
            state.listeners[state.nextNumber] = receive
            return state.nextNumber
        }
        beginOrEnd()
        return SensorRun { [self] in
            let wasThere = state.withLock { $0.listeners.removeValue(forKey: number) != nil }
            if wasThere { beginOrEnd() }
        }
    }

    private func beginOrEnd() {
        isBegun.withLock { isBegun in
            let isWanted = state.withLock { !$0.listeners.isEmpty } && absence() == nil
            if isWanted == isBegun { return }
            isBegun = isWanted
            if isWanted { begin { [weak self] in self?.say($0) } } else { end() }
        }
    }

    private func say(_ update: SensorUpdate<Reading>) {
        let listeners = state.withLock { state in
            state.last = update
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(update) }
    }
}
