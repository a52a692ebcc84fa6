package import Instrument

extension WallTime {
    /// Reads a time as RFC 3339 (section 5.6) writes it: `2026-11-21T10:00:00.5Z`, `2026-11-21T11:00:00+01:00`. Rounds
    /// down to milliseconds; a leap second counts as the following second. Nil for any other text.
    package init?(rfc3339 text: some StringProtocol) {
        var cursor = TextCursor(text)
        guard let date = cursor.date(), date.isValid, cursor.take(anyOf: "Tt") != nil,
            let time = cursor.timeOfDay(), let offset = cursor.offset(), cursor.isAtEnd
        else { return nil }
        self.init(date, milliseconds: time - offset)
    }
}

extension TextCursor {
    /// Takes `10:00:00` or `10:00:00.5`; returns the milliseconds since midnight.
    ///
    /// - Parameter requiresSeconds: whether `10:00` is no time.
    package mutating func timeOfDay(requiresSeconds: Bool = true) -> Int64? {
        guard let hour = number(digits: 2), hour < 24, take(":"), let minute = number(digits: 2), minute < 60 else {
            return nil
        }
        let milliseconds = Int64(hour * 60 + minute) * 60_000
        guard take(":") else { return requiresSeconds ? nil : milliseconds }
        guard let second = number(digits: 2), second <= 60 else { return nil }
        guard take(".") else { return milliseconds + Int64(second) * 1000 }
        guard let fraction = fraction(places: 3) else { return nil }
        return milliseconds + Int64(second * 1000 + fraction)
    }

    /// Takes `Z`, or an offset such as `+01:00`; returns the milliseconds east of UTC.
    package mutating func offset() -> Int64? {
        if take(anyOf: "Zz") != nil { return 0 }
        guard let sign = take(anyOf: "+-"), let hours = number(digits: 2), hours < 24, take(":"),
            let minutes = number(digits: 2), minutes < 60
        else { return nil }
        let offset = Int64(hours * 60 + minutes) * 60_000
        return sign == "-" ? -offset : offset
    }
}
