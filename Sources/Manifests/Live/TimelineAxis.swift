internal import Instrument

/// The common time axis of the renditions of an HLS presentation. Use one axis for all renditions that play together.
///
/// The first playlist has its first segment at 0. Each later playlist is placed
/// 1. by programme date time, where it and an earlier playlist have dates (RFC 8216 section 6.3.3 requires consistent
/// dates), unless a complete playlist would begin more than two target durations elsewhere, or a live playlist would
/// not overlap the others: such dates are wrong, and a notice reports them; 2. else, if it has not ended and shares
/// media sequence numbers with the newest known playlist of another variant, by these numbers, because packagers
/// number variants alike; 3. else at 0 if it has ended or no segment of it can have expired, and otherwise at the
/// start of the newest known playlist.
public struct TimelineAxis: Hashable, Sendable {
    /// The calendar time of zero, once a playlist has declared it.
    var origin: WallTime?
    /// The newest known segments of any rendition.
    var reference: SegmentIndex?

    /// Creates an empty axis.
    public init() {}

    /// Returns the position of a playlist's first segment, and a notice if its dates are wrong.
    mutating func place(_ playlist: HLSMediaPlaylist, isNumberedAlike: Bool) -> (start: Int64, notice: ManifestNotice?)
    {
        let (start, notice) = start(of: playlist, isNumberedAlike)
        if origin == nil, let date = playlist.segments.first?.wallTime {
            origin = date.advanced(nanoseconds: Int64(0).saturatingSubtract(start))
        }
        return (start, notice)
    }

    private func start(of playlist: HLSMediaPlaylist, _ isNumberedAlike: Bool) -> (Int64, ManifestNotice?) {
        guard let reference, let known = reference.first, let first = playlist.segments.first else { return (0, nil) }
        let byOrder = startByOrder(playlist, first, reference, known, isNumberedAlike)
        guard let origin, let date = first.wallTime else { return (byOrder, nil) }
        let byDate = date.nanoseconds(since: origin)
        let isPlausible =
            playlist.hasEnded
            ? byDate.saturatingSubtract(byOrder).magnitude <= playlist.targetDuration.saturatingMultiply(2).magnitude
            : byDate < reference.end.saturatingAdd(playlist.duration)
                && byDate.saturatingAdd(playlist.duration).saturatingAdd(playlist.duration) > known.start
        if isPlausible { return (byDate, nil) }
        return (
            byOrder,
            ManifestNotice(.oddity, "the programme dates of the renditions contradict each other, and are ignored")
        )
    }

    private func startByOrder(
        _ playlist: HLSMediaPlaylist,
        _ first: MediaSegment,
        _ reference: SegmentIndex,
        _ known: MediaSegment,
        _ isNumberedAlike: Bool
    ) -> Int64 {
        if playlist.hasEnded || playlist.kind == .event { return 0 }
        if isNumberedAlike, reference.targetDuration == playlist.targetDuration {
            if let shared = reference.segment(numbered: first.sequence) { return shared.start }
            if let shared = playlist.segments.first(where: { $0.sequence == known.sequence }) {
                return known.start.saturatingSubtract(shared.start)
            }
        }
        return known.start
    }
}
