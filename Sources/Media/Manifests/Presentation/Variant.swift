/// Width and height of a picture in pixels.
package struct Resolution: Hashable, Sendable {
    /// The width.
    package var width: Int
    /// The height.
    package var height: Int

    /// Creates a resolution.
    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// A rung of the ladder: one quality of the whole presentation. HLS: `EXT-X-STREAM-INF`; DASH: a video
/// representation, or an audio representation without video.
package struct Variant: Hashable, Sendable, Identifiable {
    /// The identifier, unchanged after a reload.
    package var id: String
    /// The peak bitrate over a segment, bit/s: of everything that is played together (HLS `BANDWIDTH`), or of the
    /// video alone (DASH `@bandwidth`).
    package var peakBitrate: Int64
    /// The average bitrate, bit/s; nil where the manifest does not declare it.
    package var averageBitrate: Int64?
    /// The largest picture; nil where the manifest does not declare it.
    package var resolution: Resolution?
    /// Frames per second; nil where the manifest does not declare them.
    package var frameRate: Double?
    /// The codecs of video and audio (RFC 6381); empty where the manifest does not declare them.
    package var codecs: [String]
    /// The rendition with the video, with audio and video, or with the audio of a variant without video.
    package var main: Rendition.ID
    /// The audio renditions to choose from, the best choice first. A rendition that equals ``main`` is part of it and
    /// needs no further requests.
    package var audio: [Rendition.ID]
    /// The renditions of subtitles to choose from.
    package var subtitles: [Rendition.ID]
    /// Renditions with the content of ``main`` at other addresses, for failures (redundant streams, other pathways).
    package var backups: [Rendition.ID]
    /// The audio group: variants of a group share their audio (HLS `AUDIO`). A change inside a group keeps codec and
    /// channels.
    package var audioGroup: String?
}
