/// What a viewer asks of a player. Every layer, from ``Probe`` to ``PlaybackSession``, has one `perform` that takes it.
///
/// Positions are nanoseconds of media time from the start.
enum PlaybackCommand: Hashable, Sendable {
    /// Loads the source and starts playback; a second one does nothing.
    case play
    case pause
    case resume
    case seek(to: Int64)
    /// 1 is the normal rate; a rate that is not finite or not above zero is ignored.
    case setRate(Double)
    /// Ends the playback.
    case stop
}
