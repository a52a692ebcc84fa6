/// The limits that a live service declares for its players (`ServiceDescription`, ISO/IEC 23009-1 annex K). Latencies
/// are nanoseconds.
package struct ServiceLimits: Hashable, Sendable {
    /// The latency that the service asks for (`Latency@target`); nil if not declared.
    package var targetLatency: Int64?
    /// The smallest latency (`Latency@min`); nil if not declared.
    package var minimumLatency: Int64?
    /// The largest latency (`Latency@max`); nil if not declared.
    package var maximumLatency: Int64?
    /// The slowest rate of playback for a larger latency (`PlaybackRate@min`), at most 1; nil if not declared.
    package var minimumRate: Double?
    /// The fastest rate of playback for a smaller latency (`PlaybackRate@max`), at least 1; nil if not declared.
    package var maximumRate: Double?

    /// Creates limits of which none is declared.
    package init() {}

    /// Returns the nearest latency inside the limits.
    package func limited(_ latency: Int64) -> Int64 {
        min(max(latency, minimumLatency ?? latency), maximumLatency ?? .max)
    }
}
