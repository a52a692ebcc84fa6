extension Int64 {
    /// Nanoseconds of `self` ticks of a timescale, rounded to the nearest, halves away from zero; nil beyond 146 years,
    /// or for a timescale that is not positive.
    func roundedNanoseconds(timescale: Int64) -> Int64? {
        guard timescale > 0 else { return nil }
        let product = magnitude.multipliedFullWidth(by: 1_000_000_000)
        guard product.high < timescale.magnitude else { return nil }
        let (quotient, remainder) = timescale.magnitude.dividingFullWidth(product)
        guard quotient <= 1 << 62 else { return nil }
        let rounded = Int64(quotient) + (remainder >= timescale.magnitude - remainder ? 1 : 0)
        return self < 0 ? -rounded : rounded
    }
}
