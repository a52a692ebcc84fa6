package import Instrument

/// A stream as a check understood it: what a publisher can compare with the settings of the packager.
///
/// Times are nanoseconds; a value that the stream does not declare is nil.
package struct StreamDescription: Hashable, Sendable {
    /// Whether segments are added.
    package enum Kind: String, Hashable, Sendable {
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
    package struct Variant: Hashable, Sendable {
        /// The identifier.
        package var id: String
        /// The peak bit rate in bit/s.
        package var bandwidth: Int64?
        /// The average bit rate in bit/s.
        package var averageBandwidth: Int64?
        /// The width of the pictures.
        package var width: Int?
        /// The height of the pictures.
        package var height: Int?
        /// The frames in a second.
        package var frameRate: Double?
        /// The codecs (RFC 6381).
        package var codecs: [String]
        /// The rendition with the pictures, or with the sound of a variant without pictures.
        package var rendition: String
        /// The renditions of sound to choose from.
        package var audio: [String]
        /// The renditions of subtitles to choose from.
        package var subtitles: [String]
    }

    /// A stream of segments.
    package struct Rendition: Hashable, Sendable {
        /// The name.
        package var name: String
        /// `video`, `audio`, `muxed` or `subtitles`.
        package var kind: String
        /// The language (BCP 47).
        package var language: String?
        /// The name for people.
        package var title: String?
        /// Whether the rendition is the default choice.
        package var isDefault: Bool
        /// Whether subtitles hold only what everybody needs.
        package var isForced: Bool
        /// `ts`, `fmp4`, `webm`, `webvtt`, or nil for a container that is not declared.
        package var container: String?
        /// The codecs (RFC 6381).
        package var codecs: [String]
        /// The peak bit rate of the rendition alone, in bit/s.
        package var bandwidth: Int64?
        /// The number of segments that are listed, or available now; nil where no playlist or index could be read.
        package var segmentCount: Int?
        /// The number of the first segment.
        package var firstSequence: Int64?
        /// The number of the last segment.
        package var lastSequence: Int64?
        /// The duration of the listed segments; nil like their number.
        package var duration: Int64?
        /// The target duration of segments.
        package var targetDuration: Int64
        /// The duration of the longest segment.
        package var longestSegment: Int64?
        /// The number of discontinuities, or of borders of periods, between the segments.
        package var discontinuityCount: Int
        /// The number of segments that are declared as missing.
        package var gapCount: Int
        /// The number of low-latency parts that are listed.
        package var partCount: Int
        /// The longest duration of a part.
        package var partTarget: Int64?
        /// The declared distance of the playhead from the live edge.
        package var holdBack: Int64?
        /// The methods of encryption, such as `AES-128`.
        package var encryption: [String]
        /// Whether segments need an initialization segment.
        package var hasInitialization: Bool
        /// The calendar time of the end of the last segment.
        package var liveEdge: WallTime?
        /// The number of ad breaks: ranges and tags of advertising that begin.
        package var adBreakCount: Int
    }

    /// A period of an MPD.
    package struct Period: Hashable, Sendable {
        /// The identifier.
        package var id: String?
        /// The start.
        package var start: Int64
        /// The end; nil for a period that is not over.
        package var end: Int64?
    }

    /// `HLS` or `DASH`.
    package var format: String
    /// Whether segments are added.
    package var kind: Kind
    /// The duration; nil for a live stream.
    package var duration: Int64?
    /// The target latency: declared, or the usual one.
    package var targetLatency: Int64?
    /// The duration of the live window.
    package var window: Int64?
    /// The calendar time of the newest media that can be fetched.
    package var liveEdge: WallTime?
    /// The ladder, from the lowest to the highest bit rate.
    package var variants: [Variant]
    /// The renditions.
    package var renditions: [Rendition]
    /// The periods of an MPD.
    package var periods: [Period]
    /// The schemes of the events of an MPD with the number of events of each.
    package var eventSchemes: [String: Int]
    /// Whether a steering server chooses the servers.
    package var isSteered: Bool
}
