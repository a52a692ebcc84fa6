package import Instrument
package import InstrumentFrameCode

/// A real player of a library, without a window and without a sound device, whose pictures an eye reads while a tracker
/// watches.
package protocol RealPlayer: Sendable {
    /// What the tracker has reported.
    var journal: SignalJournal { get }
    /// What the eye has seen.
    var eye: PlaybackEye { get }

    /// Reports signals from now on.
    func observe()
    func play()
    func pause(_ isPaused: Bool)
    func seek(toMilliseconds time: Int64)
    /// Ends the observation and the player. Nothing may be called afterwards.
    func end()
}

extension RealPlayer {
    package var signals: [PlayerSignal] { journal.signals }
    package var actions: [Action] { signals.map(\.action) }

    package func first(_ action: Action) -> PlayerSignal? { signals.first { $0.action == action } }

    /// Waits until the tracker has reported an action so often.
    package func wait(for action: Action, _ count: Int = 1) async {
        await journal.wait { $0.count { $0.action == action } >= count }
    }

    /// Waits until the tracker has reported one of these.
    package func wait(forAnyOf actions: Set<Action>) async {
        await journal.wait { $0.contains { actions.contains($0.action) } }
    }
}
