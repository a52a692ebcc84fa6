public import InstrumentHTTP

/// One stream of segments: a video quality, an audio language, subtitles.
public struct Rendition: Hashable, Sendable, Identifiable {
    /// What tells a rendition from the others of its presentation, the same after a reload.
    public struct ID: Hashable, Sendable, CustomStringConvertible {
        /// The identifier as a text: for HLS of group and name, for DASH of adaptation set and representation.
        public let description: String
        init(_ description: String) { self.description = description }
    }

    /// What it carries.
    public enum Kind: Hashable, Sendable {
        /// Pictures alone.
        case video
        /// Sound alone.
        case audio
        /// Pictures, and possibly sound in the same segments; HLS often does not say before one is demuxed.
        case muxed
        /// Words.
        case subtitles
    }

    /// What its segments are packed in, as far as the manifest shows.
    public enum Container: Hashable, Sendable {
        /// An MPEG-2 transport stream.
        case transportStream
        /// Fragmented MP4 with an initialization segment.
        case fragmentedMP4
        /// WebM, segments of Matroska.
        case webM
        /// WebVTT text.
        case webVTT
        /// Not known before it is fetched (packed audio, others).
        case other
    }

    /// Where its segments come from.
    public enum Source: Hashable, Sendable {
        /// They are known (DASH).
        case segments(SegmentIndex)
        /// They are known: the media playlist is all there is, without a multivariant one (HLS). Reload it while it is
        /// live.
        case loaded(HLSMediaPlaylist)
        /// A media playlist has to be fetched and given to a ``RenditionTimeline`` (HLS).
        case playlist(HTTPURL)
        /// Periods of which some have a `sidx` box that has to be fetched (DASH `SegmentBase`); join what they give
        /// with ``SegmentIndex/init(joining:isComplete:)``.
        case parts([Part])
    }

    /// The segments of one period.
    public enum Part: Hashable, Sendable {
        /// They are known.
        case segments(SegmentIndex)
        /// The index has to be fetched and given to ``IndexedSegments/segments(from:limits:)``.
        case index(IndexedSegments)
    }

    /// What tells it from the others.
    public var id: ID
    /// What it carries.
    public var kind: Kind
    /// The language (BCP 47) as written; nil where the manifest does not say.
    public var language: String?
    /// The name for people; nil without a name.
    public var name: String?
    /// Whether it is the choice where nobody chooses (`DEFAULT`, role `main`).
    public var isDefault: Bool
    /// Whether it may be chosen without being asked for (`AUTOSELECT`).
    public var isAutoselected: Bool
    /// What it is for: `CHARACTERISTICS`, or DASH roles.
    public var characteristics: [String]
    /// What its segments are packed in, as far as known; a media playlist tells more.
    public var container: Container
    /// What it is coded in (RFC 6381); empty where the manifest does not say.
    public var codecs: [String]
    /// bit/s; nil where the manifest does not declare the bitrate of this rendition alone.
    public var bitrate: Int64?
    /// Where its segments come from.
    public var source: Source
}
