internal import Instrument

/// What an engine reports, in order.
enum PlaybackNews: Sendable {
    /// A signal for the observer of the player.
    case signal(PlayerSignal)
    /// The media pauses or resumes because of a hold, not because of the viewer.
    case held(PlayerSignal)
    /// The playhead reached a marker.
    case reached(PlaybackMarker, MonotonicInstant, position: Int64)
    /// The stream says something of ads, for the first time or again.
    case ads(StreamAds)
}
