/// Width and height of a picture in pixels.
public struct Resolution: Hashable, Sendable {
    /// Pixels in a row.
    public var width: Int
    /// Rows.
    public var height: Int

    /// Creates a resolution.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// A rung of the ladder: one quality of the whole, as a player chooses it. HLS: `EXT-X-STREAM-INF`; DASH: a video
/// representation, or an audio one where there is no video.
public struct Variant: Hashable, Sendable, Identifiable {
    /// What tells it from the others, the same after a reload.
    public var id: String
    /// The largest bits a second over a segment, of all that is played together (HLS `BANDWIDTH`), or of the video
    /// alone (DASH `@bandwidth`).
    public var peakBitrate: Int64
    /// The average bitrate, bit/s; nil where the manifest does not declare it.
    public var averageBitrate: Int64?
    /// The largest picture; nil where the manifest does not declare it.
    public var resolution: Resolution?
    /// Frames per second; nil where the manifest does not declare them.
    public var frameRate: Double?
    /// What it is coded in (RFC 6381), video and audio; empty where the manifest does not say.
    public var codecs: [String]
    /// The rendition that carries its video, or audio and video, or the audio of one without video.
    public var main: Rendition.ID
    /// The renditions of audio to choose one from, the best choice first. One that is ``main`` itself is inside it, and
    /// nothing further has to be fetched for it.
    public var audio: [Rendition.ID]
    /// The renditions of subtitles to choose from.
    public var subtitles: [Rendition.ID]
    /// Renditions with the same as ``main`` from elsewhere, for when that fails (redundant streams, other pathways).
    public var backups: [Rendition.ID]
    /// Variants that share it have their audio in common (HLS `AUDIO`); stay inside a group to keep codec and channels.
    public var audioGroup: String?
}
