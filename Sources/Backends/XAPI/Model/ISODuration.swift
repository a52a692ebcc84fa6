/// A duration as ISO 8601 writes it: `PT12.5S`, `P3Y`, `P4W`.
///
/// Kept as it is spelled, because servers compare durations as texts, and because a month is no number of seconds.
///
/// Source: xAPI 1.0.3, Data 4.6 and 2.3.1.b8.
public struct ISODuration: Hashable, Sendable, CustomStringConvertible {
    /// The duration's text.
    public let description: String

    /// Checks a text; nil if it is no such duration.
    public init?(_ text: String) {
        guard DurationFormat.isValid(text) else { return nil }
        description = text
    }

    /// Writes a duration as seconds, rounded to 0.01 s, the precision that the specification keeps. Negative ones
    /// become zero.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = max(.zero, duration).components
        var hundredths = (attoseconds + 5_000_000_000_000_000) / 10_000_000_000_000_000
        let whole = hundredths == 100 ? seconds.addingReportingOverflow(1).partialValue : seconds
        hundredths %= 100
        let digits = hundredths < 10 ? "0\(hundredths)" : hundredths % 10 == 0 ? "\(hundredths / 10)" : "\(hundredths)"
        description = hundredths == 0 ? "PT\(whole)S" : "PT\(whole).\(digits)S"
    }
}
