internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// The state of a rendition.
struct RenditionState: Sendable {
    let rendition: Rendition
    /// The index of its segments; nil before the first fetch.
    private(set) var timeline: RenditionTimeline?
    /// The instant of its playlist's next reload; nil for no reload.
    var reloadAt: MonotonicInstant?
    private var toldNotices = 0
    /// The fetched indexes of periods with a separate index.
    private var parts: [SegmentIndex?] = []

    init(_ rendition: Rendition) {
        self.rendition = rendition
        guard case .parts(let parts) = rendition.source else { return }
        self.parts = parts.map { if case .segments(let index) = $0 { index } else { nil } }
    }

    /// The first index that is not fetched.
    var missingPart: (place: Int, index: IndexedSegments)? {
        guard case .parts(let sources) = rendition.source, let place = parts.firstIndex(where: { $0 == nil }),
            case .index(let index) = sources[place]
        else { return nil }
        return (place, index)
    }

    var index: SegmentIndex? { timeline?.index }
    var targetDuration: Duration { .nanoseconds(index?.targetDuration ?? 0) }
    /// Whether the server adds segments.
    var isLive: Bool { timeline.map { $0.kind != .onDemand && !$0.index.isComplete } ?? false }

    /// The address of its playlist.
    var playlistURL: HTTPURL? {
        switch rendition.source {
        case .playlist(let url): url
        case .loaded(let playlist): playlist.url
        case .segments, .parts: nil
        }
    }

    /// Takes its playlist, at the first load or a reload.
    mutating func take(
        _ playlist: HLSMediaPlaylist,
        on axis: inout TimelineAxis,
        isNumberedAlike: Bool,
        begun: MonotonicInstant
    ) {
        if timeline == nil {
            timeline = RenditionTimeline(playlist, on: &axis, isNumberedAlike: isNumberedAlike, now: begun)
        } else {
            timeline?.update(with: playlist, on: &axis, now: begun)
        }
        reloadAt = timeline?.nextReload
    }

    /// Takes the index of a period.
    mutating func take(part index: SegmentIndex, at place: Int, begun: MonotonicInstant) {
        guard parts.indices.contains(place) else { return }
        parts[place] = index
        let known = parts.compactMap(\.self)
        if known.count == parts.count { take(SegmentIndex(joining: known), live: nil, begun: begun) }
    }

    /// Takes the segments of an MPD, at the first load or a reload.
    mutating func take(_ index: SegmentIndex, live: LiveRules?, begun: MonotonicInstant) {
        if timeline == nil {
            timeline = RenditionTimeline(index, live: live, now: begun)
        } else {
            timeline?.update(with: index, live: live, now: begun)
        }
    }

    /// The defects, each one once.
    mutating func takeNotices() -> [ManifestNotice] {
        guard let notices = timeline?.notices, notices.count > toldNotices else { return [] }
        defer { toldNotices = notices.count }
        return Array(notices[toldNotices...])
    }
}
