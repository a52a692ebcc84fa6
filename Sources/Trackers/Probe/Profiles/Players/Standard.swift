extension PlayerProfile {
    /// Ours, where no player is imitated: what most players have in common.
    public static let standard = PlayerProfile(
        name: "standard",
        buffer: .standard,
        // As in ExoPlayer: every seek back fetches.
        backBuffer: .zero,
        rule: HybridRule(),
        start: .estimate(1_000_000),
        segmentUse: .progressive,
        retry: RetryPolicy(
            maximumRetries: 3,
            backoff: .exponential(first: .seconds(1), factor: 2, maximum: .seconds(8), jitter: 0.25),
            firstByteTimeout: .seconds(10),
            loadTimeout: .seconds(60),
            stallTimeout: .seconds(10),
            // RFC 9110, section 15, has these as passing; 404 may be in live streams, whose segments come late.
            statuses: .only([404, 408, 425, 429, 500, 502, 503, 504])
        ),
        failurePlan: FailurePlan([
            .retry, .useOtherLocation(excludedFor: .seconds(60)), .useOtherVariant(excludedFor: .seconds(60)),
            .useOtherAudio(excludedFor: .seconds(60)),
        ]),
        live: LivePolicy(
            // RFC 8216, section 6.3.3: not closer to the end than three target durations.
            targetLatency: .targetDurations(3),
            maximumLatency: .targetDurations(10),
            catchUp: .proportional(factor: 0.1, minimum: 0.97, maximum: 1.03, tolerance: .milliseconds(100)),
            staleAfter: .targetDurations(3.5),
            usesParts: true,
            preloadedHints: [.part, .initialization],
            usesPatches: true
        )
    )
}
