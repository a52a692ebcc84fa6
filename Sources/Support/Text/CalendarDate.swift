internal import Instrument

/// A day of the proleptic Gregorian calendar.
///
/// Source of both conversions: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (`days_from_civil`,
/// `civil_from_days`). Years begin on 1 March there, so that a leap day is the last of its year; 400 years have 146,097
/// days.
package struct CalendarDate: Hashable, Sendable {
    /// The year; 0 is the year before 1.
    package var year: Int
    /// The month, 1 to 12.
    package var month: Int
    /// The day of the month, from 1.
    package var day: Int

    /// Creates a date. A day beyond the end of its month counts on into the next one.
    package init(year: Int, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    /// Creates the date that lies this many days after 1970-01-01, or before it.
    package init(daysSince1970 days: Int64) {
        let shifted = Int(clamping: days.saturatingAdd(719_468))
        let (era, dayOfEra) = shifted.flooredQuotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The days from 1970-01-01 to this date; negative before.
    package var daysSince1970: Int64 {
        let shiftedYear = month > 2 ? year : year - 1
        let (era, yearOfEra) = shiftedYear.flooredQuotientAndRemainder(dividingBy: 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return Int64(era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468)
    }

    /// Whether month and day exist in the year.
    package var isValid: Bool {
        1...12 ~= month && day >= 1 && day <= Self.days(inMonth: month, of: year)
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension TextCursor {
    /// Takes `2026-11-21`: a month from 01 to 12 and a day from 01 to 31. Whether the month has that day is not
    /// checked.
    package mutating func date() -> CalendarDate? {
        guard let year = number(digits: 4), take("-"), let month = number(digits: 2), take("-"),
            let day = number(digits: 2), 1...12 ~= month, 1...31 ~= day
        else { return nil }
        return CalendarDate(year: year, month: month, day: day)
    }
}

extension BinaryInteger {
    /// Quotient and remainder of a division by a positive number. The quotient is rounded down, the remainder not
    /// negative.
    package func flooredQuotientAndRemainder(dividingBy divisor: Self) -> (quotient: Self, remainder: Self) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
