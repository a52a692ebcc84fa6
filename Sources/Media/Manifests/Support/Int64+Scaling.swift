internal import Instrument

extension Int64 {
    /// `self * multiplier / divisor` rounded down, exact in between and saturating; 0 for a divisor that is not
    /// positive.
    package func scaled(by multiplier: Int64, over divisor: Int64) -> Int64 {
        guard divisor > 0 else { return 0 }
        let isNegative = (self < 0) != (multiplier < 0)
        let product = magnitude.multipliedFullWidth(by: multiplier.magnitude)
        // The quotient exceeds the range in either direction.
        guard product.high < divisor.magnitude else { return isNegative ? .min : .max }
        let (quotient, remainder) = divisor.magnitude.dividingFullWidth(product)
        guard let whole = Int64(exactly: quotient) else { return isNegative ? .min : .max }
        return isNegative ? (-whole).saturatingSubtract(remainder > 0 ? 1 : 0) : whole
    }

    /// Nanoseconds rounded to the nearest whole second, as segment durations are compared with the target duration
    /// (RFC 8216bis section 4.4.3.1).
    package var roundedToSeconds: Int64 { saturatingAdd(500_000_000) / 1_000_000_000 * 1_000_000_000 }

    /// Nanoseconds of `self` ticks of a `timescale`, rounded down.
    package func nanoseconds(timescale: Int64) -> Int64 { scaled(by: 1_000_000_000, over: timescale) }

    /// Nanoseconds of a number of seconds, rounded to the nearest and saturating; nil unless it is finite.
    init?(nanosecondsOf seconds: Double) {
        guard seconds.isFinite else { return nil }
        self = Int64(exactly: (seconds * 1e9).rounded()) ?? (seconds < 0 ? .min : .max)
    }
}
