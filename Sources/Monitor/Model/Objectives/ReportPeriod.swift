package import Instrument
internal import InstrumentText

/// The days that a report is about, in UTC.
package struct ReportPeriod: Hashable, Sendable {
    /// The days since 1970; the last one may not be over.
    package let days: ClosedRange<Int>
    /// Whether the days are a month of the calendar.
    package let isMonth: Bool

    /// The days of a report that names no month.
    package static let usualDays = 30

    /// The latest 30 days, today included.
    package init(until now: WallTime) {
        let today = Int(clamping: now.daysSince1970)
        (days, isMonth) = (today - Self.usualDays + 1...today, false)
    }

    /// A month of the calendar: `2026-11`; nil for another form.
    package init?(month text: some StringProtocol) {
        var cursor = TextCursor(String(text) + "-01")
        guard let first = cursor.date(), cursor.isAtEnd, first.year > 0 else { return nil }
        let next =
            first.month == 12
            ? CalendarDate(year: first.year + 1, month: 1, day: 1)
            : CalendarDate(year: first.year, month: first.month + 1, day: 1)
        (days, isMonth) = (Int(first.daysSince1970)...Int(next.daysSince1970) - 1, true)
    }

    /// From the first midnight to the one behind the last day.
    package var span: Range<WallTime> {
        WallTime(
            milliseconds: Int64(days.lowerBound) * 86_400_000
        )..<WallTime(milliseconds: Int64(days.upperBound + 1) * 86_400_000)
    }

    /// `2026-11`, or `2026-10-28 to 2026-11-26`.
    package var title: String {
        let (first, last) = (Self.name(of: days.lowerBound), Self.name(of: days.upperBound))
        return isMonth ? String(first.prefix(7)) : "\(first) to \(last)"
    }

    /// `2026-11-26`.
    package static func name(of day: Int) -> String {
        String(WallTime(milliseconds: Int64(day) * 86_400_000).rfc3339.prefix(10))
    }
}
