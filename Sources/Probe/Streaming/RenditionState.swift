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
    /// Whether a segment of it was looked at closely.
    var isInspected = false
    /// Where the media of the latest segment ended.
    var lastMediaEnd: (sequence: Int64, end: Int64)?
    private var toldNotices = 0

    init(_ rendition: Rendition) { self.rendition = rendition }

    var index: SegmentIndex? { timeline?.index }
    var targetDuration: Duration { .nanoseconds(index?.targetDuration ?? 0) }
    /// Whether more of it will come.
    var isLive: Bool { timeline.map { $0.kind != .onDemand && !$0.index.isComplete } ?? false }

    /// Where its playlist is fetched, and fetched again.
    var playlistURL: HTTPURL? {
        switch rendition.source {
        case .playlist(let url): url
        case .loaded(let playlist): playlist.url
        case .segments, .index: nil
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

    /// What an MPD, or the index of a file, says: for the first time or again.
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
