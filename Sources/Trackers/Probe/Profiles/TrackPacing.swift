internal import Instrument
internal import InstrumentManifests

/// How a player keeps audio and video that are fetched apart in step.
protocol TrackPacing: Hashable, Sendable {
    /// Whether each track always may, so that nobody need look at the other one.
    var isIndependent: Bool { get }
    /// Whether a track may request its next segment now.
    func permits(_ request: PacedRequest) -> Bool
    /// Whether a request of audio may permit one of video, which is then looked at again.
    var audioReleasesVideo: Bool { get }
    /// Whether audio of a live stream waits until the player has read its first pictures.
    var liveAudioAwaitsPictures: Bool { get }
    /// How the first audio of a stream on demand waits for the first pictures; nil if it does not.
    var firstAudioLook: FirstAudioLook? { get }
}

/// How audio that arrived before the first pictures are read waits for them: the player looks in a rhythm, which begins
/// with the request of the first media playlist. Until both are appended, neither track requests more.
struct FirstAudioLook: Hashable, Sendable {
    var interval: Duration
    /// The time that the player needs to append both.
    var append: Duration
}

extension TrackPacing {
    var isIndependent: Bool { false }
    var audioReleasesVideo: Bool { false }
    var liveAudioAwaitsPictures: Bool { false }
    var firstAudioLook: FirstAudioLook? { nil }
}

/// A request of one of two tracks, as a ``TrackPacing`` sees it. The other track has segments left.
struct PacedRequest: Hashable, Sendable {
    var isOfAudio: Bool
    /// The track that would request its next segment.
    var track: PacedTrack
    var other: PacedTrack
    /// Whether the other track loads a segment, or the player works on it.
    var isOtherLoading: Bool
    /// The position of the playhead, in nanoseconds.
    var position: Int64

    /// How much further the track is loaded than the other one, in nanoseconds.
    var lead: Int64 { track.loadedEnd.saturatingSubtract(other.loadedEnd) }
}

/// How far a track is loaded; all in nanoseconds.
struct PacedTrack: Hashable, Sendable {
    var loadedEnd: Int64
    /// The time from which on the track needs media, as the manifest has it.
    var timeNeeded: Int64
    /// The end of the segment that is planned or loaded; nil before it is known.
    var plannedEnd: Int64?
    /// The duration of the next segment.
    var nextDuration: Int64
    /// The duration of the longest segment, as far as it is known.
    var longestDuration: Int64
}

extension PacedTrack {
    init(_ track: TrackLoading, in manifest: ManifestLoading) {
        self.init(
            loadedEnd: track.loadedEnd,
            timeNeeded: track.timeNeeded,
            plannedEnd: track.plan?.segment?.end,
            nextDuration: track.nextSegment(in: manifest).duration.nanoseconds,
            longestDuration: track.longSegment(in: manifest)
        )
    }
}

/// Each track fills its own buffer, whatever the other one has.
struct IndependentTracks: TrackPacing {
    var isIndependent: Bool { true }
    func permits(_ request: PacedRequest) -> Bool { true }
}
