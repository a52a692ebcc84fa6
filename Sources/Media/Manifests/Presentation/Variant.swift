/// Width and height of a picture in pixels.
public struct Resolution: Hashable, Sendable {
    /// The width.
    public var width: Int
    /// The height.
    public var height: Int

    /// Creates a resolution.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// A rung of the ladder: one quality of the whole presentation. HLS: `EXT-X-STREAM-INF`; DASH: a video
/// representation, or an audio representation without video.
public struct Variant: Hashable, Sendable, Identifiable {
    /// The identifier, unchanged after a reload.
    public var id: String
    /// The peak bitrate over a segment, bit/s: of everything that is played together (HLS `BANDWIDTH`), or of the
    /// video alone (DASH `@bandwidth`).
    public var peakBitrate: Int64
    /// The average bitrate, bit/s; nil where the manifest does not declare it.
    public var averageBitrate: Int64?
    /// The largest picture; nil where the manifest does not declare it.
    public var resolution: Resolution?
    /// Frames per second; nil where the manifest does not declare them.
    public var frameRate: Double?
    /// The codecs of video and audio (RFC 6381); empty where the manifest does not declare them.
    public var codecs: [String]
    /// The rendition with the video, with audio and video, or with the audio of a variant without video.
    public var main: Rendition.ID
    /// The audio renditions to choose from, the best choice first. A rendition that equals ``main`` is part of it and
    /// needs no further requests.
    public var audio: [Rendition.ID]
    /// The renditions of subtitles to choose from.
    public var subtitles: [Rendition.ID]
    /// Renditions with the content of ``main`` at other addresses, for failures (redundant streams, other pathways).
    public var backups: [Rendition.ID]
    /// The audio group: variants of a group share their audio (HLS `AUDIO`). A change inside a group keeps codec and
    /// channels.
    public var audioGroup: String?
}
