/// What a player does where too many pictures are dropped: it leaves the rung for a time.
package struct DroppedFramePolicy: Hashable, Sendable {
    /// The share of dropped pictures among those that were decoded between two looks, from 0 to 1.
    package var limit: Double
    /// The time between two looks, from the first request for media on.
    package var interval: Duration
    /// The time for which the rung is left.
    package var exclusion: Duration

    /// Creates a policy; the interval is at least 100 ms.
    package init(limit: Double, interval: Duration, exclusion: Duration) {
        self.limit = limit
        self.interval = max(interval, .milliseconds(100))
        self.exclusion = exclusion
    }
}
