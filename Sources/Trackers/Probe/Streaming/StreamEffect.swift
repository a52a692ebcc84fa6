internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// A request of a value of the streaming engine to its surroundings. `StreamPlayback.apply` applies all effects. It is
/// the only place where loading accesses the network and the session, and so the only place where loading causes
/// signals.
enum StreamEffect: Hashable, Sendable {
    // MARK: The network
    /// Fetch a resource, unless its request is running or its retry is not due.
    case fetch(FetchPurpose, HTTPURL, ByteRange?)
    /// Cancel the requests and the retries of a track.
    case cancelFetches(StreamRole)

    // MARK: The stream
    case manifestLoaded(duration: Int64?)
    case durationChanged(Int64?)
    /// A reloaded manifest has another ladder.
    case ladderChanged(LadderChange)
    case latencyMeasured(Duration)
    case warned(StreamWarning)

    // MARK: Media
    /// All tracks are known, so that playback can start.
    case opened(OpenedTracks)
    case received(MediaArrival)
    /// The picture has this quality from a position on.
    case qualityChanges(Quality, at: Int64)

    // MARK: The playhead
    /// Playback starts at this position, unless the viewer chooses another one.
    case start(at: Int64)
    /// The playhead jumps, and loading continues from there.
    case jump(to: Int64)
    case catchUp(rate: Double)
    /// At most this much media is needed to start or to continue with, whatever the profile's thresholds are.
    case sufficientMedia(Duration)

    // MARK: Failures
    /// The playlist or manifest of a rendition in use has not changed for too long.
    case stale(Rendition.ID, ProbeError)
    /// An error that playback survives.
    case survived(ProbeError)
    /// Loading ends: with an error, or because everything is loaded. Playback continues to the end of the buffer.
    case exhausted(ProbeError?)
}

/// Playable media, and the instant since which it is playable.
struct MediaArrival: Hashable, Sendable {
    var track: PlaybackModel.Track
    /// The end of the media, on the presentation's timeline.
    var end: Int64
    var instant: MonotonicInstant
}

/// The properties of the tracks in the first segments.
struct OpenedTracks: Hashable, Sendable {
    var hasVideo: Bool
    var hasAudio: Bool
    var framesPerSecond: Double?
    var language: String?
    /// Whether the segments have no initialization section, so that a browser's player transmuxes them.
    var isTransmuxed: Bool
    /// The instant at which the first media arrived.
    var instant: MonotonicInstant
}

/// The relation of a reloaded manifest's ladder to the earlier ladder.
struct LadderChange: Hashable, Sendable {
    /// The new rung of each earlier rung that still exists.
    var rungs: [Int: Int]
    var ladder: BitrateLadder
    /// The renditions of the new manifest.
    var renditions: Set<Rendition.ID>

    /// The new place of an earlier rung; the nearest rung where the rung no longer exists.
    func rung(for earlier: Int) -> Int { rungs[earlier] ?? ladder.clamped(earlier) }
}
