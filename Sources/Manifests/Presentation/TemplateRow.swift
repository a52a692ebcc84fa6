internal import Instrument
internal import InstrumentTransport

/// Segments of equal length that a DASH template describes: made on demand, however many there are.
struct TemplateRow: Hashable, Sendable {
    var template: SegmentTemplate
    /// The first segment's sequence number, and `$Number$`.
    var sequence: Int64
    var number: Int64
    /// The first segment's `$Time$`, in ticks of the media, and how many ticks each lasts.
    var time: Int64
    var ticks: Int64
    var timescale: Int64
    var count: Int
    /// What stands at tick 0 of the media, in nanoseconds of the presentation timeline.
    var origin: Int64
    /// Where a period ends; its last segment is cut there.
    var end: Int64?
    /// What does not differ between the segments.
    var pattern: MediaSegment
    /// The calendar time of 0 of the presentation timeline, for a live one; and how much earlier a segment is there
    /// than it ends, in nanoseconds (`@availabilityTimeOffset`); nil if that is always.
    var calendarOrigin: WallTime?
    var availabilityOffset: Int64?

    func segment(at position: Int) -> MediaSegment {
        let place = Int64(clamping: position)
        var segment = pattern
        let ticksBefore = time.saturatingAdd(ticks.saturatingMultiply(place))
        segment.sequence = sequence.saturatingAdd(place)
        segment.mediaTime = ticksBefore.nanoseconds(timescale: timescale)
        segment.start = origin.saturatingAdd(ticksBefore.nanoseconds(timescale: timescale))
        let next = ticksBefore.saturatingAdd(ticks).nanoseconds(timescale: timescale)
        segment.duration = max(0, min(origin.saturatingAdd(next), end ?? .max).saturatingSubtract(segment.start))
        segment.url = template.url(number: number.saturatingAdd(place), time: ticksBefore)
        guard let calendarOrigin else { return segment }
        segment.wallTime = calendarOrigin.advanced(nanoseconds: segment.start)
        segment.availability = availabilityOffset.map {
            // Rounded up, so that nothing is asked for too early.
            calendarOrigin.advanced(nanoseconds: segment.end.saturatingSubtract($0).saturatingAdd(999_999))
        }
        return segment
    }
}

extension WallTime {
    /// The wall time that lies nanoseconds later, in whole milliseconds rounded down; saturates.
    func advanced(nanoseconds: Int64) -> WallTime {
        WallTime(milliseconds: milliseconds.saturatingAdd(nanoseconds.scaled(by: 1, over: 1_000_000)))
    }

    /// Nanoseconds from another wall time to this one; saturates.
    func nanoseconds(since other: WallTime) -> Int64 {
        milliseconds.saturatingSubtract(other.milliseconds).saturatingMultiply(1_000_000)
    }
}
