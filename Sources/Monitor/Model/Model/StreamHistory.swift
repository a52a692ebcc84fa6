package import Instrument

/// Something that happened to a stream, for people.
package struct LogEntry: Hashable, Sendable {
    /// When it happened.
    package var time: WallTime
    /// `session`, `start`, `stall`, `quality`, `error`, `check`, `alert`.
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

    init(minute: Int32) { self.minute = minute }
}

/// The latest hour in minutes, and the latest day in quarters of an hour; bounded.
package struct StreamChart: Hashable, Sendable {
    package private(set) var minutes: [HistoryPoint] = []
    package private(set) var quarters: [HistoryPoint] = []

    init(quarters: [HistoryPoint] = []) { self.quarters = quarters.suffix(96) }

    /// Changes the points of both resolutions for an instant.
    mutating func update(at time: WallTime, _ change: (inout HistoryPoint) -> Void) {
        let minute = Int32(clamping: time.milliseconds / 60_000)
        Self.update(&minutes, minute, most: 60, change)
        Self.update(&quarters, minute - minute % 15, most: 96, change)
    }

    private static func update(
        _ points: inout [HistoryPoint],
        _ minute: Int32,
        most: Int,
        _ change: (inout HistoryPoint) -> Void
    ) {
        // A wall clock that steps back continues in the latest point.
        if points.last.map({ $0.minute < minute }) ?? true {
            points.append(HistoryPoint(minute: minute))
            if points.count > most { points.removeFirst(points.count - most) }
        }
        change(&points[points.count - 1])
    }
}

/// A list that keeps its latest elements.
package struct Recent<Element: Sendable>: Sendable {
    private let limit: Int
    package private(set) var elements: [Element] = []

    init(limit: Int) { self.limit = limit }

    mutating func append(_ element: Element) {
        elements.append(element)
        // Twice the limit before the front is removed, so that an append costs constant time.
        if elements.count >= 2 * limit { elements.removeFirst(elements.count - limit) }
    }

    /// The latest elements, the oldest first.
    package var latest: ArraySlice<Element> { elements.suffix(limit) }
}
