internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// How a player loads media playlists again.
struct PlaylistReloading: Hashable, Sendable {
    /// Whether the player fetches parts of segments, and uses what servers offer with them.
    var usesParts = false
    /// Whether the player asks for delta updates.
    var usesDeltas = true
    /// The time after which the player gives up a request for a playlist without an answer.
    var longestHold: Duration = .seconds(10)
    /// What the time until the next reload counts from.
    var rhythm = LivePolicy.ReloadRhythm.fromRequest
}

/// The state of a rendition.
struct RenditionState: Sendable {
    @Indirect private(set) var rendition: Rendition
    /// The index of its segments; nil before the first fetch.
    @Indirect private(set) var timeline: RenditionTimeline?
    /// The instant of its playlist's next reload; nil for no reload.
    var reloadAt: MonotonicInstant?
    private let reloading: PlaylistReloading
    /// The address of its playlist at another server; nil for the address in the manifest.
    private var otherServer: HTTPURL?
    /// The instant of the last load of its playlist.
    private var loadedAt: MonotonicInstant?
    /// Whether the last request that the server should have held failed, so that the next one is an ordinary one.
    private var isBlockingRefused = false
    private var toldNotices = 0
    /// The start that its playlist declares (`EXT-X-START`).
    private(set) var startOffset: StartOffset?
    /// Whether the last load was a delta update that does not fit, so that the whole playlist was requested at once.
    private var hasHurried = false
    /// Its periods, if some are files with an index.
    private var parts = PeriodParts()

    init(_ rendition: Rendition, reloading: PlaylistReloading) {
        self.rendition = rendition
        self.reloading = reloading
    }

    /// The first file whose index is not fetched, and the bytes of it to fetch next.
    var missingIndex: (file: IndexedSegments, range: ByteRange)? { parts.missing }

    /// Whether the last period is a file, to which the server adds nothing.
    var endsWithFile: Bool { parts.endsWithFile }

    var index: SegmentIndex? { timeline?.index }
    var targetDuration: Duration { .nanoseconds(index?.targetDuration ?? 0) }
    /// Whether the server adds segments.
    var isLive: Bool { timeline.map { $0.kind != .onDemand && !$0.index.isComplete } ?? false }

    /// Whether known segments become available with time, so that media follows without a reload (DASH).
    func expectsMedia(after now: WallTime) -> Bool { index?.lastTimes?.availability.map { $0 > now } ?? false }

    /// Whether the reload of its playlist is overdue by more than a target duration.
    func isOutdated(at now: MonotonicInstant) -> Bool {
        reloadAt.map { $0.advanced(by: targetDuration) < now } ?? false
    }

    /// Whether media of a segment is available before the segment is complete: parts (HLS), or chunks (DASH).
    var isLowLatency: Bool { timeline?.control.partTarget != nil || index?.lastTimes?.completion != nil }

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
        begun: MonotonicInstant,
        received: MonotonicInstant
    ) {
        var hasNews = true
        startOffset = playlist.startOffset
        if timeline == nil {
            timeline = RenditionTimeline(
                playlist,
                on: &axis,
                isNumberedAlike: isNumberedAlike,
                usesParts: reloading.usesParts,
                now: begun,
                received: received
            )
        } else {
            hasNews = timeline?.update(with: playlist, on: &axis, now: begun, received: received) ?? true
        }
        loadedAt = begun
        isBlockingRefused = false
        reloadAt = nextReload(begun, hasNews: hasNews)
    }

    /// A server that holds requests is asked again at once, but never in a tight loop; without news it does not hold
    /// them. The whole playlist is requested at once after the first of several delta updates that do not fit.
    private mutating func nextReload(_ begun: MonotonicInstant, hasNews: Bool) -> MonotonicInstant? {
        guard let timeline, let usual = timeline.nextReload else { return nil }
        let needsWhole = timeline.needsWholePlaylist
        defer { hasHurried = needsWhole }
        if needsWhole, !hasHurried { return begun }
        let unit = timeline.control.partTarget
        if hasNews, holdsReloads(timeline) {
            let shortest = (unit ?? max(timeline.index.targetDuration, 500_000_000)) / 4
            return min(usual, begun.advanced(by: .nanoseconds(max(shortest, 20_000_000))))
        }
        if let unit { return min(usual, begun.advanced(by: .nanoseconds(max(unit, 200_000_000)))) }
        return reloading.rhythm == .fromDueTime ? nextDue(after: begun, period: begun.duration(to: usual)) : usual
    }

    /// A period behind the instant at which the last reload was due; at once if the reload came later than that.
    private func nextDue(after begun: MonotonicInstant, period: Duration) -> MonotonicInstant {
        let due = reloadAt ?? begun
        let next = due.advanced(by: period)
        if next < begun { return begun }
        return due <= begun ? next : due
    }

    /// Whether the server is asked to hold requests until the playlist has news. Without parts, it holds them for up to
    /// a target duration, which has to be shorter than the time after which the player gives up.
    private func holdsReloads(_ timeline: RenditionTimeline) -> Bool {
        guard timeline.control.canBlockReload else { return false }
        return timeline.control.partTarget != nil || targetDuration < reloading.longestHold
    }

    /// A reload of its playlist has failed.
    ///
    /// - Parameter instant: the instant of the next one; nil for none.
    mutating func reloadFailed(nextAt instant: MonotonicInstant?) {
        reloadAt = instant
        isBlockingRefused = true
    }

    /// The address of the next reload of its playlist, with the directives of a low-latency server (rfc8216bis section
    /// 6.2.5): the segment and part to wait for, and whether known segments can be left out.
    func reloadAddress(at now: MonotonicInstant) -> HTTPURL? {
        guard let url = playlistURL, let timeline, isLive, !isBlockingRefused else { return playlistURL }
        var directives: [String] = []
        if holdsReloads(timeline), let next = timeline.nextPart {
            directives.append("_HLS_msn=\(next.sequence)")
            if timeline.control.partTarget != nil { directives.append("_HLS_part=\(next.part)") }
        }
        if canSkip(timeline, now) { directives.append("_HLS_skip=YES") }
        return url.addingQuery(directives) ?? url
    }

    /// A delta update needs a playlist that is not older than half the distance from which segments are left out.
    private func canSkip(_ timeline: RenditionTimeline, _ now: MonotonicInstant) -> Bool {
        guard reloading.usesDeltas, let until = timeline.control.canSkipUntil, let loadedAt,
            !timeline.needsWholePlaylist, timeline.index.last?.encryption == nil
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

    /// Takes the rendition of an MPD, at the first load or a reload.
    mutating func take(_ new: Rendition, of presentation: Presentation, begun: MonotonicInstant) {
        rendition = new
        switch new.source {
        case .segments(let index):
            parts = PeriodParts()
            take(index, live: presentation.live, begun: begun)
        case .parts(let sources):
            parts.take(sources)
            takeParts(of: presentation, begun: begun)
        case .playlist, .loaded: break
        }
    }

    /// Takes bytes of the index of a file.
    mutating func take(
        indexBytes bytes: [UInt8],
        of presentation: Presentation,
        begun: MonotonicInstant
    ) throws(ManifestError) {
        try parts.take(bytes)
        takeParts(of: presentation, begun: begun)
    }

    private mutating func takeParts(of presentation: Presentation, begun: MonotonicInstant) {
        let index = parts.segments(
            isComplete: presentation.hasLastPeriod,
            needsBegunPeriods: timeline == nil && presentation.live != nil
        )
        if let index { take(index, live: presentation.live, begun: begun) }
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
