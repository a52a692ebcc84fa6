package import Instrument

/// The segments of one rendition during playback, on the presentation's time axis and updated by reloads.
///
/// Start times and sequence numbers of known segments never change; reloads add segments at the end and remove
/// segments at the start. A value without clock and network.
package struct RenditionTimeline: Hashable, Sendable {
    /// The segments. For a live MPD with a template, the index also lists future segments; see
    /// `MediaSegment.availability`.
    package internal(set) var index: SegmentIndex
    /// Whether the presentation is complete or live.
    package internal(set) var kind: Presentation.Kind
    /// The time of the next reload; nil if the end is known, and for DASH without `@minimumUpdatePeriod`.
    ///
    /// HLS, RFC 8216 section 6.3.4: a target duration after a load with news, half a target duration after a load
    /// without, counted from the start of the load.
    package internal(set) var nextReload: MonotonicInstant?
    /// The time of the last load with news.
    package internal(set) var lastChange: MonotonicInstant
    /// The target latency, in nanoseconds: `PART-HOLD-BACK` where parts are used, `HOLD-BACK`, else three target
    /// durations (RFC 8216 section 6.3.3, rfc8216bis section 4.4.3.8); DASH: `@suggestedPresentationDelay`, else three
    /// segments.
    package internal(set) var targetLatency: Int64
    /// ``targetLatency`` if the stream declares it, in nanoseconds; nil if it is the usual one.
    package internal(set) var declaredLatency: Int64?
    /// `@suggestedPresentationDelay` of an MPD, in nanoseconds; nil if not declared, and for HLS.
    package internal(set) var suggestedDelay: Int64?
    /// Whether the stream asks players to change the playback rate: by `HOLD-BACK` or `PART-HOLD-BACK` (HLS), by its
    /// service description (DASH).
    package internal(set) var asksForCatchUp = false
    /// The limits of latency and playback rate that an MPD declares; none for HLS.
    package internal(set) var service = ServiceLimits()
    /// `@minBufferTime` of an MPD, in nanoseconds; nil if not declared, and for HLS.
    package internal(set) var minimumBuffer: Int64?
    /// Defects and unsupported features of all loads.
    package var notices: [ManifestNotice] { noticeList.notices }

    /// The segment that the server is producing, behind ``index``, with the parts that exist; nil if the player uses no
    /// parts, or the playlist has none.
    package internal(set) var openSegment: MediaSegment?
    /// The part behind those of `openSegment`, as the playlist hints; nil if unknown. As a segment: ``hintedPart``.
    package internal(set) var preloadHint: PreloadHint?
    /// The initialization section that the next parts need, as the playlist hints; nil if unknown.
    package internal(set) var initializationHint: PreloadHint?
    /// What the server declares for low-latency playback.
    package internal(set) var control = ServerControl()
    /// Whether a delta update did not fit to the known segments, so that the whole playlist has to be fetched.
    package internal(set) var needsWholePlaylist = false
    /// Whether the player fetches parts of segments.
    package let usesParts: Bool

    var noticeList = NoticeList(limit: 100)
    var windowDuration: Int64?
    /// The calendar time of zero (DASH).
    package internal(set) var origin: WallTime?
    var isNumberedAlike = true
    /// The difference between sequence numbers here and in the playlist, after its server has restarted its numbers.
    var sequenceShift: Int64 = 0
    var discontinuityShift: Int64 = 0
    /// The number of consecutive loads that were older than the known state.
    var olderLoads = 0
    /// Returns the position of a programme date on the axis.
    var dateAnchor: DateAnchor?

    /// Creates a timeline of a media playlist on the axis (HLS).
    /// - Parameters:
    ///   - playlist: the first load of the playlist.
    ///   - axis: the time axis shared with the other renditions; records the position of this one.
    ///   - isNumberedAlike: whether it is another variant of the rendition that the axis recorded last, so that equal
    ///     media sequence numbers mean equal times where there are no dates. False for separate audio, which may have
    ///     other segment boundaries.
    ///   - usesParts: whether the player fetches parts of segments, so that the timeline has them.
    ///   - now: the start of the load.
    ///   - received: the begin of the response, which a server may have held; nil for `now`.
    package init(
        _ playlist: HLSMediaPlaylist,
        on axis: inout TimelineAxis,
        isNumberedAlike: Bool = true,
        usesParts: Bool = false,
        now: MonotonicInstant,
        received: MonotonicInstant? = nil
    ) {
        self.usesParts = usesParts
        let (start, notice) = axis.place(playlist, isNumberedAlike: isNumberedAlike, now: now)
        index = SegmentIndex([], isComplete: playlist.hasEnded, targetDuration: playlist.targetDuration)
        kind = playlist.kind
        lastChange = received ?? now
        self.isNumberedAlike = isNumberedAlike
        declaredLatency = Self.declaredLatency(of: playlist, usesParts: usesParts)
        asksForCatchUp = playlist.control.declaresHoldBack
        targetLatency = declaredLatency ?? playlist.targetDuration.saturatingMultiply(3)
        noticeList.add(playlist.notices + [notice].compactMap(\.self))
        let segments = start == 0 ? playlist.segments : playlist.segments.map { $0.moved(by: start) }
        index = index.with(appended(segments, to: []))
        takeOpenSegment(of: playlist)
        axis.record(index, isNumberedAlike: isNumberedAlike, loadedAt: now)
        nextReload = playlist.hasEnded ? nil : now.advanced(by: .nanoseconds(Self.reloadPeriod(playlist)))
    }

    static func declaredLatency(of playlist: HLSMediaPlaylist, usesParts: Bool) -> Int64? {
        if usesParts, let part = playlist.control.partTarget {
            return playlist.control.partHoldBack ?? part.saturatingMultiply(3)
        }
        return playlist.control.holdBack
    }

    /// At least half a second, so that a playlist without a duration is not requested in a tight loop.
    static func reloadPeriod(_ playlist: HLSMediaPlaylist) -> Int64 { max(playlist.targetDuration, 500_000_000) }
}
