internal import Instrument
internal import InstrumentHTTP

/// The segments that a DASH template describes for one period, created on demand.
struct TemplateRow: Hashable, Sendable {
    /// Segments of equal length (one `S` of a `SegmentTimeline`, or all that `@duration` describes).
    struct Run: Hashable, Sendable {
        /// The first segment's time and each segment's duration, in ticks of the media.
        var time: Int64
        var ticks: Int64
        /// The first segment's `$Number$`.
        var number: Int64
        var count: Int
        var isGap = false
        /// Whether the segments become available with time, instead of being available because they are listed.
        var isExpected = false
        /// The number of segments of the preceding runs.
        var before = 0
    }

    var template: SegmentTemplate
    /// The first segment's sequence number.
    var sequence: Int64 = 0
    private(set) var runs: [Run] = []
    private(set) var count = 0
    /// The duration of the longest segment in ticks; gaps do not count.
    private(set) var longestTicks: Int64 = 0
    var timescale: Int64
    /// `@presentationTimeOffset`: the tick at which the period begins.
    var timeOffset: Int64
    /// The part of the media's time that `$Time$` omits; the offset where `@duration` describes the segments.
    var addressOffset: Int64 = 0
    /// The period's start and end, in nanoseconds.
    var periodStart: Int64
    var periodEnd: Int64?
    /// The properties that all segments share.
    var pattern: MediaSegment
    /// The calendar time of the presentation timeline's zero, for a live presentation.
    var calendarOrigin: WallTime?
    /// The time by which a segment is available before its end, in nanoseconds (`@availabilityTimeOffset`); nil for
    /// always.
    var availabilityOffset: Int64? = 0
    /// The position of the media that happened when the MPD was read, for a live presentation. Segments that a
    /// `SegmentTimeline` lists before they begin become available when they begin.
    var listedAt: Int64?
    /// Whether a segment that is available before its end arrives in chunks while it is produced
    /// (`@availabilityTimeComplete` is false).
    var isAvailableInChunks = false

    mutating func append(_ run: Run) {
        guard run.count > 0, run.ticks > 0 else { return }
        var run = run
        run.before = count
        // Far above any presentation, and far below an overflow.
        run.count = min(run.count, 1 << 32)
        runs.append(run)
        count += run.count
        if !run.isGap { longestTicks = max(longestTicks, run.ticks) }
    }

    /// Reuses the times of another list of the same timeline.
    mutating func share(_ other: TemplateRow) {
        (runs, count, longestTicks) = (other.runs, other.count, other.longestTicks)
        addressOffset = other.addressOffset
    }

    func times(at position: Int) -> SegmentTimes {
        let run = run(at: position)
        return times(at: position, in: run, ticks: ticks(at: position, in: run))
    }

    func segment(at position: Int) -> MediaSegment {
        let run = run(at: position)
        let place = Int64(clamping: position - run.before)
        let ticks = ticks(at: position, in: run)
        let times = times(at: position, in: run, ticks: ticks)
        var segment = pattern
        (segment.sequence, segment.start, segment.duration) = (times.sequence, times.start, times.duration)
        (segment.availability, segment.completion) = (times.availability, times.completion)
        segment.trimmedStart = segment.start.saturatingSubtract(start(ofTick: ticks))
        segment.trimmedEnd = max(0, start(ofTick: ticks.saturatingAdd(run.ticks)).saturatingSubtract(segment.end))
        segment.mediaOffset = periodStart.saturatingSubtract(timeOffset.nanoseconds(timescale: timescale))
        segment.mediaTime = ticks.nanoseconds(timescale: timescale).saturatingAdd(segment.trimmedStart)
        segment.isGap = pattern.isGap || run.isGap
        segment.url = template.url(
            number: run.number.saturatingAdd(place),
            time: ticks.saturatingSubtract(addressOffset)
        )
        guard let calendarOrigin else { return segment }
        segment.wallTime = calendarOrigin.advanced(nanoseconds: segment.start)
        return segment
    }

    private func ticks(at position: Int, in run: Run) -> Int64 {
        run.time.saturatingAdd(run.ticks.saturatingMultiply(Int64(clamping: position - run.before)))
    }

    private func times(at position: Int, in run: Run, ticks: Int64) -> SegmentTimes {
        let begin = max(start(ofTick: ticks), periodStart)
        let end = min(start(ofTick: ticks.saturatingAdd(run.ticks)), periodEnd ?? .max)
        let number = sequence.saturatingAdd(Int64(clamping: position))
        var times = SegmentTimes(sequence: number, start: begin, duration: max(0, end.saturatingSubtract(begin)))
        guard let calendarOrigin else { return times }
        if let availabilityOffset, let complete = productionTime(of: times, isExpected: run.isExpected) {
            // Rounded up, so that no request is too early.
            let moment = complete.saturatingSubtract(availabilityOffset).saturatingAdd(999_999)
            times.availability = calendarOrigin.advanced(nanoseconds: moment)
        }
        if isAvailableInChunks { times.completion = calendarOrigin.advanced(nanoseconds: times.end) }
        return times
    }

    /// The position of the media that happens when a segment becomes available; nil for a segment that is available
    /// because it is listed.
    private func productionTime(of times: SegmentTimes, isExpected: Bool) -> Int64? {
        if isExpected { return times.end }
        return listedAt.flatMap { times.start > $0 ? times.start : nil }
    }

    func run(at position: Int) -> Run {
        runs[runs.partitioningIndex { $0.before > position } - 1]
    }

    private func start(ofTick ticks: Int64) -> Int64 {
        periodStart.saturatingAdd(ticks.saturatingSubtract(timeOffset).nanoseconds(timescale: timescale))
    }
}
