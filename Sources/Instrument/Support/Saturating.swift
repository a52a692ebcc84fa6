/// Arithmetic that stops at the ends of the range instead of trapping.
extension FixedWidthInteger {
    /// The sum, or the end of the range that the sum passes.
    @inlinable
    package func saturatingAdd(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the end of the range that the difference passes.
    @inlinable
    package func saturatingSubtract(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (Self.isSigned && other < 0 ? .max : .min) : difference
    }

    /// The product, or the end of the range that the product passes.
    @inlinable
    package func saturatingMultiply(_ other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
