package import Instrument

extension WallTime {
    private static let millisecondsOfDay: Int64 = 86_400_000

    /// 0000-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z: the years that have four digits.
    private static let fourDigitYears: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// Creates a time from a date in UTC and the time since its midnight, in milliseconds.
    package init(_ date: CalendarDate, milliseconds: Int64) {
        self.init(milliseconds: date.daysSince1970 * Self.millisecondsOfDay + milliseconds)
    }

    /// The day in UTC.
    package var date: CalendarDate { CalendarDate(daysSince1970: daysSince1970) }

    /// The days from 1970-01-01 to the date, in UTC.
    package var daysSince1970: Int64 {
        milliseconds.flooredQuotientAndRemainder(dividingBy: Self.millisecondsOfDay).quotient
    }

    /// `2026-01-31T09:15:00.250Z`: RFC 3339 with milliseconds, in UTC. A time whose year has not four digits becomes
    /// the nearest one whose year has.
    package var rfc3339: String {
        let time = WallTime(
            milliseconds: min(max(milliseconds, Self.fourDigitYears.lowerBound), Self.fourDigitYears.upperBound)
        )
        let date = time.date
        let calendar = [date.year.padded(4), date.month.padded(2), date.day.padded(2)].joined(separator: "-")
        return "\(calendar)T\(time.timeOfDay)Z"
    }

    /// `09:15:00.250`: the time of day in UTC, with milliseconds.
    package var timeOfDay: String {
        let rest = milliseconds.flooredQuotientAndRemainder(dividingBy: Self.millisecondsOfDay).remainder
        let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { $0.padded(2) }.joined(separator: ":")
        return "\(clock).\((rest % 1000).padded(3))"
    }
}
