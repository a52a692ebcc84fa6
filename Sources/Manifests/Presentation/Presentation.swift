public import Instrument
public import InstrumentHTTP

/// The content of a manifest, whatever its format: a ladder of variants, their renditions, and rules of live playback.
///
/// ```swift
/// let presentation = try Presentation(parsing: response.body, at: response.url, now: clock.wallTime)
/// let variant = presentation.variants[0]
/// ```
/// A value without clock or network. `init` does not block; its time is linear in the manifest's size.
public struct Presentation: Hashable, Sendable {
    /// The format of the manifest.
    public enum Format: Hashable, Sendable {
        /// HTTP Live Streaming (RFC 8216).
        case hls
        /// Dynamic Adaptive Streaming over HTTP (ISO/IEC 23009-1).
        case dash
    }

    /// Whether segments are added and removed.
    public enum Kind: Hashable, Sendable {
        /// The presentation is complete.
        case onDemand
        /// Segments are added, and none expires.
        case event
        /// Segments are added, and old ones expire.
        case live
        /// Not known before a media playlist is fetched (a multivariant playlist does not say).
        case unknown
    }

    /// The format of the manifest.
    public var format: Format
    /// The address of the manifest after redirects, which is the base of its references.
    public var url: HTTPURL
    /// Whether segments are added and removed.
    public var kind: Kind
    /// The duration in nanoseconds; nil for live streams and before a media playlist was fetched.
    public var duration: Int64?
    /// The ladder, from the lowest to the highest peak bit rate. Never empty.
    public var variants: [Variant]
    /// All renditions.
    public var renditions: [Rendition]
    /// Where playback starts, if the manifest declares it (`EXT-X-START`).
    public var startOffset: StartOffset?
    /// Whether each segment can be decoded without the ones before it, as far as promised for all
    /// (`EXT-X-INDEPENDENT-SEGMENTS`).
    public var hasIndependentSegments: Bool
    /// When to fetch the manifest again, and what live playback should keep to; nil if it never changes, and for HLS,
    /// where each rendition's playlist is reloaded instead.
    public var live: LiveRules?
    /// Variables that media playlists may import (`EXT-X-DEFINE`).
    public var definitions: VariableDefinitions = [:]
    /// Defects and unsupported features.
    public var notices: [ManifestNotice]

    /// The rendition with this identifier.
    public func rendition(_ id: Rendition.ID) -> Rendition? { renditions.first { $0.id == id } }
}

/// Where playback should start (`EXT-X-START`, RFC 8216 section 4.3.5.2).
public struct StartOffset: Hashable, Sendable {
    /// Nanoseconds from the start or, if negative, from the end.
    public var offset: Int64
    /// Whether what lies before the point inside its segment should not be shown.
    public var isPrecise: Bool
}

/// What live playback keeps to. Nanoseconds.
public struct LiveRules: Hashable, Sendable {
    /// How far behind the live edge to play.
    public var targetLatency: Int64
    /// How far back from the live edge a viewer may go; nil for as far as there are segments.
    public var windowDuration: Int64?
    /// The shortest time between two fetches of the manifest; nil if it need not be fetched again.
    public var updatePeriod: Int64?
    /// The calendar time that stands at 0 of the presentation timeline, by the clock that was handed in (it is
    /// corrected by `UTCTiming` where that is given directly); nil where unknown.
    public var origin: WallTime?
    /// Where to fetch the manifest next time (`Location`); nil for where it came from.
    public var reloadURL: HTTPURL?
}
