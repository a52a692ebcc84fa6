internal import Instrument
internal import InstrumentManifests

/// Decides which segments of a rendition are fetched next.
struct SegmentPlan: Sendable {
    /// The number of the last segment that was chosen.
    private var last: Int64?
    /// The first segment that was chosen, which is fetched again at the end.
    private(set) var first: MediaSegment?
    /// When the oldest segment was chosen last.
    private var probed: MonotonicInstant?
    private var hasCompared = false
    private var hasSeenEnd = false

    /// Segments that are published less than this long ago may not be on all servers yet.
    private static let settling: Int64 = 1_000_000_000

    /// The time between two looks at the oldest segment of a live window, which may begin to be missing at any time.
    static let probeInterval = Duration.seconds(60)

    /// The oldest segment of a live window, once in ``probeInterval``; nil if it is fetched anyway.
    mutating func oldest(
        of segments: some RandomAccessCollection<MediaSegment>,
        besides fetched: [MediaSegment],
        isLive: Bool,
        at now: MonotonicInstant
    ) -> MediaSegment? {
        guard isLive, probed.map({ $0.duration(to: now) >= Self.probeInterval }) ?? true,
            let oldest = segments.first, !oldest.isGap, !fetched.contains(where: { $0.sequence == oldest.sequence })
        else { return nil }
        probed = now
        return oldest
    }

    /// The last segment on demand, once: an upload that ended early lacks it, and so may a template whose duration does
    /// not fit. Nil if it is fetched anyway.
    mutating func ending(
        of segments: some BidirectionalCollection<MediaSegment>,
        besides fetched: [MediaSegment],
        isLive: Bool
    ) -> MediaSegment? {
        guard !isLive, !hasSeenEnd, let last = segments.last else { return nil }
        hasSeenEnd = true
        return last.isGap || fetched.contains { $0.sequence == last.sequence } ? nil : last
    }

    /// The next segments: at first the newest of a live rendition or the first of one on demand, later those that
    /// follow.
    mutating func next(
        _ count: Int,
        of segments: some RandomAccessCollection<MediaSegment>,
        isLive: Bool,
        now: WallTime
    ) -> [MediaSegment] {
        let known = segments.prefix(available(segments, now))
        let chosen: [MediaSegment]
        if let last {
            // A number that fell begins a new sequence.
            let isRestarted = (known.last?.sequence ?? last) < last
            chosen = isRestarted ? Array(known.suffix(count)) : Array(known.suffix(count).filter { $0.sequence > last })
        } else {
            chosen = Array(isLive ? known.suffix(count)[...] : known.prefix(count)[...])
        }
        last = chosen.last?.sequence ?? last
        first = first ?? chosen.first { !$0.isGap }
        return chosen.filter { !$0.isGap }
    }

    /// The first chosen segment, once, when it is the oldest or the second oldest that is listed.
    mutating func expiring(from segments: some RandomAccessCollection<MediaSegment>) -> MediaSegment? {
        guard let first, let oldest = segments.first, first.sequence.saturatingSubtract(oldest.sequence) <= 1 else {
            return nil
        }
        return compared(in: segments)
    }

    /// The first chosen segment, once, if it is still listed.
    mutating func compared(in segments: some RandomAccessCollection<MediaSegment>) -> MediaSegment? {
        guard !hasCompared, let first, let oldest = segments.first, oldest.sequence <= first.sequence else {
            return nil
        }
        hasCompared = true
        return first
    }

    /// How many of the segments can be fetched now: those of a template come into being with time.
    private func available(_ segments: some RandomAccessCollection<MediaSegment>, _ now: WallTime) -> Int {
        let limit = now.advanced(nanoseconds: -Self.settling)
        let end = segments.partitioningIndex { ($0.availability ?? limit) > limit }
        return segments.distance(from: segments.startIndex, to: end)
    }
}
