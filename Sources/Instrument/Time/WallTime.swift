/// A time of the calendar clock: milliseconds since 1970-01-01T00:00:00Z, without leap seconds (POSIX time).
///
/// Wall time labels events for people and servers. It may jump either way at any moment and is never subtracted.
public struct WallTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var milliseconds: Int64

    /// Creates a wall time from milliseconds since 1970-01-01T00:00:00Z.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Earlier by the calendar.
    public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }
}

/// The time of an event: an instant for measurements and a wall time for display.
public struct Timestamp: Hashable, Sendable {
    /// The instant on the instrument's monotonic clock; durations are differences of these.
    public var instant: MonotonicInstant
    /// The calendar time of the same moment.
    public var wallTime: WallTime

    /// Creates a timestamp of the two readings.
    public init(instant: MonotonicInstant, wallTime: WallTime) {
        self.instant = instant
        self.wallTime = wallTime
    }
}
