public import Instrument

/// A stream as a check understood it: what a publisher can compare with the settings of the packager.
///
/// Times are nanoseconds; a value that the stream does not declare is nil.
public struct StreamDescription: Hashable, Sendable {
    /// Whether segments are added.
    public enum Kind: String, Hashable, Sendable {
        /// The stream is complete.
        case onDemand
        /// Segments are added, and none is removed.
        case event
        /// Segments are added, and old ones expire.
        case live
        /// No media playlist could be read.
        case unknown
    }

    /// A rung of the ladder.
    public struct Variant: Hashable, Sendable {
        /// The identifier.
        public var id: String
        /// The peak bit rate in bit/s; 0 if it is not declared.
        public var bandwidth: Int64
        /// The average bit rate in bit/s.
        public var averageBandwidth: Int64?
        /// The width of the pictures.
        public var width: Int?
        /// The height of the pictures.
        public var height: Int?
        /// The frames in a second.
        public var frameRate: Double?
        /// The codecs (RFC 6381).
        public var codecs: [String]
        /// The rendition with the pictures, or with the sound of a variant without pictures.
        public var rendition: String
        /// The renditions of sound to choose from.
        public var audio: [String]
        /// The renditions of subtitles to choose from.
        public var subtitles: [String]
    }

    /// A stream of segments.
    public struct Rendition: Hashable, Sendable {
        /// The name.
        public var name: String
        /// `video`, `audio`, `muxed` or `subtitles`.
        public var kind: String
        /// The language (BCP 47).
        public var language: String?
        /// The name for people.
        public var title: String?
        /// Whether the rendition is the default choice.
        public var isDefault: Bool
        /// Whether subtitles hold only what everybody needs.
        public var isForced: Bool
        /// `ts`, `fmp4`, `webm`, `webvtt`, or nil for a container that is not declared.
        public var container: String?
        /// The codecs (RFC 6381).
        public var codecs: [String]
        /// The peak bit rate of the rendition alone, in bit/s.
        public var bandwidth: Int64?
        /// The number of segments that are listed, or available now.
        public var segmentCount: Int
        /// The number of the first segment.
        public var firstSequence: Int64?
        /// The number of the last segment.
        public var lastSequence: Int64?
        /// The duration of the listed segments.
        public var duration: Int64
        /// The target duration of segments.
        public var targetDuration: Int64
        /// The duration of the longest segment.
        public var longestSegment: Int64?
        /// The number of discontinuities, or of borders of periods, between the segments.
        public var discontinuityCount: Int
        /// The number of segments that are declared as missing.
        public var gapCount: Int
        /// The number of low-latency parts that are listed.
        public var partCount: Int
        /// The longest duration of a part.
        public var partTarget: Int64?
        /// The declared distance of the playhead from the live edge.
        public var holdBack: Int64?
        /// The methods of encryption, such as `AES-128`.
        public var encryption: [String]
        /// Whether segments need an initialization segment.
        public var hasInitialization: Bool
        /// The calendar time of the end of the last segment.
        public var liveEdge: WallTime?
        /// The number of ad breaks: ranges and tags of advertising that begin.
        public var adBreakCount: Int
    }

    /// A period of an MPD.
    public struct Period: Hashable, Sendable {
        /// The identifier.
        public var id: String?
        /// The start.
        public var start: Int64
        /// The end; nil for a period that is not over.
        public var end: Int64?
    }

    /// `HLS` or `DASH`.
    public var format: String
    /// Whether segments are added.
    public var kind: Kind
    /// The duration; nil for a live stream.
    public var duration: Int64?
    /// The target latency: declared, or the usual one.
    public var targetLatency: Int64?
    /// The duration of the live window.
    public var window: Int64?
    /// The calendar time of the newest media that can be fetched.
    public var liveEdge: WallTime?
    /// The ladder, from the lowest to the highest bit rate.
    public var variants: [Variant]
    /// The renditions.
    public var renditions: [Rendition]
    /// The periods of an MPD.
    public var periods: [Period]
    /// The schemes of the events of an MPD with the number of events of each.
    public var eventSchemes: [String: Int]
    /// Whether a steering server chooses the servers.
    public var isSteered: Bool
}
