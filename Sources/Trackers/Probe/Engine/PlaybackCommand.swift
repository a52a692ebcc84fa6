internal import Instrument

/// A command of a viewer, or of an ad break, for a player. Every layer, from ``Probe`` to ``PlaybackSession``, has one
/// `perform` that takes it.
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

    // MARK: What an ad break asks
    /// Stops the playhead where it is, until `release`.
    case hold
    case release
    /// Moves a held playhead, without a seek of the viewer.
    case relocate(to: Int64)
    /// An ad shows its first frame: from then on the viewer sees media.
    case noteAd(at: MonotonicInstant)
    /// Replaces the markers; those from a position up to the playhead are reached at once.
    case mark([PlaybackMarker], from: Int64)
}
