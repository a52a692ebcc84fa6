public import Instrument

extension Action {
    /// We watch the player no longer; its playback may go on. Our addition.
    public static let detach = Action("Detach")
}
