/// The condition of an alert: `rebuffer_ratio > 2% over 5m`, several joined by `and`.
public struct AlertExpression: Hashable, Sendable {
    /// A comparison of a metric with a number.
    public struct Condition: Hashable, Sendable {
        /// The metric.
        public var metric: AlertMetric
        /// Labels that the metric must have, as in `check_failed{rule="stale"}`.
        public var labels: [String: String]
        /// The comparison.
        public var comparison: Comparison
        /// The number, in the metric's unit.
        public var threshold: Double
        /// The time over which the metric is taken; nil for its latest value.
        public var window: Duration?
    }

    /// A comparison.
    public enum Comparison: String, Hashable, Sendable, CaseIterable {
        /// Larger.
        case above = ">"
        /// Larger or equal.
        case atLeast = ">="
        /// Smaller.
        case below = "<"
        /// Smaller or equal.
        case atMost = "<="
        /// Equal.
        case equal = "=="
        /// Not equal.
        case notEqual = "!="

        /// Whether a value fulfils the comparison.
        public func holds(_ value: Double, _ threshold: Double) -> Bool {
            switch self {
            case .above: value > threshold
            case .atLeast: value >= threshold
            case .below: value < threshold
            case .atMost: value <= threshold
            case .equal: value == threshold
            case .notEqual: value != threshold
            }
        }
    }

    /// The conditions, which must all hold; at least one.
    public var conditions: [Condition]
    /// The text that was read.
    public let text: String
}

/// A metric that an alert may compare.
public struct AlertMetric: Hashable, Sendable, CustomStringConvertible {
    /// The unit of a metric, which says how its threshold is written.
    public enum Unit: Hashable, Sendable {
        /// A share: `2%` or `0.02`.
        case ratio
        /// A time: `5s`, `1m`, or a number of seconds.
        case seconds
        /// Bits per second: `800k`, `2.5M`.
        case bitsPerSecond
        /// Loudness in LUFS: `-30`.
        case loudness
        /// A number of things.
        case count
    }

    /// The name.
    public let description: String
    /// The unit.
    public let unit: Unit

    /// All metrics that an alert may compare.
    public static let known: [String: AlertMetric] = Dictionary(
        uniqueKeysWithValues: [
            ("up", .count), ("rebuffer_ratio", .ratio), ("rebuffers", .count), ("rebuffer_seconds", .seconds),
            ("playing_seconds", .seconds), ("startup_seconds", .seconds), ("bitrate", .bitsPerSecond),
            ("latency_seconds", .seconds), ("buffer_seconds", .seconds), ("errors", .count), ("error_ratio", .ratio),
            ("requests", .count), ("request_seconds", .seconds), ("check_failed", .count),
            ("playlist_age_seconds", .seconds), ("loudness_lufs", .loudness),
        ].map { (name: String, unit: Unit) in (name, AlertMetric(description: name, unit: unit)) }
    )
}
