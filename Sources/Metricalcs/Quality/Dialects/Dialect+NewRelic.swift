extension Dialect {
    /// New Relic's quality of experience for streaming video.
    public static let newRelic = Dialect("newrelic", title: "New Relic", version: 2, metrics: newRelicMetrics)

    /// The data model of New Relic's agents (video-core-js 5.0, August 2026), which is the published definition.
    private static let source = "https://github.com/newrelic/video-core-js/blob/master/DATAMODEL.md"
    /// The names before video-core-js 4.1.2 (March 2026), which documents of several agents still have.
    private static let earlierNames = "https://github.com/newrelic/video-core-js/releases/tag/v4.1.0"

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
            definition: """
                Time in the state `rebuffering`, without the initial buffering: a wait that began before the start does not count, also the \
                part after the start.
                """,
            source: source,
            counterpart: "RebufferTime",
            difference: "Of a wait that began before the start, ours counts the part after the start."
        ) { .integer($0.newRelicRebufferTime) },
        QualityMetric(
            "rebufferingRatio",
            .ratio,
            .gauge,
            definition: "`totalRebufferingTime` / `totalPlaytime`. No value without play time.",
            source: source,
            counterpart: "RebufferRatio",
            difference:
                "The denominator is play time alone, so that the ratio has no upper limit. Ours is a share of at most 1."
        ) { session in Ratio(session.newRelicRebufferTime, over: session.times[.playing]).map { .ratio($0) } },
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
        startupError("hadStartupError", source),
        playbackError("hadPlaybackError", source),
        startupError("hadStartupFailure", earlierNames),
        playbackError("hadPlaybackFailure", earlierNames),
    ]

    private static func startupError(_ name: String, _ source: String) -> QualityMetric {
        QualityMetric(
            name,
            .count,
            .sum,
            definition: "1 if an error of the content occurred before the start; else 0.",
            source: source,
            counterpart: "StartFailure",
            difference: "Errors that playback survived, and errors that the person caused, count, too."
        ) { .integer($0.failures.startErrorCount > 0 ? 1 : 0) }
    }

    private static func playbackError(_ name: String, _ source: String) -> QualityMetric {
        QualityMetric(
            name,
            .count,
            .sum,
            definition: "1 if an error of the content occurred after the start; else 0.",
            source: source,
            counterpart: "PlaybackFailure",
            difference: "Errors that playback survived count, too."
        ) { .integer($0.failures.errorCount > $0.failures.startErrorCount ? 1 : 0) }
    }
}
