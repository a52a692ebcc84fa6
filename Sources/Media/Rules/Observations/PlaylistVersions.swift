public import Instrument
public import InstrumentHTTP
public import InstrumentManifests

/// A multivariant playlist as it was fetched.
public struct MultivariantVersion: Sendable {
    /// The address after redirects.
    public let url: HTTPURL
    /// The parsed playlist.
    package let playlist: HLSMultivariantPlaylist
    /// The tags and addresses with their lines.
    public let entries: PlaylistEntries

    /// The tags of a name, in their order.
    public func tags(_ name: String) -> [PlaylistTag] { entries.tags(name) }
}

/// A media playlist as it was fetched.
public struct MediaPlaylistVersion: Sendable {
    /// The address after redirects.
    public let url: HTTPURL
    /// The instant at which the response was complete.
    public private(set) var fetched: Timestamp
    /// The parsed playlist.
    package let playlist: HLSMediaPlaylist
    /// The tags and addresses with their lines.
    public let entries: PlaylistEntries
    /// The segments with their lines.
    package let segments: ListedSegments
    /// Whether the playlist has `EXT-X-ENDLIST`.
    public let hasEndTag: Bool

    /// Returns this version as a later response with the same body; nil for a response with another one.
    ///
    /// A complete playlist is fetched twice, and one of a live stream often without news: it need not be parsed again,
    /// and shares the memory of the version that is known.
    func repeated(by text: FetchedText) -> MediaPlaylistVersion? {
        guard text.url == url, text.bytes == entries.bytes else { return nil }
        var version = self
        version.fetched = text.fetched
        return version
    }

    /// Creates a version from a parsed playlist and its entries.
    package init(url: HTTPURL, fetched: Timestamp, playlist: HLSMediaPlaylist, entries: PlaylistEntries) {
        self.url = url
        self.fetched = fetched
        self.playlist = playlist
        self.entries = entries
        segments = ListedSegments(playlist.segments, entries)
        hasEndTag = !entries.tags("EXT-X-ENDLIST").isEmpty
    }

    /// The tags of a name, in their order.
    public func tags(_ name: String) -> [PlaylistTag] { entries.tags(name) }

    /// Whether segments may still be added or removed.
    public var isLive: Bool { !playlist.hasEnded }

    /// The newest segment: the same as long as no segment is added.
    package var edge: String {
        segments.last.map { "\($0.segment.sequence) \($0.identity)" } ?? ""
    }

    /// Whether both versions say the same.
    func hasSameContent(as other: MediaPlaylistVersion) -> Bool {
        playlist == other.playlist && hasEndTag == other.hasEndTag
    }
}

extension MediaPlaylistVersion {
    /// Whether the first segment is the beginning of a presentation on demand, which all variants have in common.
    var startsWithPresentation: Bool {
        playlist.hasEnded
            && (playlist.mediaSequence <= 1 || tags("EXT-X-PLAYLIST-TYPE").contains { $0.value == "VOD" })
    }

    /// What to do about a window of less than three target durations.
    var windowAdvice: String {
        let longest = playlist.segments.map(\.duration).max() ?? 0
        guard longest.saturatingMultiply(2) < playlist.targetDuration else {
            return "Keep more segments in the playlist."
        }
        return "Write the duration of the longest segment, \(longest.shownSeconds), into EXT-X-TARGETDURATION, "
            + "or keep more segments in the playlist."
    }

    /// Whether both were fetched at about the same time, so that their live edges can be compared.
    func isFetched(with other: MediaPlaylistVersion) -> Bool {
        fetched.instant.duration(to: other.fetched.instant).nanoseconds.magnitude <= simultaneity.magnitude
    }

    /// The longest time between two fetches that count as one, in nanoseconds.
    var simultaneity: Int64 { max(playlist.targetDuration / 2, 500_000_000) }

    /// The date at which the newest segment ends; nil without dates.
    var endDate: WallTime? {
        segments.last.flatMap { $0.segment.wallTime?.advanced(nanoseconds: $0.segment.duration) }
    }
}
