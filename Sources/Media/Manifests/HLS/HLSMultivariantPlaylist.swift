package import InstrumentHTTP

/// A multivariant playlist (RFC 8216 section 4.3.4, there called master playlist).
package struct HLSMultivariantPlaylist: Hashable, Sendable {
    /// One `EXT-X-STREAM-INF` with its address.
    package struct Stream: Hashable, Sendable {
        /// The address of the media playlist.
        package var url: HTTPURL
        /// `BANDWIDTH`: the peak bitrate over a segment, bit/s; 0 if missing.
        package var bandwidth: Int64
        /// `AVERAGE-BANDWIDTH`; nil if missing.
        package var averageBandwidth: Int64?
        /// The members of `CODECS`.
        package var codecs: [String]
        /// `RESOLUTION`.
        package var resolution: Resolution?
        /// `FRAME-RATE`.
        package var frameRate: Double?
        /// `AUDIO`: the group of audio renditions.
        package var audioGroup: String?
        /// `VIDEO`: the group of video renditions.
        package var videoGroup: String?
        /// `SUBTITLES`: the group of subtitles.
        package var subtitleGroup: String?
        /// `PATHWAY-ID` of content steering.
        package var pathway: String?
        /// `CLOSED-CAPTIONS=NONE`: no variant of the playlist has closed captions.
        package var hasNoCaptions = false
    }

    /// One `EXT-X-MEDIA`.
    package struct Media: Hashable, Sendable {
        /// `TYPE`.
        package enum Kind: String, Hashable, Sendable {
            case audio = "AUDIO"
            case video = "VIDEO"
            case subtitles = "SUBTITLES"
            case closedCaptions = "CLOSED-CAPTIONS"
        }
        /// `TYPE`.
        package var kind: Kind
        /// `GROUP-ID`.
        package var group: String
        /// `NAME`.
        package var name: String
        /// `LANGUAGE`.
        package var language: String?
        /// The address of the media playlist; nil if the rendition is part of the variants' segments.
        package var url: HTTPURL?
        /// `DEFAULT=YES`.
        package var isDefault: Bool
        /// `AUTOSELECT=YES`, or default.
        package var isAutoselected: Bool
        /// `FORCED=YES`: subtitles that everybody needs, for example of a foreign language in a film.
        package var isForced = false
        /// The members of `CHARACTERISTICS`.
        package var characteristics: [String]
    }

    /// The address after redirects.
    package var url: HTTPURL
    /// `EXT-X-VERSION`; 1 without one.
    package var version: Int64 = 1
    /// The variants as listed.
    package var streams: [Stream] = []
    /// The renditions as listed.
    package var media: [Media] = []
    /// `EXT-X-CONTENT-STEERING`.
    package var steering: ContentSteering?
    /// The number of I-frame playlists, which are not used.
    package var iFramePlaylists = 0
    /// `EXT-X-START`.
    package var startOffset: StartOffset?
    /// Whether each segment of all renditions can be decoded without the previous segments.
    package var hasIndependentSegments = false
    /// `EXT-X-DEFINE`: the variables that media playlists may import.
    package var definitions: VariableDefinitions = [:]
    /// The tags that the playlist has under names that are written wrongly, so that players ignore them.
    package var miswrittenTags: Set<TagName> = []
    /// Defects and unsupported features.
    package var notices: [ManifestNotice] = []
}
