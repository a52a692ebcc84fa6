public import Instrument

/// A player under the control of a test.
///
/// ```swift
/// let player = ScriptedPlayer()
/// instrument.add(PlayerTracker(player))
/// player.set(\.position, to: .seconds(12))
/// player.signal(.pauseBegin)
/// ```
public final class ScriptedPlayer: Player {
    private struct State {
        var status = PlayerStatus()
        var observer: (@Sendable (PlayerSignal) -> Void)?
    }

    /// The value from the initializer.
    public let name: String
    private let state = Lock(State())

    /// Creates a player without a status.
    public init(name: String = "scripted") { self.name = name }

    /// The status that was set.
    public var status: PlayerStatus { state.withLock { $0.status } }

    /// Changes the status.
    public func set<Value>(_ path: any WritableKeyPath<PlayerStatus, Value> & Sendable, to value: sending Value) {
        state.withLock { $0.status[keyPath: path] = value }
    }

    /// Reports to `observer`.
    public func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { state.withLock { $0.observer = observer } }

    /// Sends a signal.
    public func signal(
        _ action: Action,
        at instant: MonotonicInstant? = nil,
        attributes: Attributes = Attributes()
    ) {
        let observer = state.withLock { $0.observer }
        observer?(PlayerSignal(action, at: instant, attributes: attributes))
    }
}
