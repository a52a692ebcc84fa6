package import Instrument

/// Points in time as the two versions write them.
///
/// 1.0.3 wants ISO 8601, extended or basic (XAPI-00123); that there is a zone it only recommends (Data 4.5.s1.b4), and
/// without one UTC is taken. 2.0 wants RFC 3339 (IEEE 9274.1.1, 4.2.7), which leaves a space for the `T` but has no basic
/// form, always a zone, and none without minutes. Both refuse `-00`, `-0000` and `-00:00`, and both are held to the
/// calendar. Week dates and days of the year are not read.
///
/// Source: xAPI 1.0.3, Data 4.5; RFC 3339, section 5.6.
enum TimestampFormat {
    static func isValid(_ text: String, version: XAPIVersion) -> Bool { parse(text, version: version) != nil }

    /// The point in time, rounded down to milliseconds.
    static func parse(_ text: String, version: XAPIVersion) -> WallTime? {
        var reader = Reader(cursor: TextCursor(text), isStrict: version == .v2)
        return reader.time()
    }

    private struct Reader {
        var cursor: TextCursor
        /// RFC 3339 only.
        let isStrict: Bool
        private var isBasic = false

        init(cursor: TextCursor, isStrict: Bool) {
            self.cursor = cursor
            self.isStrict = isStrict
        }

        mutating func time() -> WallTime? {
            guard let days = date(), cursor.take(anyOf: isStrict ? "Tt " : "T") != nil, let clock = clock(),
                let offset = offset(), cursor.isAtEnd
            else { return nil }
            return WallTime(milliseconds: days * 86_400_000 + clock - offset * 60_000)
        }

        /// Days since 1970-01-01.
        private mutating func date() -> Int64? {
            guard let year = cursor.number(digits: 4) else { return nil }
            isBasic = !cursor.take("-")
            if isBasic, isStrict { return nil }
            guard let month = cursor.number(digits: 2), isBasic || cursor.take("-"), let day = cursor.number(digits: 2),
                (1...12).contains(month), (1...CivilDate.days(in: month, of: year)).contains(day)
            else { return nil }
            return CivilDate.daysSince1970(year: year, month: month, day: day)
        }

        /// Milliseconds since midnight.
        private mutating func clock() -> Int64? {
            guard let hour = cursor.number(digits: 2), hour < 24, isBasic || cursor.take(":"),
                let minute = cursor.number(digits: 2), minute < 60
            else { return nil }
            let minutes = Int64(hour * 60 + minute) * 60_000
            guard let second = second() else { return nil }
            return minutes + second
        }

        /// Seconds may be left out in ISO 8601; 60 is a leap second.
        private mutating func second() -> Int64? {
            if !isBasic, !cursor.take(":") { return isStrict ? nil : 0 }
            guard let second = cursor.number(digits: 2) else { return isBasic ? 0 : nil }
            guard second <= 60 else { return nil }
            guard cursor.take(anyOf: isStrict ? "." : ".,") != nil else { return Int64(second) * 1000 }
            guard let fraction = cursor.digits() else { return nil }
            return Int64(second) * 1000 + Int64(TextCursor.number((fraction + [48, 48]).prefix(3)))
        }

        /// Minutes east of Greenwich.
        private mutating func offset() -> Int64? {
            if !isStrict, cursor.isAtEnd { return 0 }
            if cursor.take(anyOf: isStrict ? "Zz" : "Z") != nil { return 0 }
            guard let sign = cursor.take(anyOf: "+-"), let hours = cursor.number(digits: 2), hours < 24 else {
                return nil
            }
            guard let minutes = offsetMinutes(), minutes < 60 else { return nil }
            let offset = Int64(hours * 60 + minutes)
            if sign == "-", offset == 0 { return nil }
            return sign == "-" ? -offset : offset
        }

        private mutating func offsetMinutes() -> Int? {
            if cursor.take(":") { return cursor.number(digits: 2) }
            if isStrict { return nil }
            return cursor.isAtEnd ? 0 : cursor.number(digits: 2)
        }
    }
}

/// The Gregorian calendar, also before there was one.
enum CivilDate {
    static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && year % 100 != 0 || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Counts from 1 March of the year 0, so that the day that is sometimes there comes last; 400 years have 146,097
    /// days.
    static func daysSince1970(year: Int, month: Int, day: Int) -> Int64 {
        let year = month > 2 ? year : year - 1
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return Int64(era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468)
    }

    /// Year, month and day of a day counted from 1970-01-01.
    static func date(daysSince1970 days: Int64) -> (year: Int, month: Int, day: Int) {
        let shifted = Int(days) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

extension WallTime {
    /// `2026-01-31T09:15:00.250Z`: RFC 3339 with milliseconds, in UTC. Years stay between 0 and 9999.
    package var rfc3339: String {
        let bounds: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999
        let clamped = min(max(milliseconds, bounds.lowerBound), bounds.upperBound)
        let (days, rest) = clamped.flooredDivision(by: 86_400_000)
        let date = CivilDate.date(daysSince1970: days)
        let seconds = rest / 1000
        return [
            date.year.padded(4), "-", date.month.padded(2), "-", date.day.padded(2), "T",
            Int(seconds / 3600).padded(2), ":", Int(seconds / 60 % 60).padded(2), ":", Int(seconds % 60).padded(2), ".",
            Int(rest % 1000).padded(3), "Z",
        ].joined()
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension Int {
    fileprivate func padded(_ width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
    }
}
