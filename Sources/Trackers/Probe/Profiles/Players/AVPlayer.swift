extension PlayerProfile {
    /// Apple's AVPlayer, of which few parameters are published: all other figures are estimates, which stand for no
    /// version.
    ///
    /// It begins with the variant that is listed first (Apple, HTTP Live Streaming FAQ; not verified for today's), and
    /// in live streams not closer to the end than three target durations (RFC 8216, section 6.3.3).
    public static let avPlayer = PlayerProfile(
        name: "avplayer",
        // Not published.
        buffer: BufferPolicy(startThreshold: .seconds(2), resumeThreshold: .seconds(4), maximum: .seconds(50)),
        // The back buffer is not published: everything is kept.
        // Not published.
        rule: ThroughputRule(
            estimator: ThroughputEstimator(.movingAverages(fastHalfLife: .seconds(3), slowHalfLife: .seconds(9))),
            fraction: 0.8,
            minimumBufferForIncrease: .seconds(10),
            abandonment: .hlsJS
        ),
        start: .firstListed,
        // Not published.
        segmentUse: .progressive,
        // Not published.
        retry: RetryPolicy(
            maximumRetries: 3,
            backoff: .exponential(first: .seconds(1), factor: 2, maximum: .seconds(8), jitter: 0),
            firstByteTimeout: .seconds(15),
            loadTimeout: .seconds(60)
        ),
        // Not published.
        failurePlan: FailurePlan([
            .retry, .useOtherLocation(excludedFor: nil), .useOtherVariant(excludedFor: nil),
        ]),
        live: LivePolicy(
            targetLatency: .targetDurations(3),
            // Not published, but its error log calls a playlist stale that has not changed for 1.5 target durations,
            // the time in which RFC 8216, section 6.2.2, wants a change; when it gives up is a guess.
            staleAfter: .targetDurations(6),
            usesParts: true,
            // That it requests hinted parts follows from Apple's design of the tag; which hints it uses is not
            // published.
            preloadedHints: [.part, .initialization]
        )
    ).asking(for: .gzip)
}
