internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// What is known of a rendition by now.
struct RenditionState: Sendable {
    let rendition: Rendition
    /// What is known of its segments; nil before they were fetched.
    private(set) var timeline: RenditionTimeline?
    /// When its playlist is to be fetched again; nil for never.
    var reloadAt: MonotonicInstant?
    private var toldNotices = 0
    /// Of periods with a separate index: what was fetched.
    private var parts: [SegmentIndex?] = []

    init(_ rendition: Rendition) {
        self.rendition = rendition
        guard case .parts(let parts) = rendition.source else { return }
        self.parts = parts.map { if case .segments(let index) = $0 { index } else { nil } }
    }

    /// The first index that is still to be fetched.
    var missingPart: (place: Int, index: IndexedSegments)? {
        guard case .parts(let sources) = rendition.source, let place = parts.firstIndex(where: { $0 == nil }),
            case .index(let index) = sources[place]
        else { return nil }
        return (place, index)
    }

    var index: SegmentIndex? { timeline?.index }
    var targetDuration: Duration { .nanoseconds(index?.targetDuration ?? 0) }
    /// Whether more of it will come.
    var isLive: Bool { timeline.map { $0.kind != .onDemand && !$0.index.isComplete } ?? false }

    /// Where its playlist is fetched, and fetched again.
    var playlistURL: HTTPURL? {
        switch rendition.source {
        case .playlist(let url): url
        case .loaded(let playlist): playlist.url
        case .segments, .parts: nil
        }
    }

    /// Its playlist has come, for the first time or again.
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

    /// The index of a period has come.
    mutating func take(part index: SegmentIndex, at place: Int, begun: MonotonicInstant) {
        guard parts.indices.contains(place) else { return }
        parts[place] = index
        let known = parts.compactMap(\.self)
        if known.count == parts.count { take(SegmentIndex(joining: known), live: nil, begun: begun) }
    }

    /// What an MPD says: for the first time or again.
    mutating func take(_ index: SegmentIndex, live: LiveRules?, begun: MonotonicInstant) {
        if timeline == nil {
            timeline = RenditionTimeline(index, live: live, now: begun)
        } else {
            timeline?.update(with: index, live: live, now: begun)
        }
    }

    /// What is odd, each once.
    mutating func takeNotices() -> [ManifestNotice] {
        guard let notices = timeline?.notices, notices.count > toldNotices else { return [] }
        defer { toldNotices = notices.count }
        return Array(notices[toldNotices...])
    }
}
