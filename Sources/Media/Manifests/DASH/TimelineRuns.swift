internal import Instrument
internal import InstrumentText
internal import InstrumentXML

/// Computes the times of a `SegmentTimeline`, or of `@duration` (ISO/IEC 23009-1 section 5.3.9.6).
struct TimelineRuns {
    let levels: RepresentationLevels
    let kind: String
    let calendar: PeriodSegments.Calendar?
    let limits: ManifestLimits
    /// The number of listed segments; nil where a template creates segments until the end of the period.
    var available: Int?
    /// The number of read `S` elements.
    private(set) var entryCount = 0
    /// The period's start and end in ticks.
    private let begin: Int64
    private let end: Int64?
    private let timescale: Int64
    private let periodStart: Int64

    init(
        _ levels: RepresentationLevels,
        _ kind: String,
        _ period: DASHManifest.Period,
        _ row: TemplateRow,
        _ calendar: PeriodSegments.Calendar?,
        _ limits: ManifestLimits
    ) {
        (self.levels, self.kind, self.calendar, self.limits) = (levels, kind, calendar, limits)
        (begin, timescale, periodStart) = (row.timeOffset, row.timescale, period.start)
        end = period.end.map { end in
            let length = end.saturatingSubtract(period.start)
            // Rounded up: a segment that begins in the last tick counts.
            let ticks = length.scaled(by: row.timescale, over: 1_000_000_000)
            let isExact = ticks.nanoseconds(timescale: row.timescale) >= length
            return row.timeOffset.saturatingAdd(isExact ? ticks : ticks.saturatingAdd(1))
        }
    }

    mutating func fill(_ row: inout TemplateRow, _ notices: inout NoticeList) throws(ManifestError) {
        let number = levels.integer(kind, "startNumber") ?? 1
        let last = levels.integer(kind, "endNumber")
        if let timeline = levels.child(kind, "SegmentTimeline") {
            let entries = timeline.all("S")
            entryCount = entries.count
            try fill(&row, entries, number, last, &notices)
        } else if let ticks = levels.integer(kind, "duration"), ticks > 0 {
            row.addressOffset = begin
            fill(&row, ticks, number, last)
        } else if available == 1 || kind == "SegmentTemplate" && end != nil {
            // One segment for the whole period.
            let length = (end ?? begin).saturatingSubtract(begin)
            row.append(TemplateRow.Run(time: begin, ticks: max(length, 1), number: number, count: 1))
        } else {
            throw ManifestError(
                .malformed,
                "segments have neither a duration nor a timeline",
                line: levels.representation.line
            )
        }
    }

    /// Segments with the duration `@duration`; for a live presentation, from the start of the window and far into the
    /// future.
    private func fill(_ row: inout TemplateRow, _ ticks: Int64, _ number: Int64, _ last: Int64?) {
        var skipped: Int64 = 0
        if let calendar {
            let elapsed = calendar.now.nanoseconds(since: calendar.origin).saturatingSubtract(periodStart)
            let oldest = elapsed.saturatingSubtract(calendar.window ?? elapsed)
            skipped = max(0, oldest.scaled(by: timescale, over: 1_000_000_000)) / ticks
            // Without a window, the newest segments stay.
            let newest = max(0, elapsed.scaled(by: timescale, over: 1_000_000_000)) / ticks
            skipped = max(skipped, newest.saturatingSubtract(Int64(clamping: limits.segments)))
        }
        let time = begin.saturatingAdd(ticks.saturatingMultiply(skipped))
        var count = end.map { Self.count(from: time, to: $0, ticks) } ?? (calendar == nil ? 0 : horizon)
        count = capped(count, number.saturatingAdd(skipped), last)
        if let available { count = min(count == 0 && end == nil ? available : count, available) }
        row.append(
            TemplateRow.Run(
                time: time,
                ticks: ticks,
                number: number.saturatingAdd(skipped),
                count: count,
                isExpected: calendar != nil
            )
        )
    }

    /// The limit of listed future segments.
    private var horizon: Int { min(max(limits.segments, 1), 1 << 32) * 2 }

    private func capped(_ count: Int, _ number: Int64, _ last: Int64?) -> Int {
        guard let last else { return count }
        return min(count, Int(clamping: max(0, last.saturatingSubtract(number).saturatingAdd(1))))
    }

    /// Returns the number of segments that begin before `end`.
    private static func count(from time: Int64, to end: Int64, _ ticks: Int64) -> Int {
        guard end > time, ticks > 0 else { return 0 }
        return Int(clamping: end.saturatingSubtract(time).saturatingSubtract(1) / ticks + 1)
    }

    private func fill(
        _ row: inout TemplateRow,
        _ entries: NamedElements,
        _ firstNumber: Int64,
        _ last: Int64?,
        _ notices: inout NoticeList
    ) throws(ManifestError) {
        var (time, number) = (Int64(0), firstNumber)
        for (place, entry) in entries.enumerated() {
            let start = entry.integer("t") ?? time
            guard let ticks = entry.integer("d"), ticks > 0 else {
                let found = entry["d"].map { "`d=\"\($0.excerpt())\"`" } ?? ""
                notices.add(.entryWithoutDuration, found, line: entry.line)
                continue
            }
            guard place == 0 || row.count == 0 || start >= row.lastTime else {
                notices.add(.misplacedEntry, line: entry.line)
                continue
            }
            addGap(&row, from: time, to: start)
            number = entry.integer("n") ?? number
            let (count, isOpen) = repeats(entry, entries, place, start, ticks)
            add(&row, start, ticks, number, capped(count, number, last), isOpen: isOpen)
            time = start.saturatingAdd(ticks.saturatingMultiply(Int64(clamping: count)))
            number = number.saturatingAdd(Int64(clamping: count))
        }
    }

    /// Returns the number of segments of an `S`. A negative `r` reaches to the next `S` or the end of the period;
    /// while that is unknown, as far as the current time allows.
    private func repeats(
        _ entry: MarkupElement,
        _ entries: NamedElements,
        _ place: Int,
        _ start: Int64,
        _ ticks: Int64
    ) -> (count: Int, isOpen: Bool) {
        let text = entry["r"] ?? "0"
        guard text.hasPrefix("-") else {
            return (Int(clamping: (DecimalText.integer(text) ?? 0).saturatingAdd(1)), false)
        }
        let next = entries.indices.contains(place + 1) ? entries[place + 1].integer("t") : nil
        if let limit = next ?? end {
            return (Self.count(from: start, to: limit, ticks), next == nil && calendar != nil)
        }
        guard calendar != nil else { return (1, false) }
        return (horizon, true)
    }

    /// A hole that a viewer would notice; smaller holes come from rounding.
    private func addGap(_ row: inout TemplateRow, from time: Int64, to start: Int64) {
        let ticks = start.saturatingSubtract(time)
        guard row.count > 0, ticks.nanoseconds(timescale: timescale) > 100_000_000 else { return }
        row.append(TemplateRow.Run(time: time, ticks: ticks, number: 0, count: 1, isGap: true))
    }

    /// Adds the segments inside the period.
    private func add(
        _ row: inout TemplateRow,
        _ time: Int64,
        _ ticks: Int64,
        _ number: Int64,
        _ count: Int,
        isOpen: Bool
    ) {
        // Segments that end before the period begins, which a split of a running timeline creates.
        let before = max(0, begin.saturatingSubtract(time)) / ticks
        let skipped = min(before, Int64(clamping: count))
        let start = time.saturatingAdd(ticks.saturatingMultiply(skipped))
        var rest = count - Int(clamping: skipped)
        if let end { rest = min(rest, Self.count(from: start, to: end, ticks)) }
        let first = number.saturatingAdd(skipped)
        row.append(TemplateRow.Run(time: start, ticks: ticks, number: first, count: rest, isExpected: isOpen))
    }
}

extension TemplateRow {
    /// The last segment's start in ticks.
    var lastTime: Int64 {
        runs.last.map { $0.time.saturatingAdd($0.ticks.saturatingMultiply(Int64(clamping: $0.count - 1))) } ?? .min
    }

    /// Returns the `$Number$` of the segment at a position.
    func number(at position: Int) -> Int64 {
        let run = run(at: position)
        return run.number.saturatingAdd(Int64(clamping: position - run.before))
    }
}
