internal import Instrument

/// The common time axis of the renditions of an HLS presentation. Use one axis for all renditions that play together.
///
/// The first playlist has its first segment at 0. Each later playlist is placed
/// 1. by programme date time, where it and an earlier playlist have dates: segments with the same date have the same
/// position (RFC 8216 section 6.2.4 requires matching dates), also after a jump of the dates. Dates are wrong, and a
/// notice reports them, if a complete playlist would begin more than two target durations elsewhere, or if a live
/// playlist would neither overlap the others nor follow them within the time since their last load; 2. else, if it is a
/// window of a live stream and another variant, by media sequence numbers, because packagers number variants alike: by
/// a number that the newest known playlist has as well, or behind that playlist by the segments in between, as many
/// as can have been produced since its load; 3. else at 0 if the stream was complete from the beginning or no segment
/// of it can have expired, and otherwise at the start of the newest known playlist.
package struct TimelineAxis: Hashable, Sendable {
    /// The calendar time of zero, once a playlist has declared it.
    var origin: WallTime?
    /// The newest known segments of any rendition.
    private(set) var reference: SegmentIndex?
    /// The start of the load of ``reference``.
    private var referenceLoad: MonotonicInstant?
    /// Whether ``reference`` is of a variant, and not of audio that came first.
    private var isReferenceNumberedAlike = false

    /// Creates an empty axis.
    package init() {}

    /// Records the segments of the newest load, which began at `now`. Playlists that are not numbered like the others
    /// count only until there is another.
    mutating func record(_ index: SegmentIndex, isNumberedAlike: Bool, loadedAt now: MonotonicInstant) {
        guard isNumberedAlike || reference == nil else { return }
        (reference, referenceLoad, isReferenceNumberedAlike) = (index, now, isNumberedAlike)
    }

    /// Returns the position of a playlist's first segment, and a notice if its dates are wrong.
    mutating func place(
        _ playlist: HLSMediaPlaylist,
        isNumberedAlike: Bool,
        now: MonotonicInstant
    ) -> (start: Int64, notice: ManifestNotice?) {
        let (start, notice) = start(of: playlist, isNumberedAlike, now)
        if origin == nil, let date = playlist.segments.first?.wallTime {
            origin = date.advanced(nanoseconds: Int64(0).saturatingSubtract(start))
        }
        return (start, notice)
    }

    private func start(
        of playlist: HLSMediaPlaylist,
        _ isNumberedAlike: Bool,
        _ now: MonotonicInstant
    ) -> (Int64, ManifestNotice?) {
        guard let reference, let known = reference.first, let first = playlist.segments.first else { return (0, nil) }
        let elapsed = referenceLoad.map { max(0, $0.duration(to: now).nanoseconds) } ?? 0
        let byOrder = startByOrder(playlist, first, reference, known, isNumberedAlike, elapsed)
        guard let byDate = startByDate(playlist, reference) else { return (byOrder, nil) }
        let newest = reference.end.saturatingAdd(playlist.duration).saturatingAdd(elapsed)
        let isPlausible =
            playlist.hasEnded
            ? byDate.saturatingSubtract(byOrder).magnitude <= playlist.targetDuration.saturatingMultiply(2).magnitude
            : byDate < newest
                && byDate.saturatingAdd(playlist.duration).saturatingAdd(playlist.duration) > known.start
        if isPlausible { return (byDate, nil) }
        return (byOrder, ManifestNotice(.contradictoryDates))
    }

    /// The position by dates: that of the segment of the reference with the nearest date. A jump of the dates changes
    /// the relation of dates and positions, so the segments compared are the newest that both have.
    private func startByDate(_ playlist: HLSMediaPlaylist, _ reference: SegmentIndex) -> Int64? {
        guard let first = playlist.segments.first?.wallTime else { return nil }
        let dated = reference.filter { $0.wallTime != nil }
        guard let end = dated.last?.wallTime, let ownEnd = playlist.segments.last?.wallTime else {
            return origin.map { first.nanoseconds(since: $0) }
        }
        let shared = min(end, ownEnd)
        func distance(_ segment: MediaSegment) -> UInt64 {
            segment.wallTime.map { $0.nanoseconds(since: shared).magnitude } ?? .max
        }
        guard let anchor = dated.min(by: { distance($0) < distance($1) }), let date = anchor.wallTime,
            let place = playlist.segments.indices.min(by: {
                distance(playlist.segments[$0]) < distance(playlist.segments[$1])
            })
        else { return nil }
        let jumps = Self.jumps(in: playlist.segments[...place], of: max(playlist.targetDuration, 1_000_000_000))
        return anchor.start.saturatingAdd(first.nanoseconds(since: date)).saturatingAdd(jumps)
    }

    /// The sum of the steps between dates that are longer or shorter than the segments by more than `limit`.
    private static func jumps(in segments: ArraySlice<MediaSegment>, of limit: Int64) -> Int64 {
        zip(segments, segments.dropFirst()).reduce(0) { sum, pair in
            guard let date = pair.0.wallTime, let next = pair.1.wallTime else { return sum }
            let jump = next.nanoseconds(since: date).saturatingSubtract(pair.0.duration)
            return jump.magnitude > limit.magnitude ? sum.saturatingAdd(jump) : sum
        }
    }

    /// Returns the position of a playlist's first segment by a segment that the newest known playlist has as well, or
    /// that follows it; nil without one. For variants that are numbered alike.
    ///
    /// - Parameter shift: what the playlist's numbers lack to those here.
    func startByNumber(of playlist: HLSMediaPlaylist, movedBy shift: Int64 = 0) -> Int64? {
        guard isReferenceNumberedAlike, let reference, reference.targetDuration == playlist.targetDuration,
            let first = playlist.segments.first, let end = reference.lastTimes
        else { return nil }
        for segment in playlist.segments {
            let number = segment.sequence.saturatingAdd(shift)
            let follows = number == end.sequence.saturatingAdd(1)
            guard let start = reference.segment(numbered: number)?.start ?? (follows ? end.end : nil) else { continue }
            return start.saturatingSubtract(segment.start.saturatingSubtract(first.start))
        }
        return nil
    }

    /// - Parameter elapsed: the time since the load of the reference, in nanoseconds.
    private func startByOrder(
        _ playlist: HLSMediaPlaylist,
        _ first: MediaSegment,
        _ reference: SegmentIndex,
        _ known: MediaSegment,
        _ isNumberedAlike: Bool,
        _ elapsed: Int64
    ) -> Int64 {
        // Of a complete stream, variants may begin with different numbers.
        let isWindow = !playlist.hasEnded || !reference.isComplete || known.start > 0
        if playlist.kind == .event || !isWindow { return 0 }
        if isNumberedAlike, isReferenceNumberedAlike, reference.targetDuration == playlist.targetDuration {
            if let start = startByNumber(of: playlist) { return start }
            if let last = reference.last, first.sequence > last.sequence {
                let missed = first.sequence.saturatingSubtract(last.sequence).saturatingSubtract(1)
                let missedTime = missed.saturatingMultiply(playlist.targetDuration)
                if missedTime <= elapsed.saturatingAdd(playlist.targetDuration) {
                    return reference.end.saturatingAdd(missedTime)
                }
            }
        }
        return known.start
    }
}
