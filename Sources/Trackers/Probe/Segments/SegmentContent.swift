internal import Instrument

/// The content of a media segment: times, no data.
struct SegmentContent: Hashable, Sendable {
    var video: TrackContent?
    var audio: TrackContent?
    /// The kinds of tracks that the container declares, with or without frames.
    var streams: Set<PlaybackModel.Track> = []
    /// The bytes of the media, without the initialization section.
    var size = 0
    /// Whether timestamps determine the segment's position; packed audio without a timestamp begins at zero in each
    /// segment.
    var hasTimeline = true
    /// The interval after which timestamps wrap to zero, in nanoseconds; nil where they do not wrap. 2³³ ticks of 90
    /// kHz in a transport stream (ISO/IEC 13818-1, 2.4.3.7).
    var wrap: Int64?
    /// Whether each frame of the points is complete. Of a part of a segment, libavformat may return a last frame of
    /// which bytes are missing.
    var hasCompleteFrames = false

    subscript(track: PlaybackModel.Track) -> TrackContent? {
        get { track == .video ? video : audio }
        set { if track == .video { video = newValue } else { audio = newValue } }
    }

    /// The tracks; the first one determines the segment's times: video, or audio without video.
    var main: TrackContent? { video ?? audio }
    var isEmpty: Bool { video == nil && audio == nil }
    /// The kinds of tracks with frames.
    var kinds: Set<PlaybackModel.Track> { Set(PlaybackModel.Track.allCases.filter { self[$0] != nil }) }
}

extension SegmentContent {
    /// The interval after which the timestamps of a transport stream wrap.
    static let transportStreamWrap: Int64 = 95_443_717_688_889

    /// Moves packed audio to the time of its first sample, which counts like the times of transport streams.
    ///
    /// - Parameter time: the timestamp in front of the audio; nil without one, so that the segment has no timeline.
    mutating func place(at time: Int64?) {
        guard let time, let audio else {
            hasTimeline = false
            return
        }
        let distance = time.saturatingSubtract(audio.start)
        self.audio?.move(by: distance)
        wrap = Self.transportStreamWrap
    }

    /// Whether another reading of the segment gave the same, apart from the number of bytes after which media is
    /// playable.
    func hasTimes(of other: SegmentContent) -> Bool {
        func comparable(_ content: SegmentContent) -> SegmentContent {
            var content = content
            content.video?.points = []
            content.audio?.points = []
            content.hasCompleteFrames = false
            return content
        }
        return comparable(self) == comparable(other)
    }
}

/// One track of a segment. Times are nanoseconds of the container's timeline.
struct TrackContent: Hashable, Sendable {
    /// A point in the download at which playback could continue until `end`.
    struct Point: Hashable, Sendable {
        /// The number of bytes of the segment that must have arrived.
        var offset: Int
        /// The end of the media that is playable then.
        var end: Int64
    }

    /// The presentation time of the earliest frame.
    var start: Int64
    /// The end of the presentation of the last frame.
    var end: Int64
    /// The points at which playback could continue while bytes arrive: offsets and ends both increase.
    var points: [Point]
    var frameCount: Int
    /// The presentation time of the first keyframe; nil without a keyframe, which has no meaning for audio.
    var firstKeyframe: Int64?
    var startsWithKeyframe: Bool
    /// The largest gap between two frames, beyond the duration of the first of them.
    var largestGap: Int64
    var codec: String
    var pictureSize: PictureSize?
    /// The width of a sample of a picture, divided by its height; nil if unknown.
    var sampleAspect: Double?
    var framesPerSecond: Double?
    var language: String?
}

extension TrackContent {
    /// Moves all times.
    mutating func move(by distance: Int64) {
        start = start.saturatingAdd(distance)
        end = end.saturatingAdd(distance)
        firstKeyframe = firstKeyframe?.saturatingAdd(distance)
        for index in points.indices { points[index].end = points[index].end.saturatingAdd(distance) }
    }
}
