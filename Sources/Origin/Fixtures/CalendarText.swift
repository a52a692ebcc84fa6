internal import Instrument

extension WallTime {
    /// As playlists and manifests have it (RFC 3339): `2026-01-01T00:00:00.000Z`.
    ///
    /// The calendar by Howard Hinnant's `civil_from_days` ("chrono-Compatible Low-Level Date Algorithms").
    var calendarText: String {
        let (days, ms) = Self.divided(milliseconds, by: 86_400_000)
        let shifted = days &+ 719_468
        let (era, day) = Self.divided(shifted, by: 146_097)
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let part = (5 * dayOfYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        let date = dayOfYear - (153 * part + 2) / 5 + 1
        let fullYear = year + era * 400 + (month <= 2 ? 1 : 0)
        let time = [ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        let calendar = [Self.padded(fullYear, 4), Self.padded(month, 2), Self.padded(date, 2)].joined(separator: "-")
        return "\(calendar)T\(time).\(Self.padded(ms % 1_000, 3))Z"
    }

    /// Rounded down, unlike `/`.
    private static func divided(_ value: Int64, by divisor: Int64) -> (quotient: Int64, rest: Int64) {
        let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
