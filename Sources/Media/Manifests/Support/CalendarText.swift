package import Instrument
internal import InstrumentText

/// Dates, times and durations of ISO 8601 as RFC 8216 and XML Schema (`xs:dateTime`, `xs:duration`) use it.
package enum CalendarText {
    /// The wall time of `2026-11-21T10:00:00.000+01:00`, rounded down to milliseconds; without a zone it is UTC.
    package static func wallTime(_ text: some StringProtocol) -> WallTime? {
        var cursor = TextCursor(text)
        guard let date = cursor.date(), cursor.take(anyOf: "Tt ") != nil,
            let hour = cursor.number(digits: 2), cursor.take(":"), let minute = cursor.number(digits: 2)
        else { return nil }
        var milliseconds = 0
        if cursor.take(":") {
            // A leap second counts as the following second (POSIX time).
            guard let second = cursor.number(digits: 2), second <= 60 else { return nil }
            milliseconds = second * 1_000
            if cursor.take(anyOf: ".,") != nil {
                guard let fraction = cursor.fraction(places: 3) else { return nil }
                milliseconds += fraction
            }
        }
        guard let zone = cursor.zone(), cursor.isAtEnd, hour <= 24, minute < 60 else { return nil }
        return WallTime(date, milliseconds: Int64((hour * 60 + minute - zone) * 60_000 + milliseconds))
    }

    /// Whether the month of a date has its day; true for a text that is no date.
    package static func hasRealDay(_ text: some StringProtocol) -> Bool {
        var cursor = TextCursor(text)
        return cursor.date()?.isValid ?? true
    }

    /// Returns the nanoseconds of `P1DT2H3M4.5S`. Years count 365 days and months 30, because an MPD has no date to
    /// count from.
    package static func nanoseconds(duration text: some StringProtocol) -> Int64? {
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
}

extension TextCursor {
    /// Reads an optional zone: minutes east of UTC.
    fileprivate mutating func zone() -> Int? {
        if isAtEnd || take(anyOf: "Zz") != nil { return 0 }
        guard let sign = take(anyOf: "+-"), let hours = number(digits: 2), hours <= 24 else { return nil }
        var minutes = 0
        if !isAtEnd {
            _ = take(":")
            guard let value = number(digits: 2), value < 60 else { return nil }
            minutes = value
        }
        return (sign == "-" ? -1 : 1) * (hours * 60 + minutes)
    }
}
