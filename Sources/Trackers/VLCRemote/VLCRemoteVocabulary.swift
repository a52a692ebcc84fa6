internal import Instrument

extension Action {
    /// The tracker no longer watches the player, whose playback may continue.
    static let detach = Action("Detach")
}
