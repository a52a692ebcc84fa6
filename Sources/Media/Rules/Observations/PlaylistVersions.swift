public import Instrument
public import InstrumentHTTP
public import InstrumentManifests

/// A multivariant playlist as it was fetched.
public struct MultivariantVersion: Sendable {
    /// The address after redirects.
    public let url: HTTPURL
    /// The parsed playlist.
    public let playlist: HLSMultivariantPlaylist
    /// The tags and addresses with their lines.
    public let entries: [PlaylistEntry]

    /// The tags of a name, in their order.
    public func tags(_ name: String) -> [PlaylistTag] { entries.tags(name) }
}

/// A segment of a media playlist with what stands before its address.
public struct ListedSegment: Hashable, Sendable {
    /// The parsed segment.
    public var segment: MediaSegment
    /// The line of the address.
    public var line: Int
    /// The segment's `EXT-X-PROGRAM-DATE-TIME`; nil without one.
    public var date: WallTime?
    /// Whether `EXT-X-DISCONTINUITY` stands before the segment.
    public var isAfterDiscontinuity: Bool
    /// The address as the playlist writes it, without host, query and fragment.
    public var reference: String
    /// The address of the initialization segment in the same form; nil without one.
    public var mapReference: String?

    /// The reference and the byte range: the same for the same segment, also where each reload has new tokens in the
    /// query, or is redirected to another host.
    var identity: String {
        guard let range = segment.byteRange else { return reference }
        return "\(reference) \(range.offset)+\(range.length ?? -1)"
    }
}

/// A media playlist as it was fetched.
public struct MediaPlaylistVersion: Sendable {
    /// The address after redirects.
    public let url: HTTPURL
    /// The instant at which the response was complete.
    public private(set) var fetched: Timestamp
    /// The parsed playlist.
    public let playlist: HLSMediaPlaylist
    /// The tags and addresses with their lines.
    public let entries: [PlaylistEntry]
    /// The segments with their lines.
    public let segments: [ListedSegment]
    /// Whether the playlist has `EXT-X-ENDLIST`.
    public let hasEndTag: Bool

    /// The body from which the version was read; nil if it is not known.
    private var source: [UInt8]?

    /// Returns this version as a later response with the same body; nil for a response with another one.
    ///
    /// A complete playlist is fetched twice, and one of a live stream often without news: it need not be parsed again,
    /// and shares the memory of the version that is known.
    func repeated(by text: FetchedText) -> MediaPlaylistVersion? {
        guard text.url == url, text.bytes == source else { return nil }
        var version = self
        version.fetched = text.fetched
        return version
    }

    /// Creates a version from a fetched text, the parsed playlist and its entries.
    init(_ text: FetchedText, playlist: HLSMediaPlaylist, entries: [PlaylistEntry]) {
        self.init(url: text.url, fetched: text.fetched, playlist: playlist, entries: entries)
        source = text.bytes
    }

    /// Creates a version from a parsed playlist and its entries.
    public init(url: HTTPURL, fetched: Timestamp, playlist: HLSMediaPlaylist, entries: [PlaylistEntry]) {
        self.url = url
        self.fetched = fetched
        self.playlist = playlist
        self.entries = entries
        segments = Self.listed(playlist, entries)
        hasEndTag = !entries.tags("EXT-X-ENDLIST").isEmpty
    }

    /// The tags of a name, in their order.
    public func tags(_ name: String) -> [PlaylistTag] { entries.tags(name) }

    /// Whether segments may still be added or removed.
    public var isLive: Bool { !playlist.hasEnded }

    /// The newest segment: the same as long as no segment is added.
    public var edge: String {
        segments.last.map { "\($0.segment.sequence) \($0.identity)" } ?? ""
    }

    /// Whether both versions say the same.
    func hasSameContent(as other: MediaPlaylistVersion) -> Bool {
        playlist == other.playlist && hasEndTag == other.hasEndTag
    }

    /// Whether the numbers of another version follow those of this one without a gap.
    func isContinued(by other: MediaPlaylistVersion) -> Bool {
        guard let last = playlist.segments.last?.sequence else { return false }
        let first = other.playlist.mediaSequence
        return first >= playlist.mediaSequence && first <= last.saturatingAdd(1)
    }

    private static func listed(_ playlist: HLSMediaPlaylist, _ entries: [PlaylistEntry]) -> [ListedSegment] {
        var result: [ListedSegment] = []
        result.reserveCapacity(playlist.segments.count)
        var (hasDuration, isDiscontinuous, date): (Bool, Bool, WallTime?) = (false, false, nil)
        var map: String?
        for entry in entries {
            switch entry {
            case .tag(let tag):
                switch tag.name {
                case "EXTINF": hasDuration = true
                case "EXT-X-DISCONTINUITY": isDiscontinuous = true
                case "EXT-X-PROGRAM-DATE-TIME": date = CalendarText.wallTime(tag.value)
                case "EXT-X-MAP": map = tag.attributes["URI"].map(reference)
                default: break
                }
            case .address(let address, let line):
                if hasDuration, result.count < playlist.segments.count {
                    result.append(
                        ListedSegment(
                            segment: playlist.segments[result.count],
                            line: line,
                            date: date,
                            isAfterDiscontinuity: isDiscontinuous,
                            reference: reference(address),
                            mapReference: map
                        )
                    )
                }
                (hasDuration, isDiscontinuous, date) = (false, false, nil)
            }
        }
        return result
    }

    /// An address without what may differ from one response to the next.
    private static func reference(_ address: String) -> String {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        guard let authority = path.firstRange(of: "//"),
            ["", "http:", "https:"].contains(path[..<authority.lowerBound].lowercased())
        else { return String(path) }
        return String(path[authority.upperBound...].drop { $0 != "/" })
    }
}

extension [PlaylistEntry] {
    /// The tags of a name, in their order.
    func tags(_ name: String) -> [PlaylistTag] {
        compactMap { if case .tag(let tag) = $0, tag.name == name { tag } else { nil } }
    }
}
