internal import InstrumentHTTP

extension Presentation {
    /// Creates a presentation of a single media playlist: one variant with one rendition.
    package init(_ playlist: HLSMediaPlaylist) {
        let id = Rendition.ID("main")
        let kind: Rendition.Kind = playlist.segments.first.map(Self.kind(of:)) ?? .muxed
        let rates = playlist.segments.compactMap(\.bitrate)
        let variant = Variant(
            id: "0",
            peakBitrate: rates.max() ?? 0,
            codecs: [],
            main: id,
            audio: kind == .subtitles ? [] : [id],
            subtitles: kind == .subtitles ? [id] : [],
            backups: []
        )
        var rendition = Rendition(id: id, kind: kind, source: .loaded(playlist))
        rendition.container = playlist.container
        self.init(format: .hls, url: playlist.url, kind: playlist.kind, variants: [variant], renditions: [rendition])
        firstListedVariant = variant.id
        duration = playlist.hasEnded ? playlist.duration : nil
        startOffset = playlist.startOffset
        hasIndependentSegments = playlist.hasIndependentSegments
        notices = playlist.notices
    }

    private static func kind(of segment: MediaSegment) -> Rendition.Kind {
        let name = segment.url.path.lowercased()
        if [".aac", ".mp3", ".ac3", ".ec3", ".m4a", ".cmfa"].contains(where: name.hasSuffix) { return .audio }
        return [".vtt", ".webvtt"].contains(where: name.hasSuffix) ? .subtitles : .muxed
    }

    /// Creates a presentation of a multivariant playlist, whose media playlists are not fetched yet.
    package init(_ playlist: HLSMultivariantPlaylist) {
        var ladder = HLSLadder(playlist)
        ladder.build()
        self.init(
            format: .hls,
            url: playlist.url,
            kind: .unknown,
            variants: ladder.variants,
            renditions: ladder.renditions
        )
        firstListedVariant = ladder.firstListed
        startOffset = playlist.startOffset
        hasIndependentSegments = playlist.hasIndependentSegments
        hasUndeclaredCaptions =
            !playlist.media.contains { $0.kind == .closedCaptions }
            && !playlist.streams.contains(where: \.hasNoCaptions)
        definitions = playlist.definitions
        notices = playlist.notices + ladder.notices
        locations = ladder.locations
        steering = playlist.steering
    }

    init(format: Format, url: HTTPURL, kind: Kind, variants: [Variant], renditions: [Rendition]) {
        self.format = format
        self.url = url
        self.kind = kind
        self.variants = variants
        self.renditions = renditions
        hasIndependentSegments = false
        notices = []
    }
}

extension Rendition {
    init(id: ID, kind: Kind, source: Source) {
        self.id = id
        self.kind = kind
        self.source = source
        isDefault = false
        isAutoselected = false
        characteristics = []
        container = .other
        codecs = []
    }
}
