public import Instrument

/// A player that does what a test says.
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

    /// As given.
    public let name: String
    private let state = Lock(State())

    /// Creates a player that says nothing yet.
    public init(name: String = "scripted") { self.name = name }

    /// What was set.
    public var status: PlayerStatus { state.withLock { $0.status } }

    /// Changes what is true from now on.
    public func set<Value>(_ path: any WritableKeyPath<PlayerStatus, Value> & Sendable, to value: sending Value) {
        state.withLock { $0.status[keyPath: path] = value }
    }

    /// Reports to `observer`.
    public func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { state.withLock { $0.observer = observer } }

    /// Lets something happen.
    public func signal(
        _ action: Action,
        at instant: MonotonicInstant? = nil,
        attributes: Attributes = Attributes()
    ) {
        let observer = state.withLock { $0.observer }
        observer?(PlayerSignal(action, at: instant, attributes: attributes))
    }
}
