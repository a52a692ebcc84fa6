import Instrument
import Testing

@Suite("Signals of a player's model")
struct PlayerSignalsTests {
    private func add(_ action: Action, at seconds: Int64, to signals: inout PlayerSignals) {
        let instant = signals.instant(for: MonotonicInstant(nanoseconds: seconds * 1_000_000_000))
        signals.add(PlayerSignal(action, at: instant), at: instant)
    }

    @Test("Instants never decrease, also across calls that take the signals")
    func order() {
        var signals = PlayerSignals()
        add(.streamLoad, at: 5, to: &signals)
        add(.start, at: 3, to: &signals)
        let first = signals.take()
        add(.bufferBegin, at: 4, to: &signals)
        add(.bufferFinish, at: 6, to: &signals)
        let instants = (first + signals.take()).map { $0.instant.map { $0.nanoseconds / 1_000_000_000 } }
        #expect(instants == [5, 5, 5, 6])
        #expect(signals.take().isEmpty && signals.lastInstant == MonotonicInstant(nanoseconds: 6_000_000_000))
    }

    @Test("Only the load and the start of a playback that was joined late say so")
    func joinedLate() {
        var signals = PlayerSignals()
        signals.isLate = true
        for action in [Action.streamLoad, .bufferBegin, .start] { add(action, at: 1, to: &signals) }
        #expect(signals.take().map { $0.attributes[.joinedLate] } == [true, nil, true])
        signals.isLate = false
        add(.streamLoad, at: 2, to: &signals)
        #expect(signals.take().map { $0.attributes[.joinedLate] } == [nil])
    }
}
