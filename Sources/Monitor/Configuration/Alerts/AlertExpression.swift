/// The condition of an alert: `rebuffer_ratio > 2% over 5m`, several joined by `and`.
package struct AlertExpression: Hashable, Sendable {
    /// A comparison of a metric with a number.
    package struct Condition: Hashable, Sendable {
        /// The metric.
        package var metric: AlertMetric
        /// Labels that the metric must have, as in `check_failed{rule="stale"}`.
        package var labels: [String: String]
        /// The comparison.
        package var comparison: Comparison
        /// The number, in the metric's unit.
        package var threshold: Double
        /// The time over which the metric is taken; nil for its latest value.
        package var window: Duration?
    }

    /// A comparison.
    package enum Comparison: String, Hashable, Sendable, CaseIterable {
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
        package func holds(_ value: Double, _ threshold: Double) -> Bool {
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
    package var conditions: [Condition]
    /// The text that was read.
    package let text: String
}

/// A metric that an alert may compare. The raw value is the name in a condition.
package enum AlertMetric: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    case up
    case rebufferRatio = "rebuffer_ratio"
    case rebuffers
    case rebufferSeconds = "rebuffer_seconds"
    case playingSeconds = "playing_seconds"
    case startupSeconds = "startup_seconds"
    case bitrate
    case latencySeconds = "latency_seconds"
    case bufferSeconds = "buffer_seconds"
    case errors
    case errorRatio = "error_ratio"
    case requests
    case requestSeconds = "request_seconds"
    case checkFailed = "check_failed"
    case playlistAgeSeconds = "playlist_age_seconds"
    case loudness = "loudness_lufs"

    /// The unit of a metric, which says how its threshold is written.
    package enum Unit: Hashable, Sendable {
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

    /// The unit.
    package var unit: Unit {
        switch self {
        case .up, .rebuffers, .errors, .requests, .checkFailed: .count
        case .rebufferRatio, .errorRatio: .ratio
        case .rebufferSeconds, .playingSeconds, .startupSeconds, .latencySeconds, .bufferSeconds, .requestSeconds,
            .playlistAgeSeconds:
            .seconds
        case .bitrate: .bitsPerSecond
        case .loudness: .loudness
        }
    }

    /// The name in a condition.
    package var description: String { rawValue }
}
