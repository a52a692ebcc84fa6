extension Dialect {
    /// New Relic's quality of experience for streaming video.
    public static let newRelic = Dialect("newrelic", title: "New Relic", metrics: newRelicMetrics)

    private static let source = "https://docs.newrelic.com/docs/streaming-video-&-ads/"

    private static let newRelicMetrics = [
        QualityMetric(
            "startupTime",
            .milliseconds,
            .gauge,
            definition: "From the request (else the load) to the first frame, without pre-roll ads.",
            source: source,
            counterpart: "StartTime",
            difference: "A pause or a seek before the start does not make the value invalid."
        ) { session in session.startup.elapsed.map { .integer($0 - session.startup.prerollTime) } },
        QualityMetric(
            "totalPlaytime",
            .milliseconds,
            .sum,
            definition: "Playing.",
            source: source,
            counterpart: "PlayTime"
        ) { .integer($0.times[.playing]) },
        QualityMetric(
            "totalRebufferingTime",
            .milliseconds,
            .sum,
            definition: "Time in the state `rebuffering`, without the initial buffering.",
            source: source,
            counterpart: "RebufferTime",
            difference:
                "A stall that never finished counts, and the part of a stall during which the person pauses does not."
        ) { .integer($0.times[.rebuffering]) },
        QualityMetric(
            "rebufferingRatio",
            .ratio,
            .gauge,
            definition: "`totalRebufferingTime` / `totalPlaytime`. No value without play time.",
            source: source,
            counterpart: "RebufferRatio",
            difference:
                "The denominator is play time alone, so that the ratio has no upper limit. Ours is a share of at most 1."
        ) { session in Ratio(session.times[.rebuffering], over: session.times[.playing]).map { .ratio($0) } },
        QualityMetric(
            "averageBitrate",
            .bitsPerSecond,
            .gauge,
            definition:
                "The mean bitrate while playing, weighted by media time: at twice the rate, a second counts twice.",
            source: source,
            counterpart: "AverageBitrate"
        ) { $0.picture.averageBitrate.map { .integer($0) } },
        QualityMetric(
            "peakBitrate",
            .bitsPerSecond,
            .gauge,
            definition: "The highest bitrate that was played.",
            source: source
        ) { $0.picture.peakBitrate.map { .integer($0) } },
        QualityMetric(
            "hadStartupError",
            .count,
            .sum,
            definition: "1 if a fatal error ended the session before the start; else 0.",
            source: source,
            counterpart: "StartFailure",
            difference: "Errors that the person caused count, too."
        ) { session in
            .integer(session.failures.isStartFailure || session.failures.isCausedByUser ? 1 : 0)
        },
        QualityMetric(
            "hadPlaybackError",
            .count,
            .sum,
            definition: "1 if any error occurred; else 0.",
            source: source,
            counterpart: "PlaybackFailure",
            difference: "Errors that playback survived, and errors before the start, count, too."
        ) { .integer($0.failures.errorCount > 0 ? 1 : 0) },
    ]
}
