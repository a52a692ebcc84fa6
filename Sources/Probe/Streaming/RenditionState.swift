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
    /// Whether the player fetches parts of segments.
    private let usesParts: Bool
    /// The address of its playlist at another server; nil for the address in the manifest.
    private var otherServer: HTTPURL?
    /// The instant of the last load of its playlist.
    private var loadedAt: MonotonicInstant?
    /// Whether the last request that the server should have held failed, so that the next one is an ordinary one.
    private var isBlockingRefused = false
    private var toldNotices = 0
    /// The fetched indexes of periods with a separate index.
    private var parts: [SegmentIndex?] = []

    init(_ rendition: Rendition, usesParts: Bool = false) {
        self.rendition = rendition
        self.usesParts = usesParts
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
        case .playlist(let url): otherServer ?? url
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
        var hasNews = true
        if timeline == nil {
            timeline = RenditionTimeline(
                playlist,
                on: &axis,
                isNumberedAlike: isNumberedAlike,
                usesParts: usesParts,
                now: begun
            )
        } else {
            hasNews = timeline?.update(with: playlist, on: &axis, now: begun) ?? true
        }
        loadedAt = begun
        isBlockingRefused = false
        reloadAt = nextReload(begun, hasNews: hasNews)
    }

    /// A server that holds requests is asked again at once; without news it does not hold them.
    private func nextReload(_ begun: MonotonicInstant, hasNews: Bool) -> MonotonicInstant? {
        guard let timeline, let usual = timeline.nextReload, let part = timeline.control.partTarget else {
            return timeline?.nextReload
        }
        if timeline.needsWholePlaylist { return begun }
        if hasNews, timeline.control.canBlockReload { return begun }
        return min(usual, begun.advanced(by: .nanoseconds(max(part, 200_000_000))))
    }

    /// A reload of its playlist has failed.
    mutating func reloadFailed(nextAt instant: MonotonicInstant) {
        reloadAt = instant
        isBlockingRefused = true
    }

    /// The address of the next reload of its playlist, with the directives of a low-latency server (rfc8216bis section
    /// 6.2.5): the segment and part to wait for, and whether known segments can be left out.
    func reloadAddress(at now: MonotonicInstant) -> HTTPURL? {
        guard let url = playlistURL, let timeline, isLive, timeline.control.partTarget != nil, !isBlockingRefused else {
            return playlistURL
        }
        var directives: [String] = []
        if timeline.control.canBlockReload, let next = timeline.nextPart {
            directives += ["_HLS_msn=\(next.sequence)", "_HLS_part=\(next.part)"]
        }
        if canSkip(timeline, now) { directives.append("_HLS_skip=YES") }
        return url.addingQuery(directives) ?? url
    }

    /// A delta update needs a playlist that is not older than half the distance from which segments are left out.
    private func canSkip(_ timeline: RenditionTimeline, _ now: MonotonicInstant) -> Bool {
        guard let until = timeline.control.canSkipUntil, let loadedAt, !timeline.needsWholePlaylist,
            timeline.index.last?.encryption == nil
        else { return false }
        return loadedAt.duration(to: now) < .nanoseconds(until / 2)
    }

    /// Fetches its playlist from another server; the segments' addresses are unknown until then.
    mutating func movePlaylist(to url: HTTPURL) {
        guard url != playlistURL else { return }
        otherServer = url
        timeline = nil
        reloadAt = nil
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
