/// A duration in the format of ISO 8601: `PT12.5S`, `P3Y`, `P4W`.
///
/// The spelling is kept, because servers compare durations as texts, and because a month has no fixed number of
/// seconds.
///
/// Source: xAPI 1.0.3, Data 4.6 and 2.3.1.b8.
public struct ISODuration: Hashable, Sendable, CustomStringConvertible {
    /// The duration's text.
    public let description: String

    /// Creates a duration; nil if the text is not in the format of ISO 8601.
    package init?(_ text: String) {
        guard DurationFormat.isValid(text) else { return nil }
        description = text
    }

    /// Creates a duration in seconds, rounded to 0.01 s, the precision of the specification. Negative durations
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
