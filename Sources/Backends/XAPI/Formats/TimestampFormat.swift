internal import Instrument
internal import InstrumentText

/// Points in time as the two versions write them.
///
/// 1.0.3 wants ISO 8601, extended or basic (XAPI-00123); that there is a zone it only recommends (Data 4.5.s1.b4), and
/// without one UTC is taken. 2.0 wants RFC 3339 (IEEE 9274.1.1, 4.2.7), which leaves a space for the `T` but has no
/// basic form, always a zone, and none without minutes. Both refuse `-00`, `-0000` and `-00:00`, and both are held to
/// the calendar. Week dates and days of the year are not read.
///
/// Source: xAPI 1.0.3, Data 4.5; RFC 3339, section 5.6.
enum TimestampFormat {
    static func isValid(_ text: String, version: XAPIVersion) -> Bool { parse(text, version: version) != nil }

    /// Whether a text has the form that nearly all have, `2026-01-31T09:15:00.250Z`, which both versions accept.
    ///
    /// False for other forms, for leap seconds, and for days that not every month has: ``isValid(_:version:)`` decides.
    static func isCommon(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let pattern: StaticString = "dddd-dd-ddTdd:dd:dd"
        let length = pattern.utf8CodeUnitCount
        guard bytes.count > length, bytes.last == UInt8(ascii: "Z") else { return false }
        for place in 0..<length {
            let expected = pattern.utf8Start[place]
            guard expected == UInt8(ascii: "d") ? bytes[place].isDigit : bytes[place] == expected else { return false }
        }
        func number(_ place: Int) -> Int { Int(bytes[place] & 15) * 10 + Int(bytes[place + 1] & 15) }
        guard (1...12).contains(number(5)), (1...28).contains(number(8)), number(11) < 24, number(14) < 60,
            number(17) < 60, number(0) + number(2) > 0
        else { return false }
        return isFraction(UnsafeBufferPointer(rebasing: bytes[length..<bytes.count - 1]))
    }

    /// Nothing, or a point and one to nine digits.
    private static func isFraction(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = bytes.first else { return true }
        return first == UInt8(ascii: ".") && (2...10).contains(bytes.count) && bytes.dropFirst().allSatisfy(\.isDigit)
    }

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
            guard let date = date(), cursor.take(anyOf: isStrict ? "Tt " : "T") != nil, let clock = clock(),
                let offset = offset(), cursor.isAtEnd
            else { return nil }
            return WallTime(date, milliseconds: clock - offset * 60_000)
        }

        private mutating func date() -> CalendarDate? {
            guard let year = cursor.number(digits: 4) else { return nil }
            isBasic = !cursor.take("-")
            if isBasic, isStrict { return nil }
            guard let month = cursor.number(digits: 2), isBasic || cursor.take("-"), let day = cursor.number(digits: 2)
            else { return nil }
            let date = CalendarDate(year: year, month: month, day: day)
            return date.isValid ? date : nil
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
            guard let milliseconds = cursor.fraction(places: 3) else { return nil }
            return Int64(second * 1000 + milliseconds)
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
