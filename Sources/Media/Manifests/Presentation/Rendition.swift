package import InstrumentHTTP

/// One stream of segments: a video quality, an audio language, subtitles.
package struct Rendition: Hashable, Sendable, Identifiable {
    /// The identifier of a rendition within its presentation, unchanged after a reload.
    package struct ID: Hashable, Sendable, CustomStringConvertible {
        /// The identifier as text: group and name for HLS, adaptation set and representation for DASH.
        package let description: String
        init(_ description: String) { self.description = description }
    }

    /// The kind of media.
    package enum Kind: Hashable, Sendable {
        /// Video only.
        case video
        /// Audio only.
        case audio
        /// Video, possibly with audio in the same segments; HLS often does not declare which.
        case muxed
        /// Subtitles.
        case subtitles
    }

    /// The container format, as far as the manifest declares it.
    package enum Container: Hashable, Sendable {
        /// An MPEG-2 transport stream.
        case transportStream
        /// Fragmented MP4 with an initialization segment.
        case fragmentedMP4
        /// WebM, segments of Matroska.
        case webM
        /// WebVTT.
        case webVTT
        /// Unknown before a segment is fetched (packed audio, others).
        case other
    }

    /// The source of the segments.
    package enum Source: Hashable, Sendable {
        /// The segments are known (DASH).
        case segments(SegmentIndex)
        /// The segments are known: the manifest is a media playlist without a multivariant playlist (HLS). Reload it
        /// while it is live.
        case loaded(HLSMediaPlaylist)
        /// A media playlist to fetch and pass to a ``RenditionTimeline`` (HLS).
        case playlist(HTTPURL)
        /// Periods, some with a `sidx` box to fetch (DASH `SegmentBase`); join their indexes with
        /// ``SegmentIndex/init(joining:isComplete:)``.
        case parts([Part])
    }

    /// The segments of one period.
    package enum Part: Hashable, Sendable {
        /// The segments are known.
        case segments(SegmentIndex)
        /// A file with an index to fetch, which a ``FileIndex`` reads.
        case index(IndexedSegments)
    }

    /// The identifier.
    package var id: ID
    /// The kind of media.
    package var kind: Kind
    /// The language (BCP 47) as written; nil if not declared.
    package var language: String?
    /// The name for people; nil without a name.
    package var name: String?
    /// Whether it is the default choice (`DEFAULT`, role `main`).
    package var isDefault: Bool
    /// Whether a player may choose it without a viewer's request (`AUTOSELECT`).
    package var isAutoselected: Bool
    /// Whether subtitles hold only what everybody needs, such as a foreign language in a film (`FORCED`; role
    /// `forced-subtitle`).
    package var isForced = false
    /// The purposes: `CHARACTERISTICS`, or DASH roles.
    package var characteristics: [String]
    /// The container format, as far as known; a media playlist may declare more.
    package var container: Container
    /// The codecs (RFC 6381); empty if not declared.
    package var codecs: [String]
    /// The peak bitrate, bit/s; nil where the manifest does not declare the bitrate of this rendition alone.
    package var bitrate: Int64?
    /// The source of the segments.
    package var source: Source
}
