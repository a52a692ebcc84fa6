extension Dialect {
    /// Mux Data: metrics and scores of its public documentation.
    public static let mux = Dialect("mux", title: "Mux Data", version: 2, metrics: muxMetrics + muxScores)

    private static let definitions = "https://www.mux.com/docs/guides/understand-metric-definitions"

    private static let muxMetrics = [
        QualityMetric(
            "video_startup_time",
            .milliseconds,
            .gauge,
            definition:
                "From the request (else the load) to the first frame, without ads. No value for views that exit before the start.",
            source: "https://www.mux.com/docs/guides/data-startup-time-metric",
            counterpart: "StartTime",
            difference: "A pause or a seek before the start does not make the value invalid."
        ) { $0.muxStartup.map { .integer($0) } },
        QualityMetric(
            "watch_time",
            .milliseconds,
            .sum,
            definition: "Playing, rebuffering and seeking.",
            source: definitions,
            counterpart: "WatchTime"
        ) { .integer($0.muxWatchTime) },
        QualityMetric(
            "playing_time",
            .milliseconds,
            .sum,
            definition: "Playing.",
            source: definitions,
            counterpart: "PlayTime"
        ) { .integer($0.times[.playing]) },
        QualityMetric(
            "rebuffer_count",
            .count,
            .sum,
            definition: "Stalls begun during playback.",
            source: "https://www.mux.com/docs/guides/data-smoothness-metric",
            counterpart: "NumRebuffers",
            difference:
                "A stall of less than a millisecond counts, and a stall around an ad counts before and after the ad."
        ) { .integer($0.interruptions.stallCount) },
        QualityMetric(
            "rebuffer_duration",
            .milliseconds,
            .sum,
            definition: "Time in the state `rebuffering`.",
            source: "https://www.mux.com/docs/guides/data-smoothness-metric",
            counterpart: "RebufferTime"
        ) { .integer($0.times[.rebuffering]) },
        QualityMetric(
            "rebuffer_percentage",
            .ratio,
            .gauge,
            definition: "`rebuffer_duration` / `watch_time`.",
            source: "https://www.mux.com/docs/guides/data-smoothness-metric",
            counterpart: "RebufferRatio",
            difference:
                "The denominator includes seeking: Mux's watch time is all time in which the viewer tries to watch."
        ) { session in Ratio(session.times[.rebuffering], over: session.muxWatchTime).map { .ratio($0) } },
        QualityMetric(
            "rebuffer_frequency",
            .perMinute,
            .gauge,
            definition: "`rebuffer_count` per minute of `watch_time`.",
            source: "https://www.mux.com/docs/guides/data-smoothness-metric",
            counterpart: "RebufferFrequency",
            difference: "Per minute of watch time, which includes stalls and seeks. Ours is per minute of play time."
        ) { session in
            Ratio(session.interruptions.stallCount.scaled(by: 60_000), over: session.muxWatchTime).map { .ratio($0) }
        },
        QualityMetric(
            "seek_latency",
            .milliseconds,
            .sum,
            definition: "Time in the state `seeking`.",
            source: definitions,
            counterpart: "SeekTime"
        ) { .integer($0.times[.seeking]) },
        QualityMetric(
            "exits_before_video_start",
            .count,
            .sum,
            definition: "1 if the viewer left before the start without an error; else 0.",
            source: definitions,
            counterpart: "ExitBeforeStart"
        ) { session in
            guard session.state.isTerminal else { return nil }
            return .integer(session.isExitBeforeStart ? 1 : 0)
        },
        QualityMetric(
            "playback_failure",
            .count,
            .sum,
            definition: "1 if a fatal error ended the view; else 0.",
            source: definitions,
            counterpart: "PlaybackFailure",
            difference:
                "Failures before the start count, too: Mux has one class of failures. Ours separates `StartFailure`."
        ) { .integer($0.failures.isStartFailure || $0.failures.isPlaybackFailure ? 1 : 0) },
        QualityMetric(
            "upscale_percentage",
            .ratio,
            .gauge,
            definition:
                "The mean enlargement of the picture to the player's area, weighted by play time; 0 if the picture is large enough.",
            source: "https://www.mux.com/docs/guides/data-video-quality-metric"
        ) { $0.picture.upscaling.map { .real($0.average) } },
        QualityMetric(
            "max_upscale_percentage",
            .ratio,
            .gauge,
            definition: "The greatest enlargement of the picture to the player's area.",
            source: "https://www.mux.com/docs/guides/data-video-quality-metric"
        ) { $0.picture.upscaling.map { .real($0.largest) } },
    ]

    /// The worked examples of the public text do not follow these formulas; the formulas count.
    private static let muxScores = [
        QualityMetric(
            "video_startup_score",
            .score,
            .gauge,
            definition:
                "100 · 8 / (8 + `video_startup_time` in seconds). No value for views that exit before the start.",
            source: "https://www.mux.com/docs/guides/data-startup-time-metric"
        ) { $0.muxStartup.map { .real(100 * 8 / (8 + Double($0) / 1000)) } },
        QualityMetric(
            "smoothness_score",
            .score,
            .gauge,
            definition: """
                ½ · (100 / √(1 + (n/2)²) + 100 · e^(−10 · r)), n = `rebuffer_count`, r = `rebuffer_percentage`. No value without watch time.
                """,
            source: "https://www.mux.com/docs/guides/data-smoothness-metric"
        ) { session in
            guard let ratio = Ratio(session.times[.rebuffering], over: session.muxWatchTime) else { return nil }
            let half = Double(session.interruptions.stallCount) / 2
            return .real(0.5 * (100 / (1 + half * half).squareRoot() + 100 * ExactMath.exp(-10 * ratio.double)))
        },
        QualityMetric(
            "video_quality_score",
            .score,
            .gauge,
            definition: """
                100 · e^(−0.33 · (0.15 · `max_upscale_percentage` + 0.85 · `upscale_percentage`)). No value for views that exit before the start.
                """,
            source: "https://www.mux.com/docs/guides/data-video-quality-metric"
        ) { session in
            guard session.startup.hasStarted, let upscaling = session.picture.upscaling else { return nil }
            return .real(100 * ExactMath.exp(-0.33 * (0.15 * upscaling.largest + 0.85 * upscaling.average)))
        },
    ]
}
