internal import Instrument
internal import InstrumentHTTP

/// Segments that a DASH template describes for one period: made on demand, however many there are.
struct TemplateRow: Hashable, Sendable {
    /// Segments of equal length (one `S` of a `SegmentTimeline`, or all that `@duration` describes).
    struct Run: Hashable, Sendable {
        /// The first one's time in ticks of the media, and how many ticks each lasts.
        var time: Int64
        var ticks: Int64
        /// The first one's `$Number$`.
        var number: Int64
        var count: Int
        var isGap = false
        /// Whether they come into being with time, and are not there because they are listed.
        var isExpected = false
        /// How many segments the runs before it have.
        var before = 0
    }

    var template: SegmentTemplate
    /// The first segment's sequence number.
    var sequence: Int64 = 0
    private(set) var runs: [Run] = []
    private(set) var count = 0
    /// How many ticks the longest segment lasts; gaps do not count.
    private(set) var longestTicks: Int64 = 0
    var timescale: Int64
    /// `@presentationTimeOffset`: the tick at which the period begins.
    var timeOffset: Int64
    /// What `$Time$` leaves out of the media's time; the offset where `@duration` describes the segments.
    var addressOffset: Int64 = 0
    /// When the period begins and ends, in nanoseconds.
    var periodStart: Int64
    var periodEnd: Int64?
    /// What does not differ between the segments.
    var pattern: MediaSegment
    /// The calendar time of 0 of the presentation timeline, for a live one.
    var calendarOrigin: WallTime?
    /// How much earlier a segment is there than it ends, in nanoseconds (`@availabilityTimeOffset`); nil for always.
    var availabilityOffset: Int64? = 0

    mutating func append(_ run: Run) {
        guard run.count > 0, run.ticks > 0 else { return }
        var run = run
        run.before = count
        // Far beyond any presentation, and far below what would overflow.
        run.count = min(run.count, 1 << 32)
        runs.append(run)
        count += run.count
        if !run.isGap { longestTicks = max(longestTicks, run.ticks) }
    }

    /// Takes the times of another row of the same timeline.
    mutating func share(_ other: TemplateRow) {
        (runs, count, longestTicks) = (other.runs, other.count, other.longestTicks)
        addressOffset = other.addressOffset
    }

    func segment(at position: Int) -> MediaSegment {
        let run = run(at: position)
        let place = Int64(clamping: position - run.before)
        let ticks = run.time.saturatingAdd(run.ticks.saturatingMultiply(place))
        var segment = pattern
        segment.sequence = sequence.saturatingAdd(Int64(clamping: position))
        let natural = start(ofTick: ticks)
        segment.start = max(natural, periodStart)
        let end = min(start(ofTick: ticks.saturatingAdd(run.ticks)), periodEnd ?? .max)
        segment.duration = max(0, end.saturatingSubtract(segment.start))
        segment.mediaTime = ticks.nanoseconds(timescale: timescale).saturatingAdd(
            segment.start.saturatingSubtract(natural)
        )
        segment.isGap = pattern.isGap || run.isGap
        segment.url = template.url(
            number: run.number.saturatingAdd(place),
            time: ticks.saturatingSubtract(addressOffset)
        )
        guard let calendarOrigin else { return segment }
        segment.wallTime = calendarOrigin.advanced(nanoseconds: segment.start)
        if run.isExpected, let availabilityOffset {
            // Rounded up, so that nothing is asked for too early.
            let moment = segment.end.saturatingSubtract(availabilityOffset).saturatingAdd(999_999)
            segment.availability = calendarOrigin.advanced(nanoseconds: moment)
        }
        return segment
    }

    func run(at position: Int) -> Run {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = low + (high - low) / 2
            if runs[middle].before > position { high = middle } else { low = middle + 1 }
        }
        return runs[low - 1]
    }

    private func start(ofTick ticks: Int64) -> Int64 {
        periodStart.saturatingAdd(ticks.saturatingSubtract(timeOffset).nanoseconds(timescale: timescale))
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
