internal import Instrument

/// Dates, times and durations of ISO 8601 as RFC 8216 and XML Schema (`xs:dateTime`, `xs:duration`) use it.
enum CalendarText {
    /// The wall time of `2026-11-21T10:00:00.000+01:00`, rounded down to milliseconds; without a zone it is UTC.
    static func wallTime(_ text: some StringProtocol) -> WallTime? {
        var scanner = TextScanner(text)
        guard let year = scanner.number(4), scanner.take("-"), let month = scanner.number(2), scanner.take("-"),
            let day = scanner.number(2), scanner.take("T") || scanner.take("t") || scanner.take(" "),
            let hour = scanner.number(2), scanner.take(":"), let minute = scanner.number(2)
        else { return nil }
        var milliseconds: Int64 = 0
        if scanner.take(":") {
            // A leap second counts as the one after it (POSIX time).
            guard let second = scanner.number(2), second <= 60 else { return nil }
            milliseconds = second * 1_000
            if scanner.take(".") || scanner.take(",") {
                guard let fraction = scanner.fraction() else { return nil }
                milliseconds += fraction / 1_000_000
            }
        }
        guard let zone = scanner.zone(), scanner.isAtEnd, 1...12 ~= month, 1...31 ~= day, hour <= 24, minute < 60
        else { return nil }
        let minutes = (days(year, month, day) * 24 + hour) * 60 + minute - zone
        return WallTime(milliseconds: minutes * 60_000 + milliseconds)
    }

    /// Nanoseconds of `P1DT2H3M4.5S`. Years count 365 days and months 30, since an MPD has no date to count them from.
    static func nanoseconds(duration text: some StringProtocol) -> Int64? {
        guard text.hasPrefix("P"), text.utf8.count > 1 else { return nil }
        var (total, isTime, number) = (Int64(0), false, "")
        for character in text.dropFirst() {
            if character.isASCII, character.isNumber || character == "." {
                number.append(character)
            } else if character == "T", !isTime, number.isEmpty {
                isTime = true
            } else {
                guard let unit = seconds(in: character, isTime), let value = DecimalText.nanoseconds(number) else {
                    return nil
                }
                total = total.saturatingAdd(value.saturatingMultiply(unit))
                number = ""
            }
        }
        return number.isEmpty ? total : nil
    }

    private static func seconds(in unit: Character, _ isTime: Bool) -> Int64? {
        switch (unit, isTime) {
        case ("Y", false): 365 * 86_400
        case ("M", false): 30 * 86_400
        case ("W", false): 7 * 86_400
        case ("D", false): 86_400
        case ("H", true): 3_600
        case ("M", true): 60
        case ("S", true): 1
        default: nil
        }
    }

    /// Days since 1970-01-01 in the Gregorian calendar (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms",
    /// `days_from_civil`).
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

/// Goes through a text byte by byte and never past its end.
private struct TextScanner {
    private var rest: ArraySlice<UInt8>

    init(_ text: some StringProtocol) { rest = Array(text.utf8)[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == character.value else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func number(_ digits: Int) -> Int64? {
        let head = rest.prefix(digits)
        guard head.count == digits, head.allSatisfy(DecimalText.isDigit) else { return nil }
        rest = rest.dropFirst(digits)
        return head.reduce(0) { $0 * 10 + Int64($1 & 15) }
    }

    /// Nanoseconds of the digits after a point.
    mutating func fraction() -> Int64? {
        let digits = rest.prefix(while: DecimalText.isDigit)
        guard !digits.isEmpty else { return nil }
        rest = rest.dropFirst(digits.count)
        let nine = Array(digits.prefix(9)) + [UInt8](repeating: 0, count: max(0, 9 - digits.count))
        return nine.reduce(0) { $0 * 10 + Int64($1 & 15) }
    }

    /// Minutes east of UTC.
    mutating func zone() -> Int64? {
        if isAtEnd || take("Z") || take("z") { return 0 }
        let isWest = take("-")
        guard isWest || take("+"), let hours = number(2), hours <= 24 else { return nil }
        var minutes: Int64 = 0
        if !isAtEnd {
            _ = take(":")
            guard let value = number(2), value < 60 else { return nil }
            minutes = value
        }
        return (isWest ? -1 : 1) * (hours * 60 + minutes)
    }
}
