internal import Instrument

/// Calendar times as ISO 8601 in UTC with milliseconds, `2026-11-21T08:05:00.000Z`, without Foundation.
enum ISO8601 {
    /// 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z: what four digits of a year can say.
    private static let sayable: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// The text of a time; one whose year has no four digits becomes the nearest that has.
    static func text(_ time: WallTime) -> String {
        let milliseconds = min(max(time.milliseconds, sayable.lowerBound), sayable.upperBound)
        // From 0000-01-01, so that all that follows is positive.
        let elapsed = milliseconds - sayable.lowerBound
        let (year, month, day) = date(Int(elapsed / 86_400_000))
        let (seconds, fraction) = (Int(elapsed / 1000 % 86_400), Int(elapsed % 1000))
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(clock).\(padded(fraction, 3))Z"
    }

    /// The date that lies so many days after 0000-01-01.
    private static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
        // Never too late, and too early by a few years at most.
        var year = days / 366
        while firstDay(of: year + 1) <= days { year += 1 }
        let dayOfYear = days - firstDay(of: year)
        var (month, left) = (1, dayOfYear)
        while left >= length(of: month, year) {
            left -= length(of: month, year)
            month += 1
        }
        return (year, month, left + 1)
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func length(of month: Int, _ year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 0000-01-01 to the first of January of a year. The year 0 is a leap year.
    private static func firstDay(of year: Int) -> Int {
        let past = year - 1
        return year == 0 ? 0 : year * 365 + past / 4 - past / 100 + past / 400 + 1
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
