/// What is in a media segment: times, no data.
struct SegmentContent: Hashable, Sendable {
    var video: TrackContent?
    var audio: TrackContent?
    /// What there is by the container's own words, whether frames have come or not.
    var streams: Set<PlaybackModel.Track> = []
    /// Bytes of the media, without those of the initialization.
    var size = 0
    /// Whether timestamps say where the segment belongs; packed audio begins at zero each time.
    var hasTimeline = true
    /// The interval after which timestamps wrap to zero, in nanoseconds; nil where they do not wrap. 2³³ ticks of 90 kHz in a transport stream
    /// (ISO/IEC 13818-1, 2.4.3.7).
    var wrap: Int64?

    subscript(track: PlaybackModel.Track) -> TrackContent? {
        get { track == .video ? video : audio }
        set { if track == .video { video = newValue } else { audio = newValue } }
    }

    /// What is in it, the track that decides first: the picture's, else the sound's.
    var main: TrackContent? { video ?? audio }
    var isEmpty: Bool { video == nil && audio == nil }
}

/// One track of a segment. Times are nanoseconds of the container's own timeline.
struct TrackContent: Hashable, Sendable {
    /// A point in the download at which playback could continue until `end`.
    struct Point: Hashable, Sendable {
        /// The number of bytes of the segment that must have arrived.
        var offset: Int
        /// The end of what is there then.
        var end: Int64
    }

    /// When the earliest frame is shown.
    var start: Int64
    /// Until when the last frame is shown.
    var end: Int64
    /// How playback could continue as bytes arrive: offsets and ends both rise.
    var points: [Point]
    var frameCount: Int
    /// Where the first keyframe is shown; nil without one, which for sound says nothing.
    var firstKeyframe: Int64?
    var startsWithKeyframe: Bool
    /// The largest gap between two frames, beyond the duration of the first of them.
    var largestGap: Int64
    var codec: String
    var pictureSize: PictureSize?
    var framesPerSecond: Double?
    var language: String?
}
