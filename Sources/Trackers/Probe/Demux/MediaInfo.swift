/// The properties of media that a container declares.
struct MediaInfo: Hashable, Sendable {
    /// The duration in nanoseconds; nil if it is not declared.
    var duration: Int64?
    /// Whether the duration is an estimate from size and bitrate.
    var isDurationEstimated = false
    var title: String?
    var language: String?
    /// The language of the subtitles that are loaded; nil without subtitles.
    var subtitles: String?
    /// The declared bitrate of all tracks together, bit/s; nil if it is not declared.
    var bitrate: Int?
    /// Frames per second; nil without video.
    var framesPerSecond: Double?
    var width = 0
    var height = 0
    var hasVideo = false
    var hasAudio = false
    var formatName = ""
}

/// The description of one packet, without its data.
struct Packet: Hashable, Sendable {
    var track: PlaybackModel.Track
    /// The presentation interval, in nanoseconds from the start of the media.
    var start: Int64
    var end: Int64
    var size: Int
    var isKeyframe: Bool
    /// The picture's size, where the packet carries it.
    var pictureSize: PictureSize?
}

/// A picture's size in pixels.
struct PictureSize: Hashable, Sendable {
    var width: Int
    var height: Int
}
