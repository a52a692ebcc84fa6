internal import Instrument
package import InstrumentHTTP

/// A media playlist (RFC 8216 section 4.3.3): the segments of one rendition.
///
/// Start times are nanoseconds from the playlist's first segment; a ``RenditionTimeline`` converts them to the
/// presentation timeline.
package struct HLSMediaPlaylist: Hashable, Sendable {
    /// The address after redirects.
    package var url: HTTPURL
    /// `EXT-X-VERSION`; 1 without one.
    package var version: Int64 = 1
    /// The type of the playlist: live, unless the playlist says otherwise or has ended.
    package var kind = Presentation.Kind.live
    /// Whether the playlist has `EXT-X-ENDLIST` (or `EXT-X-PLAYLIST-TYPE:VOD`), so that no segment will be added.
    package var hasEnded = false
    /// `EXT-X-TARGETDURATION` in nanoseconds.
    package var targetDuration: Int64 = 0
    /// The number of the first segment.
    package var mediaSequence: Int64 = 0
    /// The discontinuity number of the first segment.
    package var discontinuitySequence: Int64 = 0
    /// The segments; their numbers increase by one.
    package var segments: [MediaSegment] = []
    /// The segment that the server is producing, with the parts that exist; nil without low-latency parts. Its address
    /// is that of a part, and its duration the sum of the parts.
    package var openSegment: MediaSegment?
    /// The number of segments that a delta update leaves out, before the first of ``segments`` (`EXT-X-SKIP`).
    package var skippedCount = 0
    /// What the server declares for low-latency playback.
    package var control = ServerControl()
    /// The next part (`EXT-X-PRELOAD-HINT` with `TYPE=PART`); nil without a hint.
    package var preloadHint: PreloadHint?
    /// The initialization section that the next parts need (`TYPE=MAP`); nil without a hint.
    package var initializationHint: PreloadHint?
    /// What the playlists of other renditions have last.
    package var renditionReports: [RenditionReport] = []
    /// `EXT-X-START`.
    package var startOffset: StartOffset?
    /// Whether each segment can be decoded without the previous segments.
    package var hasIndependentSegments = false
    /// Whether the playlist lists only key frames, for fast forward and rewind.
    package var isIFramesOnly = false
    /// Ranges of time with metadata, such as advertisements. Tags of one identifier are one range.
    package var dateRanges: [DateRange] = []
    /// Legacy tags of ad breaks (`EXT-X-CUE-OUT` and others) in their order.
    package var adTags: [HLSAdTag] = []
    /// The tags that the playlist has under names that are written wrongly, so that players ignore them.
    package var miswrittenTags: Set<TagName> = []
    /// Whether the text has `#EXTM3U` again, as two playlists in one file have it.
    package var isJoined = false
    /// Defects and unsupported features.
    package var notices: [ManifestNotice] = []

    /// The duration of all segments, in nanoseconds.
    package var duration: Int64 { segments.last?.end ?? 0 }

    /// The container format: fMP4 with `EXT-X-MAP`, else by the file names' extensions.
    package var container: Rendition.Container {
        guard let segment = segments.first else { return .other }
        return Rendition.Container(of: segment)
    }
}

extension Rendition.Container {
    init(of segment: MediaSegment) {
        let name = segment.url.path.split(separator: "/").last ?? ""
        let ending = name.split(separator: ".").count > 1 ? name.split(separator: ".").last?.lowercased() : nil
        if segment.initialization != nil {
            self = ending == "webm" ? .webM : .fragmentedMP4
            return
        }
        switch ending {
        case "ts", "m2ts", "mts", "tsv", "tsa": self = .transportStream
        case "vtt", "webvtt": self = .webVTT
        case "mp4", "m4s", "m4v", "m4a", "cmfv", "cmfa": self = .fragmentedMP4
        case "webm": self = .webM
        default: self = .other
        }
    }
}
