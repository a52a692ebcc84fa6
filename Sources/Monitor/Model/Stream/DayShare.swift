package import Instrument
internal import InstrumentText

/// How long a stream was up on a day, of the time of which something is known. Days are those of UTC.
package struct DayShare: Hashable, Sendable {
    private var day: Int64 = .min
    private var (up, known) = (0.0, 0.0)

    package init() {}

    /// Adds seconds that end at a time.
    package mutating func add(up: Double, of known: Double, at time: WallTime) {
        let day = time.daysSince1970
        // A wall clock that steps back continues in the latest day.
        if day > self.day { (self.day, self.up, self.known) = (day, 0, 0) }
        self.up += min(up, known)
        self.known += known
    }

    /// Adds the share of another stream on the day of `time`.
    package mutating func add(_ other: DayShare, at time: WallTime) {
        if other.day == time.daysSince1970 { add(up: other.up, of: other.known, at: time) }
    }

    /// The share of the time in which streams were up; nil without a minute of which something is known.
    package var value: Double? { known >= 60 ? up / known : nil }

    /// The share of the day of `time`; nil if no time of that day was added.
    package func value(at time: WallTime) -> Double? { day == time.daysSince1970 ? value : nil }
}
