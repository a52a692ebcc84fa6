extension Dialect {
    /// CTA-2066, Streaming Quality of Experience Events, Properties and Metrics.
    public static let cta2066 = Dialect("cta2066", title: "CTA-2066", version: 2, metrics: ctaMetrics)

    private static let source = "CTA-2066, metrics of a session"

    private static let ctaMetrics = [
        QualityMetric(
            "initialStartupTime",
            .milliseconds,
            .gauge,
            definition:
                "From the request (else the load) to the first frame of the content; null if playback never started.",
            source: source,
            counterpart: "StartTime",
            difference:
                "Ads before the start count, and a pause or a seek before the start does not make the value invalid."
        ) { $0.startup.elapsed.map { .integer($0) } },
        QualityMetric(
            "playbackStallCount",
            .count,
            .sum,
            definition: "Stalls begun after the start, without those that a seek, a pause or an ad excuses.",
            source: source,
            counterpart: "NumRebuffers",
            difference:
                "A stall of less than a millisecond counts, and a stall around an ad counts before and after the ad."
        ) { .integer($0.interruptions.stallCount) },
        QualityMetric(
            "playbackStallDuration",
            .milliseconds,
            .sum,
            definition: "Time in the state `rebuffering`.",
            source: source,
            counterpart: "RebufferTime"
        ) { .integer($0.times[.rebuffering]) },
    ]
}
