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

extension MonitorModel {
    /// The share of all streams on the day of `now`.
    package func upToday(at now: WallTime) -> Double? {
        var sum = DayShare()
        for slot in order { if let state = streams[slot] { sum.add(state.today, at: now) } }
        return sum.value
    }
}

extension StreamState {
    /// Continues the day from the minutes that an earlier process saved.
    mutating func resumeToday(at now: WallTime) {
        for point in chart.minutes() {
            let time = WallTime(milliseconds: Int64(point.minute) * 60_000)
            guard time.daysSince1970 == now.daysSince1970 else { continue }
            today.add(up: point.wasDown ? min(60, Double(point.playing) / 1_000) : 60, of: 60, at: time)
        }
    }
}
