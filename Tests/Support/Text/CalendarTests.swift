import CostMeasurement
import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentText

@Suite("Calendar")
struct CalendarTests {
    /// A second computation: counts day by day, with the rule of leap years alone.
    private struct Counter {
        var date = CalendarDate(year: 0, month: 1, day: 1)

        private var length: Int {
            let isLeap = date.year.isMultiple(of: 400) || date.year.isMultiple(of: 4) && !date.year.isMultiple(of: 100)
            return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][date.month - 1]
        }

        mutating func next() {
            date.day += 1
            if date.day > length { (date.month, date.day) = (date.month + 1, 1) }
            if date.month > 12 { (date.year, date.month) = (date.year + 1, 1) }
        }
    }

    @Test("Every day from the year 0 to 2400 has the date and the number that counting gives")
    func counting() {
        var counter = Counter()
        var wrong: [CalendarDate] = []
        // 0000-01-01 is 719,528 days before 1970-01-01.
        for day in Int64(-719_528)..<157_000 {
            let date = CalendarDate(daysSince1970: day)
            if date != counter.date || date.daysSince1970 != day || !date.isValid { wrong.append(counter.date) }
            counter.next()
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(3))")
        #expect(counter.date.year == 2399)
    }

    @Test(
        "A date is invalid when its month or its day does not exist",
        arguments: [
            (2021, 2, 29), (1900, 2, 29), (2024, 2, 30), (2024, 4, 31), (2024, 0, 1), (2024, 13, 1), (2024, 1, 0),
        ]
    )
    func invalid(year: Int, month: Int, day: Int) {
        #expect(!CalendarDate(year: year, month: month, day: day).isValid)
    }

    @Test("A day beyond the end of its month counts on into the next month")
    func overflow() {
        let date = CalendarDate(year: 2025, month: 2, day: 30)
        #expect(CalendarDate(daysSince1970: date.daysSince1970) == CalendarDate(year: 2025, month: 3, day: 2))
    }

    @Test(
        "A date does not trap when its number is at an end of the range",
        arguments: [Int64.min, .min + 1, .max - 1, .max]
    )
    func far(days: Int64) { #expect(CalendarDate(daysSince1970: days).isValid) }

    @Test(
        "A time is written as RFC 3339, in the nearest year with four digits",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_825_600_001, "2000-02-29T12:00:00.001Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (.max, "9999-12-31T23:59:59.999Z"), (.min, "0000-01-01T00:00:00.000Z"),
            (-62_162_121_600_000, "0000-02-29T00:00:00.000Z"), (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        ] as [(Int64, String)]
    )
    func writing(milliseconds: Int64, text: String) {
        let time = WallTime(milliseconds: milliseconds)
        #expect(time.rfc3339 == text)
        if milliseconds != .max, milliseconds != .min { #expect(time.timeOfDay == text.dropFirst(11).dropLast()) }
    }

    @Test("A written time is read back", arguments: UInt64(1)...50)
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let time = WallTime(milliseconds: .random(in: -62_167_219_200_000...253_402_300_799_999, using: &random))
        let (date, clock) = try #require(Self.parts(of: time.rfc3339))
        #expect(WallTime(date, milliseconds: clock) == time)
    }

    private static func parts(of text: String) -> (CalendarDate, Int64)? {
        var cursor = TextCursor(text)
        guard let date = cursor.date(), cursor.take("T"), let hour = cursor.number(digits: 2), cursor.take(":"),
            let minute = cursor.number(digits: 2), cursor.take(":"), let second = cursor.number(digits: 2),
            cursor.take("."), let fraction = cursor.fraction(places: 3), cursor.take("Z"), cursor.isAtEnd
        else { return nil }
        return (date, Int64(((hour * 60 + minute) * 60 + second) * 1000 + fraction))
    }
}
