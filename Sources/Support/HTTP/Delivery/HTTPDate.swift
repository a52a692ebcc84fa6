package import Instrument
internal import InstrumentText

/// Dates of HTTP (RFC 9110 section 5.6.7): the one in use and the two obsolete ones, which servers may still send.
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let longDays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

    /// The time that `text` means; nil if `text` has none of the three forms. `now` decides the century of two-digit
    /// years.
    package static func parse(_ text: String, now: WallTime) -> WallTime? {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        switch words.count {
        case 6: return fixed(words)
        case 4: return dashed(words, now: now)
        case 5: return asctime(words)
        default: return nil
        }
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    private static func fixed(_ words: [Substring]) -> WallTime? {
        guard words[0].hasSuffix(","), days.contains(String(words[0].dropLast())), words[5] == "GMT",
            let day = number(words[1], digits: 2), let year = number(words[3], digits: 4)
        else { return nil }
        return time(year, words[2], day, words[4])
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    private static func dashed(_ words: [Substring], now: WallTime) -> WallTime? {
        let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
        guard words[0].hasSuffix(","), longDays.contains(String(words[0].dropLast())), words[3] == "GMT",
            date.count == 3, let day = number(date[0], digits: 2), let short = number(date[2], digits: 2)
        else { return nil }
        let thisYear = year(of: now)
        var year = thisYear / 100 * 100 + short
        // More than 50 years ahead is the same year of the century before.
        if year > thisYear + 50 { year -= 100 }
        return time(year, date[1], day, words[2])
    }

    /// `Sun Nov  6 08:49:37 1994`
    private static func asctime(_ words: [Substring]) -> WallTime? {
        guard days.contains(String(words[0])), let day = number(words[2], digits: 1) ?? number(words[2], digits: 2),
            let year = number(words[4], digits: 4)
        else { return nil }
        return time(year, words[1], day, words[3])
    }

    private static func time(_ year: Int, _ month: Substring, _ day: Int, _ clock: Substring) -> WallTime? {
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
        guard let month = months.firstIndex(of: String(month)), parts.count == 3,
            let hour = number(parts[0], digits: 2), let minute = number(parts[1], digits: 2),
            let second = number(parts[2], digits: 2),
            // 60 is a leap second.
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let date = CalendarDate(year: year, month: month + 1, day: day)
        let seconds = (hour * 60 + minute) * 60 + second
        return date.isValid ? WallTime(date, milliseconds: Int64(seconds * 1000)) : nil
    }

    private static func number(_ text: Substring, digits: Int) -> Int? {
        text.utf8.count == digits && text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil
    }

    /// The year, between 1970 and 9999 however wrong the clock.
    private static func year(of time: WallTime) -> Int { min(max(1970, time.date.year), 9999) }
}
