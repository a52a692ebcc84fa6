internal import Instrument
internal import InstrumentManifests
internal import InstrumentRules

extension StreamDescription {
    /// Describes a stream as far as a check has read it; nil before the first playlist or MPD.
    init?(_ history: StreamHistory, _ renditions: [CheckedRendition], now: WallTime) {
        guard let presentation = history.presentation else { return nil }
        let known = Dictionary(renditions.map { ($0.name, $0) }) { first, _ in first }
        let described = presentation.renditions.map { rendition in
            let name = rendition.id.description
            let checked = known[name]
            let index = (checked?.isListed ?? false ? checked?.segments : nil) ?? rendition.knownSegments
            return Rendition(rendition, index, history.rendition(name)?.current?.playlist, presentation, now: now)
        }
        let media = described.filter { $0.kind != "subtitles" }
        let playlists = presentation.renditions.compactMap { history.rendition($0.id.description)?.current?.playlist }
        let isLive = presentation.live != nil || playlists.contains { !$0.hasEnded }
        format = presentation.format == .hls ? "HLS" : "DASH"
        kind = Kind(presentation, playlists)
        duration = isLive ? nil : presentation.duration ?? media.compactMap(\.duration).max()
        targetLatency = isLive ? presentation.live?.targetLatency ?? media.compactMap(\.holdBack).max() : nil
        window = isLive ? presentation.live?.windowDuration ?? media.compactMap(\.duration).max() : nil
        liveEdge = isLive ? media.compactMap(\.liveEdge).max() : nil
        variants = presentation.variants.map(Variant.init)
        self.renditions = described
        periods = presentation.periods.map { Period(id: $0.id, start: $0.start, end: $0.end) }
        eventSchemes = presentation.events.reduce(into: [:]) { $0[$1.scheme, default: 0] += 1 }
        isSteered = presentation.steering != nil
    }
}

extension StreamDescription.Kind {
    fileprivate init(_ presentation: Presentation, _ playlists: [HLSMediaPlaylist]) {
        if presentation.format == .dash {
            self = presentation.live == nil ? .onDemand : .live
            return
        }
        guard !playlists.isEmpty else {
            self = .unknown
            return
        }
        let open = playlists.filter { !$0.hasEnded }
        self = open.isEmpty ? .onDemand : open.allSatisfy { $0.kind == .event } ? .event : .live
    }
}

extension StreamDescription.Variant {
    fileprivate init(_ variant: Variant) {
        self.init(
            id: variant.id,
            bandwidth: variant.peakBitrate > 0 ? variant.peakBitrate : nil,
            averageBandwidth: variant.averageBitrate,
            width: variant.resolution?.width,
            height: variant.resolution?.height,
            frameRate: variant.frameRate,
            codecs: variant.codecs,
            rendition: variant.main.description,
            audio: variant.audio.map(\.description),
            subtitles: variant.subtitles.map(\.description)
        )
    }
}

extension StreamDescription.Rendition {
    fileprivate init(
        _ rendition: Rendition,
        _ known: SegmentIndex?,
        _ playlist: HLSMediaPlaylist?,
        _ presentation: Presentation,
        now: WallTime
    ) {
        let index = known ?? SegmentIndex([], isComplete: true, targetDuration: 0)
        // Segments that follow from the time alone reach far into the future.
        let count = Self.count(of: index, by: now)
        let (first, last) = (index.first, count > 0 ? index[count - 1] : nil)
        let listed = playlist?.segments ?? []
        let container = listed.first.map { _ in playlist?.container ?? rendition.container } ?? rendition.container
        self.init(
            name: rendition.id.description,
            kind: "\(rendition.kind)",
            language: rendition.language,
            title: rendition.name,
            isDefault: rendition.isDefault,
            isForced: rendition.isForced,
            container: Self.name(of: container),
            codecs: rendition.codecs,
            bandwidth: rendition.bitrate,
            segmentCount: known.map { _ in count },
            firstSequence: last.flatMap { _ in first?.sequence },
            lastSequence: last?.sequence,
            duration: known.map { _ in last.map { $0.end.saturatingSubtract(first?.start ?? 0) } ?? 0 },
            targetDuration: index.targetDuration,
            longestSegment: listed.map(\.duration).max() ?? (count > 0 ? first?.duration : nil),
            discontinuityCount: zip(listed, listed.dropFirst()).count { $0.discontinuity != $1.discontinuity },
            gapCount: listed.count { $0.isGap },
            partCount: listed.reduce(playlist?.openSegment?.parts.count ?? 0) { $0 + $1.parts.count },
            partTarget: playlist?.control.partTarget,
            holdBack: playlist?.control.partHoldBack ?? playlist?.control.holdBack,
            encryption: Self.methods(of: listed.isEmpty ? [first, last].compactMap(\.self) : listed),
            hasInitialization: first?.initialization != nil,
            liveEdge: Self.edge(last, playlist?.openSegment, presentation),
            adBreakCount: Self.adBreaks(in: playlist)
        )
        if presentation.format == .dash { discontinuityCount = max(0, presentation.periods.count - 1) }
    }

    private static func count(of index: SegmentIndex, by now: WallTime) -> Int {
        guard index.last?.availability != nil else { return index.count }
        return index.partitioningIndex { segment in segment.availability.map { $0 > now } ?? false }
    }

    private static func name(of container: Rendition.Container) -> String? {
        switch container {
        case .transportStream: "ts"
        case .fragmentedMP4: "fmp4"
        case .webM: "webm"
        case .webVTT: "webvtt"
        case .other: nil
        }
    }

    private static func methods(of segments: [MediaSegment]) -> [String] {
        Set(
            segments.compactMap { segment -> String? in
                switch segment.encryption?.method {
                case .aes128: "AES-128"
                case .samples(let method), .unsupported(let method): method
                case nil: nil
                }
            }
        ).sorted()
    }

    /// - Parameter open: the segment that the server is producing, whose parts end later than the last whole segment.
    private static func edge(
        _ last: MediaSegment?,
        _ open: MediaSegment?,
        _ presentation: Presentation
    ) -> WallTime? {
        guard let last else { return nil }
        let parts = open?.parts.reduce(Int64(0)) { $0.saturatingAdd($1.duration) } ?? 0
        if let date = last.wallTime { return date.advanced(nanoseconds: last.duration.saturatingAdd(parts)) }
        return presentation.live?.origin?.advanced(nanoseconds: last.end)
    }

    private static func adBreaks(in playlist: HLSMediaPlaylist?) -> Int {
        guard let playlist else { return 0 }
        let tags = playlist.adTags.count { $0.kind == .cueOut || $0.kind == .splicePoint || $0.kind == .oatcls }
        return max(tags, playlist.dateRanges.count { $0.isAdvertising })
    }
}

extension Rendition {
    /// The segments that the manifest lists; nil where they are elsewhere.
    fileprivate var knownSegments: SegmentIndex? { if case .segments(let index) = source { index } else { nil } }
}
