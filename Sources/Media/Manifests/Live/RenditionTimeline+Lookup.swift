package import Instrument

extension RenditionTimeline {
    /// Returns the end of the available media at a calendar time, in nanoseconds; nil without media.
    ///
    /// The live edge of an MPD is never in the future: `@availabilityTimeOffset` says when a segment may be requested,
    /// not when its media happens (ISO/IEC 23009-1 section 5.3.9.5.3).
    package func liveEdge(at now: WallTime) -> Int64? {
        let count = availableCount(at: now)
        guard count > 0 else { return nil }
        if let openSegment, !openSegment.parts.isEmpty { return openSegment.end }
        // The newest segment may be available while the server is producing it; the one before as well if the server
        // is late.
        let newest = (max(0, count - 2)..<count).map(index.storage.times(at:))
        let edge = newest.reduce(newest.first?.start ?? 0) { edge, segment in
            let missing = segment.completion.map { max(0, $0.nanoseconds(since: now)) } ?? 0
            return max(edge, segment.end.saturatingSubtract(missing))
        }
        return min(edge, origin.map { now.nanoseconds(since: $0) } ?? .max)
    }

    /// Returns the seekable range at a calendar time, in nanoseconds: from the oldest segment, or the start of the
    /// window, to the end or, while live, ``targetLatency`` before the live edge. Nil without media.
    package func seekableRange(at now: WallTime) -> ClosedRange<Int64>? {
        guard let edge = liveEdge(at: now), let first = index.firstTimes else { return nil }
        if index.isComplete { return first.start...max(first.start, edge) }
        let window = windowDuration.map { edge.saturatingSubtract($0) } ?? first.start
        let begin = max(first.start, min(window, edge))
        return begin...max(begin, edge.saturatingSubtract(targetLatency))
    }

    /// Returns the default start of playback: the manifest's start offset, the beginning of a complete presentation,
    /// else (also for an event) ``targetLatency`` before the live edge (RFC 8216 section 6.3.3).
    package func startPosition(at now: WallTime, offset: StartOffset? = nil) -> Int64? {
        guard let range = seekableRange(at: now), let edge = liveEdge(at: now), let first = index.firstTimes else {
            return nil
        }
        guard let offset else { return index.isComplete ? range.lowerBound : range.upperBound }
        let base = offset.offset < 0 ? edge : first.start
        return min(max(base.saturatingAdd(offset.offset), range.lowerBound), edge)
    }

    /// Returns the next segment if it is available at that calendar time. Nil means not yet (or, if the index is
    /// complete, never); `MediaSegment.availability` of ``SegmentIndex/segment(after:)`` or ``nextReload`` has the
    /// time.
    package func segment(after sequence: Int64, at now: WallTime) -> MediaSegment? {
        guard let next = index.segment(after: sequence) else { return nil }
        return next.availability.map { $0 <= now } ?? true ? next : nil
    }

    /// Returns the calendar time of a position; nil if not declared.
    package func wallTime(at position: Int64) -> WallTime? {
        if let origin { return origin.advanced(nanoseconds: position) }
        guard let segment = index.segment(containing: position) ?? index.last, let date = segment.wallTime else {
            return nil
        }
        return date.advanced(nanoseconds: position.saturatingSubtract(segment.start))
    }

    /// Returns the time since the event at a position, in nanoseconds; nil if the manifest declares no calendar time.
    package func latency(at position: Int64, now: WallTime) -> Int64? {
        wallTime(at: position).map { now.nanoseconds(since: $0) }
    }

    /// The segment and the part that the server adds next, by the numbers of its playlist.
    package var nextPart: (sequence: Int64, part: Int)? {
        guard let last = index.last else { return nil }
        let sequence = openSegment?.sequence ?? last.sequence.saturatingAdd(1)
        return (sequence.saturatingSubtract(sequenceShift), openSegment?.parts.count ?? 0)
    }

    /// The part that the playlist hints at, behind the parts of `openSegment`; nil without a hint.
    ///
    /// The part may never exist. Its duration is the longest that a part may have.
    package var hintedPart: MediaSegment? {
        guard let preloadHint, let open = openSegment, !index.isComplete else { return nil }
        var part = open
        (part.parts, part.part, part.isGap) = ([], open.parts.count, false)
        (part.url, part.byteRange) = (preloadHint.url, preloadHint.byteRange)
        (part.start, part.duration) = (open.end, control.partTarget ?? 0)
        part.wallTime = open.wallTime?.advanced(nanoseconds: open.duration)
        return part
    }

    /// Whether the segment with this number is complete, so that no part will be added.
    package func isComplete(_ sequence: Int64) -> Bool { openSegment?.sequence != sequence }

    /// Returns the segment or the part behind a segment or behind one of its parts; nil if it does not exist yet.
    ///
    /// - Parameters:
    ///   - sequence: the number of the segment.
    ///   - part: the place of the part; nil for the whole segment.
    ///   - end: the end of that segment or part.
    package func unit(after sequence: Int64, part: Int?, endingAt end: Int64) -> MediaSegment? {
        if let part {
            let isOpen = !isComplete(sequence)
            let segment = isOpen ? openSegment : index.segment(numbered: sequence)
            if let next = segment?.partial(part + 1) { return next }
            if isOpen { return nil }
            // The parts are listed no longer: the whole segment has the rest of them.
            if let segment, segment.parts.isEmpty, segment.end.saturatingSubtract(end) > 50_000_000 { return segment }
        }
        let next = sequence.saturatingAdd(1)
        return index.segment(numbered: next) ?? (isComplete(next) ? nil : openSegment?.partial(0))
    }

    /// Returns the segment that contains `time`, or, where the segment has parts, the last part before `time` with
    /// which decoding can begin. Nil at and after the live edge.
    package func unit(containing time: Int64) -> MediaSegment? {
        guard let segment = index.segment(containing: time) else {
            return openSegment.flatMap { time < $0.end ? Self.independentPart(of: $0, before: time) : nil }
        }
        return time > segment.start ? Self.independentPart(of: segment, before: time) ?? segment : segment
    }

    /// The newest segment of a live stream, or, where it has parts, the last part of it with which decoding can begin;
    /// nil for other streams.
    package var newestUnit: MediaSegment? {
        guard !index.isComplete, let last = index.lastTimes else { return nil }
        let end = openSegment.flatMap { $0.parts.isEmpty ? nil : $0.end } ?? last.end
        return unit(containing: end.saturatingSubtract(1))
    }

    /// How long before their end segments are available, in nanoseconds, as `@availabilityTimeOffset` says; 0 for other
    /// streams.
    package var earlyAvailability: Int64 {
        guard let origin, let last = index.lastTimes, let availability = last.availability else { return 0 }
        return max(0, last.end.saturatingSubtract(availability.nanoseconds(since: origin)))
    }

    private static func independentPart(of segment: MediaSegment, before time: Int64) -> MediaSegment? {
        let offset = time.saturatingSubtract(segment.start)
        let place = segment.parts.lastIndex { $0.isIndependent && $0.offset <= offset }
        return place.flatMap(segment.partial)
    }

    private func availableCount(at now: WallTime) -> Int {
        index.storage.firstPosition { $0.availability.map { $0 > now } ?? false }
    }
}
