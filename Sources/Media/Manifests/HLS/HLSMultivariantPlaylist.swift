public import InstrumentHTTP

/// A multivariant playlist (RFC 8216 section 4.3.4, there called master playlist).
public struct HLSMultivariantPlaylist: Hashable, Sendable {
    /// One `EXT-X-STREAM-INF` with its address.
    public struct Stream: Hashable, Sendable {
        /// The address of the media playlist.
        public var url: HTTPURL
        /// `BANDWIDTH`: the peak bitrate over a segment, bit/s; 0 if missing.
        public var bandwidth: Int64
        /// `AVERAGE-BANDWIDTH`; nil if missing.
        public var averageBandwidth: Int64?
        /// The members of `CODECS`.
        public var codecs: [String]
        /// `RESOLUTION`.
        public var resolution: Resolution?
        /// `FRAME-RATE`.
        public var frameRate: Double?
        /// `AUDIO`: the group of audio renditions.
        public var audioGroup: String?
        /// `VIDEO`: the group of video renditions.
        public var videoGroup: String?
        /// `SUBTITLES`: the group of subtitles.
        public var subtitleGroup: String?
        /// `PATHWAY-ID` of content steering.
        public var pathway: String?
        /// `CLOSED-CAPTIONS=NONE`: no variant of the playlist has closed captions.
        public var hasNoCaptions = false
    }

    /// One `EXT-X-MEDIA`.
    public struct Media: Hashable, Sendable {
        /// `TYPE`.
        public enum Kind: String, Hashable, Sendable {
            case audio = "AUDIO"
            case video = "VIDEO"
            case subtitles = "SUBTITLES"
            case closedCaptions = "CLOSED-CAPTIONS"
        }
        /// `TYPE`.
        public var kind: Kind
        /// `GROUP-ID`.
        public var group: String
        /// `NAME`.
        public var name: String
        /// `LANGUAGE`.
        public var language: String?
        /// The address of the media playlist; nil if the rendition is part of the variants' segments.
        public var url: HTTPURL?
        /// `DEFAULT=YES`.
        public var isDefault: Bool
        /// `AUTOSELECT=YES`, or default.
        public var isAutoselected: Bool
        /// `FORCED=YES`: subtitles that everybody needs, for example of a foreign language in a film.
        public var isForced = false
        /// The members of `CHARACTERISTICS`.
        package var characteristics: [String]
    }

    /// The address after redirects.
    public var url: HTTPURL
    /// `EXT-X-VERSION`; 1 without one.
    public var version: Int64 = 1
    /// The variants as listed.
    public var streams: [Stream] = []
    /// The renditions as listed.
    public var media: [Media] = []
    /// `EXT-X-CONTENT-STEERING`.
    public var steering: ContentSteering?
    /// The number of I-frame playlists, which are not used.
    package var iFramePlaylists = 0
    /// `EXT-X-START`.
    public var startOffset: StartOffset?
    /// Whether each segment of all renditions can be decoded without the previous segments.
    public var hasIndependentSegments = false
    /// `EXT-X-DEFINE`: the variables that media playlists may import.
    public var definitions: VariableDefinitions = [:]
    /// Defects and unsupported features.
    public var notices: [ManifestNotice] = []
}
