internal import Instrument

/// The segments of a rendition in order, and whether their end is known.
///
/// Sequence numbers increase by one, start times never decrease. Segments of a DASH template are created on demand,
/// so an index of a day costs as little as an index of a minute. A value: each reload of a live rendition makes a new
/// index.
package struct SegmentIndex: Hashable, Sendable {
    var storage: SegmentStorage
    /// Whether the end is known: no segment will be added.
    package internal(set) var isComplete: Bool
    /// The target duration, in nanoseconds (`EXT-X-TARGETDURATION`; DASH: the longest segment or `@duration`); 0 if
    /// unknown.
    package internal(set) var targetDuration: Int64

    /// Creates an index of segments whose numbers increase by one.
    package init(_ segments: [MediaSegment], isComplete: Bool, targetDuration: Int64) {
        storage = SegmentStorage(segments)
        self.isComplete = isComplete
        self.targetDuration = targetDuration
    }

    init(rows: [SegmentRow], isComplete: Bool, targetDuration: Int64) {
        storage = SegmentStorage(rows: rows)
        self.isComplete = isComplete
        self.targetDuration = targetDuration
    }

    /// Returns the same index with other segments.
    func with(_ segments: [MediaSegment]) -> SegmentIndex {
        SegmentIndex(segments, isComplete: isComplete, targetDuration: targetDuration)
    }

    /// Returns the same segments with other sequence numbers.
    func renumbered(by shift: Int64) -> SegmentIndex {
        var index = self
        if shift != 0 { index.storage = storage.renumbered(by: shift) }
        return index
    }

    /// Creates an index of the segments of consecutive periods, numbered from the first.
    package init(joining parts: [SegmentIndex], isComplete: Bool = true) {
        var next = parts.first?.first?.sequence ?? 0
        var rows: [SegmentRow] = []
        for row in parts.flatMap(\.storage.rows) where row.count > 0 {
            rows.append(row.renumbered(by: next.saturatingSubtract(row.segment(at: 0).sequence)))
            next = next.saturatingAdd(Int64(clamping: row.count))
        }
        let longest = parts.map(\.targetDuration).max() ?? 0
        self.init(rows: rows, isComplete: isComplete, targetDuration: longest)
    }

    /// The oldest segment.
    package var first: MediaSegment? { storage.count > 0 ? storage.segment(at: 0) : nil }

    /// The newest segment.
    package var last: MediaSegment? { storage.count > 0 ? storage.segment(at: storage.count - 1) : nil }

    /// The times of the oldest segment.
    package var firstTimes: SegmentTimes? { storage.count > 0 ? storage.times(at: 0) : nil }

    /// The times of the newest segment.
    package var lastTimes: SegmentTimes? { storage.count > 0 ? storage.times(at: storage.count - 1) : nil }

    /// The end of the last segment, in nanoseconds on the presentation timeline; the live edge of a live rendition. 0
    /// if empty.
    package var end: Int64 { lastTimes?.end ?? 0 }

    /// Returns the segment that contains `time`, else (in a hole) the next segment; nil at and after the end.
    ///
    /// A time before the first segment gives the first segment. Where segments overlap, the last segment that has
    /// begun wins.
    package func segment(containing time: Int64) -> MediaSegment? {
        let position = storage.firstPosition { $0.start > time }
        if position > 0 {
            let candidate = storage.segment(at: position - 1)
            if time < candidate.end { return candidate }
        }
        return position < storage.count ? storage.segment(at: position) : nil
    }

    /// Returns the segment with this number; nil if it has expired or does not exist yet.
    package func segment(numbered sequence: Int64) -> MediaSegment? {
        guard let position = position(of: sequence) else { return nil }
        return storage.segment(at: position)
    }

    /// Returns the first existing segment with a larger number; nil without one. If the next segment has expired,
    /// this is the oldest segment.
    package func segment(after sequence: Int64) -> MediaSegment? {
        position(after: sequence).map(storage.segment(at:))
    }

    /// Returns the times of the segment that ``segment(after:)`` returns.
    package func times(after sequence: Int64) -> SegmentTimes? { position(after: sequence).map(storage.times(at:)) }

    /// Whether the segment with this number has expired.
    package func hasExpired(_ sequence: Int64) -> Bool { firstTimes.map { sequence < $0.sequence } ?? false }

    /// Whether the segments of two renditions begin at the same times, at most `tolerance` nanoseconds apart, where
    /// both have segments, so that a switch at a boundary neither repeats nor skips media. Requires at least one
    /// common boundary.
    package func isAligned(with other: SegmentIndex, tolerance: Int64 = 50_000_000) -> Bool {
        let (mine, others) = (Array(storage.prefix(64)), Array(other.storage.prefix(64)))
        guard let begin = [mine.first?.start, others.first?.start].compactMap(\.self).max(),
            let end = [mine.last?.start, others.last?.start].compactMap(\.self).min(), mine.count * others.count > 0
        else { return false }
        let tolerance = Swift.max(tolerance, 0)
        let range = begin.saturatingSubtract(tolerance)...Swift.max(begin, end).saturatingAdd(tolerance)
        let (left, right) = (mine.map(\.start).filter(range.contains), others.map(\.start).filter(range.contains))
        guard !left.isEmpty, left.count == right.count else { return false }
        return zip(left, right).allSatisfy { $0.saturatingSubtract($1).magnitude <= tolerance.magnitude }
    }

    private func position(after sequence: Int64) -> Int? {
        guard let first = firstTimes, let last = lastTimes, sequence < last.sequence else { return nil }
        return sequence < first.sequence ? 0 : position(of: sequence.saturatingAdd(1))
    }

    private func position(of sequence: Int64) -> Int? {
        guard let first = firstTimes else { return nil }
        let (distance, overflow) = sequence.subtractingReportingOverflow(first.sequence)
        guard !overflow, distance >= 0, distance < storage.count else { return nil }
        return Int(distance)
    }
}

extension SegmentIndex: RandomAccessCollection {
    /// 0.
    package var startIndex: Int { 0 }
    /// The number of segments.
    package var endIndex: Int { storage.count }
    /// The segment at a position, counted from the oldest segment.
    package subscript(position: Int) -> MediaSegment { storage.segment(at: position) }
}
