internal import Instrument

/// A player that a watch observes: AVPlayer behind its adapter, or the script of a test.
///
/// Observers do not keep the player alive. After its end, observations do nothing and reads return nothing.
protocol ObservedPlayer: AnyObject, Sendable {
    /// Observes the player until the result is cancelled; the values that hold now are reported first, the item last of
    /// them.
    ///
    /// `report` is called in the order of observation, one call at a time, on a thread of the player's choice.
    func observePlayer(_ report: @escaping PlayerNoticeHandler) -> Observation
    /// Observes an item that was reported, until the result is cancelled; the values that hold now are reported first.
    func observeItem(_ item: ItemID, _ report: @escaping PlayerNoticeHandler) -> Observation
    /// Reads the access log of an item. It may block.
    func accessLog(of item: ItemID) -> [AccessLogEntry]
    /// Reads the error log of an item. It may block.
    func errorLog(of item: ItemID) -> [PlayerFailure]
}

/// Receives what a player shows, with the instant at which it did.
typealias PlayerNoticeHandler = @Sendable (PlayerNotice, MonotonicInstant) -> Void

/// A report of an observed player.
enum PlayerNotice: Hashable, Sendable {
    /// An observation for the model.
    case observation(AVPlayerObservation)
    /// The access log of an item has another entry.
    case accessLogGrew(ItemID)
    /// The error log of an item has another entry.
    case errorLogGrew(ItemID)
}

/// A model of what a player does.
protocol ObservationModel: Sendable {
    associatedtype Signal: Sendable

    init()
    /// Takes an observation that was made at `now`, and returns the signals that follow from it.
    mutating func observe(_ observation: AVPlayerObservation, at now: MonotonicInstant) -> [Signal]
}

/// An active observation. It is cancelled once: by ``cancel()``, or at the release of the last reference.
final class Observation: Sendable {
    private struct State {
        var onCancel: (@Sendable () -> Void)?
    }

    private let state: Lock<State>

    init(onCancel: @escaping @Sendable () -> Void) { state = Lock(State(onCancel: onCancel)) }

    deinit { cancel() }

    func cancel() {
        let onCancel = state.withLock { state in
            defer { state.onCancel = nil }
            return state.onCancel
        }
        onCancel?()
    }
}
