internal import Instrument

/// Something that libVLC reported, or that the watch read from it.
enum VLCObservation: Hashable, Sendable {
    /// A media was being played when the watch began.
    case joined(VLCMedia, isPaused: Bool)
    /// `Opening`: a playback begins.
    case opening(VLCMedia)
    /// `MediaChanged`: the app gave the player another media.
    case mediaChanged
    /// `Buffering`, in percent; libVLC has any number here.
    case buffering(Double)
    /// `Playing`: the input runs, first or again after a pause. The first picture comes later.
    case playing
    /// `Paused`.
    case paused
    /// `Stopped`.
    case stopped
    /// `EndReached`.
    case endReached
    /// `EncounteredError`.
    case failed
    /// `TimeChanged` on the input's thread, with the counters behind it. Comes every 250 to 500 ms while the input's
    /// thread is alive, whether or not the time changes.
    case progress(VLCProgress)
    /// The counters at the end of buffering.
    case counters(VLCCounters)
    /// `TimeChanged` or `PositionChanged` on another thread than the input's: the app asked for a seek.
    case seekAsked
    /// `LengthChanged`, in milliseconds; 0 for media without a known length.
    case length(Int64)
    /// `Vout` with a picture output: the first picture is shown within milliseconds.
    case tracks(VLCTracks, isShown: Bool)
    /// `AudioVolume`: 1 is the media's volume; negative without a sound output.
    case volume(Double)
    /// `Muted` and `Unmuted`.
    case muted(Bool)
    /// An error in the log of the instance.
    case message(String)
    /// No event came for a while.
    case silence
}

/// The media of a playback.
struct VLCMedia: Hashable, Sendable {
    /// The address or path (`libvlc_media_get_mrl`).
    var source: String?
    var title: String?
}

/// `libvlc_media_stats_t`. libVLC computes the numbers beside each `TimeChanged`.
struct VLCCounters: Hashable, Sendable {
    /// Pictures that were displayed; while a picture stands, libVLC also counts each refresh of the picture.
    var displayed = 0
    var decodedVideo = 0
    var decodedAudio = 0
    var playedAudio = 0
    var lost = 0
}

/// What libVLC says of a playback that runs.
struct VLCProgress: Hashable, Sendable {
    /// The playhead in milliseconds. For adaptive streams libVLC advances this time in steps of a second.
    var time: Int64
    var counters: VLCCounters?
    /// `libvlc_media_player_get_rate`.
    var rate: Double
}

/// The selected tracks.
struct VLCTracks: Hashable, Sendable {
    var width: Int?
    var height: Int?
    var framesPerSecond: Double?
    var bitrate: Int?
    var language: String?
    var subtitles: String?
}
