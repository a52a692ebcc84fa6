internal import Instrument

/// Times of AVFoundation as durations.
enum MediaTime {
    /// Beyond 292 years the nanoseconds of a duration end.
    private static let longest = 9e9

    /// The duration; nil for times that are not finite, negative or out of range, as those of live streams are.
    static func duration(_ seconds: Double) -> Duration? {
        guard seconds.isFinite, seconds >= 0, seconds < longest else { return nil }
        return .seconds(seconds)
    }

    /// The position in seconds; nil for times that are not finite or out of range. Positions before zero exist in live
    /// windows.
    static func position(_ seconds: Double) -> Double? {
        seconds.isFinite && abs(seconds) < longest ? seconds : nil
    }

    /// A positive number as a whole number; nil for what AVFoundation does not know (negative, zero, not finite).
    static func known(_ value: Double?) -> Int? {
        guard let value, value.isFinite, value >= 0.5, value < 9e15 else { return nil }
        return Int(value.rounded())
    }
}
