internal import InstrumentText

/// Durations in the format of ISO 8601:2004, section 4.4.3.2: `PT4H35M59.14S`, `P3Y`, `P4W`.
///
/// Weeks are not combined with other units, only the last number may have a fraction, and the alternative form
/// that looks like a date is refused.
///
/// Source: xAPI 1.0.3, Data 4.6; XAPI-00124.
enum DurationFormat {
    static func isValid(_ text: String) -> Bool {
        var cursor = TextCursor(text)
        guard cursor.take("P") else { return false }
        var parts = Parts(cursor: cursor)
        if parts.take("W") { return parts.isAtEnd }
        let hasDate = parts.takeAny(of: "YMD")
        if !parts.takeTimeMark() { return hasDate && parts.isAtEnd }
        return parts.takeAny(of: "HMS") && parts.isAtEnd
    }

    /// Numbers with their letters, in order.
    private struct Parts {
        var cursor: TextCursor
        private var hasFraction = false

        init(cursor: TextCursor) { self.cursor = cursor }

        var isAtEnd: Bool { cursor.isAtEnd }

        mutating func takeTimeMark() -> Bool { cursor.take("T") }

        /// Reads the numbers that are present; true if there is at least one.
        mutating func takeAny(of letters: String) -> Bool {
            var hasAny = false
            for letter in letters where take(letter) { hasAny = true }
            return hasAny
        }

        mutating func take(_ letter: Character) -> Bool {
            var ahead = cursor
            guard !hasFraction, ahead.digits() != nil else { return false }
            let isFraction = ahead.take(anyOf: ".,") != nil
            if isFraction, ahead.digits() == nil { return false }
            guard ahead.take(letter) else { return false }
            hasFraction = isFraction
            cursor = ahead
            return true
        }
    }
}
