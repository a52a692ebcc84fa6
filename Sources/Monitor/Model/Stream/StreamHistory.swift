package import Instrument

/// Something that happened to a stream, for people.
package struct LogEntry: Hashable, Sendable {
    /// When it happened.
    package var time: WallTime
    /// `session`, `start`, `stall`, `down`, `quality`, `error`, `check`, `cause`, `alert`.
    package var kind: String
    /// What happened; may hold foreign text.
    package var text: String
}

/// A request, for the detail view.
package struct LoggedRequest: Hashable, Sendable {
    package var time: WallTime
    package var request: RequestObservation
}

/// An interval of the history of a stream.
package struct HistoryPoint: Hashable, Sendable {
    /// The start, in minutes since 1970.
    package var minute: Int32
    package var playing: UInt32 = 0
    package var rebuffering: UInt32 = 0
    package var errors: UInt16 = 0
    /// kbit/s; 0 if unknown.
    package var bitrate: UInt32 = 0
    /// The latest startup time in milliseconds; 0 without a start.
    package var startup: UInt32 = 0
    /// Milliseconds; 0 if unknown.
    package var latency: UInt32 = 0
    /// Milliseconds.
    package var buffer: UInt32 = 0
    /// Whether the stream was down at some time of the interval.
    package var wasDown = false
    /// Whether the stream was stalled, or had a finding, at some time of the interval.
    package var wasImpaired = false

    init(minute: Int32) { self.minute = minute }
}

/// The latest day in minutes, and the latest two weeks in quarters of an hour; bounded.
package struct StreamChart: Hashable, Sendable {
    /// The number of minutes and of quarters that are kept.
    package static let mostMinutes = 1_440
    package static let mostQuarters = 1_344

    private var minutePoints = PackedSeries(limit: mostMinutes, unit: 1, scale: 1)
    private var quarterPoints = PackedSeries(limit: mostQuarters, unit: 15, scale: 20)
    /// The intervals that are not over.
    private var minute: HistoryPoint?
    private var quarter: HistoryPoint?

    init() {}

    /// The latest minutes, the oldest first.
    package func minutes(_ number: Int = mostMinutes) -> [HistoryPoint] { Self.latest(number, minutePoints, minute) }

    /// The latest quarters of an hour, the oldest first.
    package func quarters(_ number: Int = mostQuarters) -> [HistoryPoint] {
        Self.latest(number, quarterPoints, quarter)
    }

    /// The minutes that begin in a range and are over.
    func closedMinutes(from first: Int32, before end: Int32) -> [HistoryPoint] {
        Self.points(from: first, minutePoints, minute).filter { $0.minute < end }
    }

    /// The quarters that end in a range: behind `first`, and at the latest at `end`.
    func closedQuarters(after first: Int32, until end: Int32) -> [HistoryPoint] {
        Self.points(from: first - 14, quarterPoints, quarter).filter { $0.minute + 15 <= end }
    }

    /// Changes the points of both resolutions for an instant.
    mutating func update(at time: WallTime, _ change: (inout HistoryPoint) -> Void) {
        let minute = Int32(clamping: time.milliseconds / 60_000)
        Self.update(&self.minute, &minutePoints, minute, change)
        Self.update(&quarter, &quarterPoints, minute - minute % 15, change)
    }

    // A wall clock that steps back continues in the latest point.
    private static func update(
        _ open: inout HistoryPoint?,
        _ past: inout PackedSeries,
        _ minute: Int32,
        _ change: (inout HistoryPoint) -> Void
    ) {
        if let known = open, known.minute < minute {
            past.append(known)
            open = nil
        }
        var point = open ?? HistoryPoint(minute: minute)
        change(&point)
        open = point
    }

    /// Moves all that is known, because the wall clock has jumped.
    mutating func move(byMinutes minutes: Int) {
        minutePoints.move(byMinutes: minutes)
        quarterPoints.move(byMinutes: minutes)
        minute?.move(byMinutes: minutes)
        quarter?.move(byMinutes: 15 * minutes.units(of: 15))
    }

    /// Adds points of an earlier process, in their order.
    mutating func restore(minutes: [HistoryPoint], quarters: [HistoryPoint]) {
        for point in minutes { minutePoints.append(point) }
        for point in quarters { quarterPoints.append(point) }
    }

    /// Continues the minute and the quarter in which an earlier process ended; the quarter from its minutes.
    mutating func resume() {
        guard minute == nil, quarter == nil else { return }
        minute = minutePoints.latest(1).first
        let known = quarterPoints.latestMinute
        if let last = quarterPoints.latest(1).first { quarter = last }
        for point in minutePoints.points(from: known.map { $0 + 15 } ?? .min) {
            let begin = point.minute - point.minute % 15
            if let open = quarter, open.minute < begin {
                quarterPoints.append(open)
                quarter = nil
            }
            var open = quarter ?? HistoryPoint(minute: begin)
            open.add(point)
            quarter = open
        }
    }

    private static func latest(_ number: Int, _ past: PackedSeries, _ open: HistoryPoint?) -> [HistoryPoint] {
        guard let open else { return past.latest(number) }
        return merged(past.latest(number), open).suffix(number)
    }

    private static func points(from first: Int32, _ past: PackedSeries, _ open: HistoryPoint?) -> [HistoryPoint] {
        let points = past.points(from: first)
        guard let open, open.minute >= first else { return points }
        return merged(points, open)
    }

    /// The open interval may be the last one of the past, continued.
    private static func merged(_ past: [HistoryPoint], _ open: HistoryPoint) -> [HistoryPoint] {
        (past.last.map { $0.minute >= open.minute } ?? false ? past.dropLast() : past[...]) + [open]
    }
}

extension HistoryPoint {
    mutating func move(byMinutes minutes: Int) {
        minute = Int32(clamping: Int(minute) + minutes)
    }

    /// Adds a shorter interval that follows.
    fileprivate mutating func add(_ other: HistoryPoint) {
        playing = playing.saturatingAdd(other.playing)
        rebuffering = rebuffering.saturatingAdd(other.rebuffering)
        errors = errors.saturatingAdd(other.errors)
        if other.bitrate > 0 { bitrate = other.bitrate }
        if other.startup > 0 { startup = other.startup }
        if other.latency > 0 { latency = other.latency }
        buffer = other.buffer
        (wasDown, wasImpaired) = (wasDown || other.wasDown, wasImpaired || other.wasImpaired)
    }
}

/// A list that keeps its latest elements.
package struct Recent<Element: Sendable>: Sendable {
    private let limit: Int
    package private(set) var elements: [Element] = []
    /// The number of elements that were ever appended.
    private(set) var total = 0

    init(limit: Int) { self.limit = limit }

    mutating func append(_ element: Element) {
        elements.append(element)
        total += 1
        // A quarter more than the limit before the front is removed, so that an append costs constant time.
        if elements.count >= limit + max(1, limit / 4) { elements.removeFirst(elements.count - limit) }
    }

    /// The latest elements, the oldest first.
    package var latest: ArraySlice<Element> { elements.suffix(limit) }
}
