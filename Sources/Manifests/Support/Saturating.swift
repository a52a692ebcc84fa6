extension Int64 {
    /// The sum, or the end of the range that it passes.
    func saturatingAdd(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the end of the range that it passes.
    func saturatingSubtract(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// The product, or the end of the range that it passes.
    func saturatingMultiply(_ other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }

    /// `self * multiplier / divisor` rounded down, exact in between and saturating; 0 for a divisor that is not
    /// positive.
    func scaled(by multiplier: Int64, over divisor: Int64) -> Int64 {
        guard divisor > 0 else { return 0 }
        let isNegative = (self < 0) != (multiplier < 0)
        let product = magnitude.multipliedFullWidth(by: multiplier.magnitude)
        // The quotient would not fit: beyond the range either way.
        guard product.high < divisor.magnitude else { return isNegative ? .min : .max }
        let (quotient, remainder) = divisor.magnitude.dividingFullWidth(product)
        guard let whole = Int64(exactly: quotient) else { return isNegative ? .min : .max }
        return isNegative ? (-whole).saturatingSubtract(remainder > 0 ? 1 : 0) : whole
    }

    /// Nanoseconds of `self` ticks of a `timescale`, rounded down.
    func nanoseconds(timescale: Int64) -> Int64 { scaled(by: 1_000_000_000, over: timescale) }

    /// Nanoseconds of a number of seconds, rounded to the nearest and saturating; nil unless it is finite.
    init?(nanosecondsOf seconds: Double) {
        guard seconds.isFinite else { return nil }
        self = Int64(exactly: (seconds * 1e9).rounded()) ?? (seconds < 0 ? .min : .max)
    }
}
