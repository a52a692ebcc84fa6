internal import Instrument
internal import InstrumentText

/// Times as VAST and VMAP write them.
enum AdTime {
    /// The nanoseconds of `HH:MM:SS` or `HH:MM:SS.mmm`; nil if the text has another form. Hours may have more digits.
    static func nanoseconds(_ text: some StringProtocol) -> Int64? {
        var cursor = TextCursor(text)
        guard let hourDigits = cursor.digits(), hourDigits.count <= 6, cursor.take(":"),
            let minutes = cursor.number(digits: 2),
            cursor.take(":"), let seconds = cursor.number(digits: 2), minutes < 60, seconds < 60
        else { return nil }
        var milliseconds = 0
        if cursor.take(".") {
            guard let fraction = cursor.fraction(places: 3) else { return nil }
            milliseconds = fraction
        }
        guard cursor.isAtEnd else { return nil }
        let total = Int64((TextCursor.number(hourDigits) * 60 + minutes) * 60 + seconds) * 1_000 + Int64(milliseconds)
        return total.saturatingMultiply(1_000_000)
    }

    /// `HH:MM:SS.mmm`, rounded down to milliseconds; negative times are 0.
    static func text(_ nanoseconds: Int64) -> String {
        let milliseconds = max(0, nanoseconds) / 1_000_000
        let clock = [milliseconds / 3_600_000, milliseconds / 60_000 % 60, milliseconds / 1_000 % 60]
        return clock.map { $0.padded(2) }.joined(separator: ":") + "." + (milliseconds % 1_000).padded(3)
    }
}

/// An offset into an ad or into content: a time or a share of the duration.
public enum AdOffset: Hashable, Sendable {
    /// Nanoseconds from the start.
    case time(Int64)
    /// A share of the duration, in percent from 0 to 100.
    case percent(Double)

    /// Reads `HH:MM:SS`, `HH:MM:SS.mmm` or `n%`; nil if the text has another form or a share above 100.
    init?(_ text: some StringProtocol) {
        if text.hasSuffix("%") {
            let digits = text.dropLast()
            guard digits.utf8.count <= 20, digits.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }),
                let value = Double(String(digits)), 0...100 ~= value
            else { return nil }
            self = .percent(value)
        } else {
            guard let value = AdTime.nanoseconds(text) else { return nil }
            self = .time(value)
        }
    }

    /// The offset in nanoseconds; nil for a share of an unknown duration.
    public func nanoseconds(of duration: Int64?) -> Int64? {
        switch self {
        case .time(let value): value
        case .percent(let share): duration.map { Int64((Double($0) * share / 100).rounded()) }
        }
    }

    /// The offset as VAST writes it.
    package var text: String {
        switch self {
        case .time(let value): AdTime.text(value)
        case .percent(let share): share == share.rounded() ? "\(Int(share))%" : "\(share)%"
        }
    }
}
