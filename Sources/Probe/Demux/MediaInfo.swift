/// What a container says of its media.
struct MediaInfo: Hashable, Sendable {
    /// How long it plays, in nanoseconds; nil if it does not say.
    var duration: Int64?
    /// Whether the duration was only guessed from size and bitrate.
    var isDurationEstimated = false
    var title: String?
    var language: String?
    /// bit/s of all tracks together, as declared; nil if it does not say.
    var bitrate: Int?
    /// Frames a second; nil without video.
    var framesPerSecond: Double?
    var width = 0
    var height = 0
    var hasVideo = false
    var hasAudio = false
    var formatName = ""
}

/// One piece of demuxed data, without the data.
struct Packet: Hashable, Sendable {
    var track: PlaybackModel.Track
    /// When it is shown, and until when, in nanoseconds from the start of the media.
    var start: Int64
    var end: Int64
    var size: Int
    var isKeyframe: Bool
    /// The picture's size, where the packet says it.
    var pictureSize: PictureSize?
}

/// Pixels.
struct PictureSize: Hashable, Sendable {
    var width: Int
    var height: Int
}
