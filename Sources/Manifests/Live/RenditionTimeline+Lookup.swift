public import Instrument

extension RenditionTimeline {
    /// Returns the end of the available media at a calendar time, in nanoseconds; nil without media.
    public func liveEdge(at now: WallTime) -> Int64? {
        let count = availableCount(at: now)
        return count > 0 ? index[count - 1].end : nil
    }

    /// Returns the seekable range at a calendar time, in nanoseconds: from the oldest segment, or the start of the
    /// window, to the end or, while live, ``targetLatency`` before the live edge. Nil without media.
    public func seekableRange(at now: WallTime) -> ClosedRange<Int64>? {
        guard let edge = liveEdge(at: now), let first = index.first else { return nil }
        if index.isComplete { return first.start...max(first.start, edge) }
        let window = windowDuration.map { edge.saturatingSubtract($0) } ?? first.start
        let begin = max(first.start, min(window, edge))
        return begin...max(begin, edge.saturatingSubtract(targetLatency))
    }

    /// Returns the default start of playback: the manifest's start offset, the beginning of a complete presentation,
    /// else (also for an event) ``targetLatency`` before the live edge (RFC 8216 section 6.3.3).
    public func startPosition(at now: WallTime, offset: StartOffset? = nil) -> Int64? {
        guard let range = seekableRange(at: now), let edge = liveEdge(at: now), let first = index.first else {
            return nil
        }
        guard let offset else { return index.isComplete ? range.lowerBound : range.upperBound }
        let base = offset.offset < 0 ? edge : first.start
        return min(max(base.saturatingAdd(offset.offset), range.lowerBound), edge)
    }

    /// Returns the next segment if it is available at that calendar time. Nil means not yet (or, if the index is
    /// complete, never); ``MediaSegment/availability`` of ``SegmentIndex/segment(after:)`` or ``nextReload`` has the
    /// time.
    public func segment(after sequence: Int64, at now: WallTime) -> MediaSegment? {
        guard let next = index.segment(after: sequence) else { return nil }
        return next.availability.map { $0 <= now } ?? true ? next : nil
    }

    /// Returns the calendar time of a position; nil if not declared.
    public func wallTime(at position: Int64) -> WallTime? {
        if let origin { return origin.advanced(nanoseconds: position) }
        guard let segment = index.segment(containing: position) ?? index.last, let date = segment.wallTime else {
            return nil
        }
        return date.advanced(nanoseconds: position.saturatingSubtract(segment.start))
    }

    /// Returns the time since the event at a position, in nanoseconds; nil if the manifest declares no calendar time.
    public func latency(at position: Int64, now: WallTime) -> Int64? {
        wallTime(at: position).map { now.nanoseconds(since: $0) }
    }

    private func availableCount(at now: WallTime) -> Int {
        index.storage.firstPosition { $0.availability.map { $0 > now } ?? false }
    }
}
