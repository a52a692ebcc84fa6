public import Instrument

extension Action {
    /// The tracker no longer watches the player, whose playback may continue. Our addition.
    public static let detach = Action("Detach")
}
