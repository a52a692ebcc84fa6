public import Instrument
public import InstrumentHTTP

/// A media playlist (RFC 8216 section 4.3.3): the segments of one rendition.
///
/// Start times are nanoseconds from the playlist's first segment; a ``RenditionTimeline`` puts them on the
/// presentation timeline.
public struct HLSMediaPlaylist: Hashable, Sendable {
    /// Where it finally came from.
    public var url: HTTPURL
    /// `EXT-X-VERSION`; 1 without one.
    public var version: Int64 = 1
    /// The type of the playlist: live, unless the playlist says otherwise or has ended.
    public var kind = Presentation.Kind.live
    /// Whether `EXT-X-ENDLIST` is there (or `EXT-X-PLAYLIST-TYPE:VOD`): nothing will be added.
    public var hasEnded = false
    /// `EXT-X-TARGETDURATION` in nanoseconds.
    public var targetDuration: Int64 = 0
    /// The number of the first segment.
    public var mediaSequence: Int64 = 0
    /// The discontinuity number of the first segment.
    public var discontinuitySequence: Int64 = 0
    /// The segments; their numbers rise by one.
    public var segments: [MediaSegment] = []
    /// `HOLD-BACK` in nanoseconds: how far behind the end to play; nil where not said.
    public var holdBack: Int64?
    /// `CAN-SKIP-UNTIL` in nanoseconds; nil where not said. Known, not used.
    public var canSkipUntil: Int64?
    /// `EXT-X-START`.
    public var startOffset: StartOffset?
    /// Whether each segment can be decoded without the ones before it.
    public var hasIndependentSegments = false
    /// Whether it lists key frames alone, for fast winding.
    public var isIFramesOnly = false
    /// Ranges of time with metadata, such as advertisements.
    public var dateRanges: [DateRange] = []
    /// Defects and unsupported features.
    public var notices: [ManifestNotice] = []

    /// How long all of it plays, in nanoseconds.
    public var duration: Int64 { segments.last?.end ?? 0 }

    /// What its segments are packed in: fMP4 with `EXT-X-MAP`, else by the file names' endings.
    public var container: Rendition.Container {
        guard let segment = segments.first else { return .other }
        return Rendition.Container(of: segment)
    }
}

/// A range of calendar time with metadata (`EXT-X-DATERANGE`, RFC 8216 section 4.3.2.7).
public struct DateRange: Hashable, Sendable, Identifiable {
    /// What tells it from the others.
    public var id: String
    /// Ranges of a class have the same meaning; nil where not said.
    public var rangeClass: String?
    /// When it begins.
    public var start: WallTime
    /// How long it is, in nanoseconds: `DURATION`, else what `END-DATE` gives, else `PLANNED-DURATION`.
    public var duration: Int64?
    /// Whether it is about advertising: it has an SCTE-35 attribute, or is an interstitial.
    public var isAdvertising: Bool
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
