public import Instrument

/// The segments of one rendition while it is played: on the presentation's time axis, kept up to date by reloads.
///
/// Start times and sequence numbers of what is known never change; reloads add at the end and remove at the start. A
/// value: times come in, nothing is fetched.
public struct RenditionTimeline: Hashable, Sendable {
    /// What there is of segments. For a live MPD with a template it also lists segments of the future; see
    /// ``MediaSegment/availability``.
    public internal(set) var index: SegmentIndex
    /// Whether segments are added and removed.
    public internal(set) var kind: Presentation.Kind
    /// When to fetch the playlist again; nil if nothing will be added, and for DASH without `@minimumUpdatePeriod`.
    ///
    /// HLS, RFC 8216 section 6.3.4: a target duration after a load that brought something new, half of one after a load
    /// that did not, counted from when the load began.
    public internal(set) var nextReload: MonotonicInstant?
    /// When a load last brought something new.
    public internal(set) var lastChange: MonotonicInstant
    /// How far behind the live edge to play, in nanoseconds: `HOLD-BACK`, else three target durations (RFC 8216 section
    /// 6.3.3, rfc8216bis section 4.4.3.8); DASH: `@suggestedPresentationDelay`, else three segments.
    public internal(set) var targetLatency: Int64
    /// What is not supported or odd, from all loads.
    public var notices: [ManifestNotice] { noticeList.notices }

    var noticeList = NoticeList(limit: 100)
    var windowDuration: Int64?
    /// The calendar time that stands at 0 (DASH).
    var origin: WallTime?
    var isHLS: Bool
    var isNumberedAlike = true
    /// How new numbers relate to the playlist's, after its server restarted its numbers.
    var sequenceShift: Int64 = 0
    var discontinuityShift: Int64 = 0
    /// How many loads in a row were older than what is known.
    var olderLoads = 0
    /// Where a programme date lies on the axis.
    var dateAnchor: DateAnchor?

    /// Puts a media playlist on the axis (HLS).
    /// - Parameters:
    ///   - playlist: the first load of it.
    ///   - axis: the time axis shared with the other renditions; learns the position of this one.
    ///   - isNumberedAlike: whether it is another variant of the rendition that the axis learned last, so that equal media
    ///     sequence numbers mean equal times where there are no dates. False for separate audio, which may be cut
    ///     otherwise.
    ///   - now: when its load began.
    public init(
        _ playlist: HLSMediaPlaylist,
        on axis: inout TimelineAxis,
        isNumberedAlike: Bool = true,
        now: MonotonicInstant
    ) {
        let (start, notice) = axis.place(playlist, isNumberedAlike: isNumberedAlike)
        index = SegmentIndex([], isComplete: playlist.hasEnded, targetDuration: playlist.targetDuration)
        kind = playlist.kind
        lastChange = now
        isHLS = true
        self.isNumberedAlike = isNumberedAlike
        targetLatency = Self.targetLatency(of: playlist)
        noticeList.add(playlist.notices + [notice].compactMap(\.self))
        index = index.with(appended(playlist.segments.map { $0.moved(by: start) }, to: []))
        if isNumberedAlike || axis.reference == nil { axis.reference = index }
        nextReload = playlist.hasEnded ? nil : now.advanced(by: .nanoseconds(Self.reloadPeriod(playlist)))
    }

    static func targetLatency(of playlist: HLSMediaPlaylist) -> Int64 {
        playlist.holdBack ?? playlist.targetDuration.saturatingMultiply(3)
    }

    /// Not less than half a second, so that a playlist that claims no duration is not asked for without end.
    static func reloadPeriod(_ playlist: HLSMediaPlaylist) -> Int64 { max(playlist.targetDuration, 500_000_000) }

    /// Whether a live playlist has brought nothing new for too long: one and a half target durations, within which a
    /// server must add a segment (RFC 8216 section 6.2).
    /// - Parameters:
    ///   - now: when that is asked.
    ///   - factor: how many target durations; players differ (Media3's `PlaylistStuckException` waits for 3.5).
    public func isStale(at now: MonotonicInstant, factor: Double = 1.5) -> Bool {
        guard !index.isComplete, isHLS else { return false }
        let limit = Int64(nanosecondsOf: Double(max(index.targetDuration, 500_000_000)) / 1e9 * factor) ?? .max
        return lastChange.duration(to: now) > .nanoseconds(limit)
    }
}
