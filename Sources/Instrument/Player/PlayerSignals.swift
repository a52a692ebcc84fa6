/// The signals that the model of a player has for its tracker, in their order.
///
/// Instants of signals never decrease: what a model knows late can be earlier than what it reported meanwhile, and gets
/// the instant of the latest signal.
package struct PlayerSignals: Sendable {
    /// Whether the playback had begun before the tracker came: its `StreamLoad` and its `Start` say so.
    package var isLate = false
    private var waiting: [PlayerSignal] = []
    /// The instant of the latest signal; nil before the first one.
    package private(set) var lastInstant: MonotonicInstant?

    /// Creates signals of a player that has reported none.
    package init() {}

    /// The instant of the next signal, for what happened at `instant`.
    package func instant(for instant: MonotonicInstant) -> MonotonicInstant {
        lastInstant.map { max($0, instant) } ?? instant
    }

    /// Adds a signal.
    ///
    /// - Parameter instant: the instant of the signal, which ``instant(for:)`` gave.
    package mutating func add(_ signal: PlayerSignal, at instant: MonotonicInstant) {
        var signal = signal
        if isLate, signal.action == .streamLoad || signal.action == .start { signal.attributes[.joinedLate] = true }
        lastInstant = instant
        waiting.append(signal)
    }

    /// Returns the signals that were added since the last call.
    package mutating func take() -> [PlayerSignal] {
        defer { waiting = [] }
        return waiting
    }
}
