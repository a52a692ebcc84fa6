extension Dialect {
    /// ExoPlayer's `PlaybackStats`.
    public static let exoplayer = Dialect(
        "exoplayer",
        title: "ExoPlayer PlaybackStats",
        version: 2,
        metrics: exoTimes + exoCounts + exoRatios
    )

    private static let source = "androidx.media3.exoplayer.analytics.PlaybackStats"

    private static let exoTimes = [
        QualityMetric(
            "joinTimeMs",
            .milliseconds,
            .gauge,
            definition:
                "Time in the state `joining`. No value unless the player was ready, and joining led to playing, paused, ended or an ad.",
            source: source + ".getMeanJoinTimeMs",
            counterpart: "StartTime",
            difference: """
                Only the time in the state counts: a pause before the start is not joining. A seek before the start makes the value invalid, a \
                pause does not.
                """
        ) { session in
            session.startup.isJoinInvalid || !session.startup.hasBeenReady ? nil : .integer(session.times[.joining])
        },
        QualityMetric(
            "totalPlayTimeMs",
            .milliseconds,
            .sum,
            definition: "Time in the state `playing`.",
            source: source + ".getTotalPlayTimeMs",
            counterpart: "PlayTime"
        ) { .integer($0.times[.playing]) },
        QualityMetric(
            "totalRebufferTimeMs",
            .milliseconds,
            .sum,
            definition: "Time in the state `rebuffering`; buffering while paused does not count.",
            source: source + ".getTotalRebufferTimeMs",
            counterpart: "RebufferTime"
        ) { .integer($0.times[.rebuffering]) },
        QualityMetric(
            "totalSeekTimeMs",
            .milliseconds,
            .sum,
            definition: "Time in the state `seeking`.",
            source: source + ".getTotalSeekTimeMs",
            counterpart: "SeekTime"
        ) { .integer($0.times[.seeking]) },
        QualityMetric(
            "totalPausedTimeMs",
            .milliseconds,
            .sum,
            definition: "Time in the states `paused` and `pausedBuffering`.",
            source: source + ".getTotalPausedTimeMs"
        ) { .integer($0.times.sum(.paused, .pausedBuffering)) },
        QualityMetric(
            "totalWaitTimeMs",
            .milliseconds,
            .sum,
            definition: "Time in the states `joining`, `rebuffering` and `seeking`.",
            source: source + ".getTotalWaitTimeMs"
        ) { .integer($0.exoWaitTime) },
        QualityMetric(
            "totalPlayAndWaitTimeMs",
            .milliseconds,
            .sum,
            definition: "`totalPlayTimeMs` + `totalWaitTimeMs`.",
            source: source + ".getTotalPlayAndWaitTimeMs",
            counterpart: "WatchTime",
            difference: "Joining counts. Ours begins with the first frame."
        ) { .integer($0.exoPlayAndWaitTime) },
        QualityMetric(
            "maxRebufferTimeMs",
            .milliseconds,
            .gauge,
            definition: "The longest wait for data after the start, paused or not. No value without one.",
            source: source + ".maxRebufferTimeMs"
        ) { $0.interruptions.bufferingCount > 0 ? .integer($0.interruptions.longestStall) : nil },
    ]

    private static let exoCounts = [
        QualityMetric(
            "totalRebufferCount",
            .count,
            .sum,
            definition: "Entries into `rebuffering` or `pausedBuffering` from another state.",
            source: source + ".totalRebufferCount",
            counterpart: "NumRebuffers",
            difference: "A wait that begins and ends in a pause counts."
        ) { .integer($0.interruptions.bufferingCount) },
        QualityMetric(
            "totalPauseCount",
            .count,
            .sum,
            definition: """
                Pauses of the person. A pause of the content for an ad is the state `ad`, as ExoPlayer's `INTERRUPTED_BY_AD` is: a pause that \
                begins at most a second before the ad or in the ad, and ends at most a second after the ad.
                """,
            source: source + ".totalPauseCount"
        ) { .integer($0.interruptions.pauseCount) },
        QualityMetric(
            "totalSeekCount",
            .count,
            .sum,
            definition: "Seeks begun.",
            source: source + ".totalSeekCount",
            counterpart: "NumSeeks"
        ) { .integer($0.interruptions.seekCount) },
        QualityMetric(
            "abandonedBeforeReadyCount",
            .count,
            .sum,
            definition: "1 if the player was never playing or paused; else 0. No value while the session is open.",
            source: source + ".abandonedBeforeReadyCount",
            counterpart: "ExitBeforeStart",
            difference: "Sessions that failed before the start count, too."
        ) { session in
            session.state.isTerminal ? .integer(session.startup.hasBeenReady ? 0 : 1) : nil
        },
        QualityMetric(
            "endedCount",
            .count,
            .sum,
            definition: "1 if playback reached the end; else 0.",
            source: source + ".endedCount"
        ) { .integer($0.state == .ended ? 1 : 0) },
        QualityMetric(
            "fatalErrorPlaybackCount",
            .count,
            .sum,
            definition: "1 if a fatal error occurred; else 0.",
            source: source + ".fatalErrorPlaybackCount",
            counterpart: "PlaybackFailure",
            difference: "Errors before the start, and errors that the person caused, count, too."
        ) { session in .integer(session.failures.hasFatalError ? 1 : 0) },
        QualityMetric(
            "nonFatalErrorCount",
            .count,
            .sum,
            definition: "Errors that playback survived.",
            source: source + ".nonFatalErrorCount"
        ) { .integer($0.failures.errorCount - ($0.failures.hasFatalError ? 1 : 0)) },
    ]

    private static let exoRatios = [
        QualityMetric(
            "rebufferTimeRatio",
            .ratio,
            .gauge,
            definition: "`totalRebufferTimeMs` / (play + join + rebuffer + seek time); 0 without such time.",
            source: source + ".getRebufferTimeRatio",
            counterpart: "RebufferRatio",
            difference: "The denominator includes joining and seeking: all time in which the viewer waits or watches."
        ) { session in
            .ratio(Ratio(session.times[.rebuffering], over: session.exoPlayAndWaitTime) ?? .zero)
        },
        QualityMetric(
            "rebufferRate",
            .perSecond,
            .gauge,
            definition: "1000 · `totalRebufferCount` / `totalPlayTimeMs`; 0 without play time.",
            source: source + ".getRebufferRate",
            counterpart: "RebufferFrequency",
            difference: "Per second instead of per minute, and waits that begin in a pause count."
        ) { session in
            .ratio(Ratio(session.interruptions.bufferingCount.scaled(by: 1000), over: session.times[.playing]) ?? .zero)
        },
        QualityMetric(
            "meanTimeBetweenRebuffers",
            .milliseconds,
            .gauge,
            definition: "`totalPlayTimeMs` / `totalRebufferCount`, in milliseconds. No value without waits.",
            source: source + ".getMeanTimeBetweenRebuffers",
            counterpart: "TimeBetweenRebuffers",
            difference: "Waits that begin in a pause count. ExoPlayer gives seconds, and infinity without waits."
        ) { session in
            Ratio(session.times[.playing], over: session.interruptions.bufferingCount).map { .ratio($0) }
        },
        QualityMetric(
            "waitTimeRatio",
            .ratio,
            .gauge,
            definition: "`totalWaitTimeMs` / `totalPlayAndWaitTimeMs`; 0 without such time.",
            source: source + ".getWaitTimeRatio"
        ) { session in
            .ratio(Ratio(session.exoWaitTime, over: session.exoPlayAndWaitTime) ?? .zero)
        },
        QualityMetric(
            "meanVideoFormatBitrate",
            .bitsPerSecond,
            .gauge,
            definition: "The mean bitrate while playing, weighted by media time. No value if no bitrate is known.",
            source: source + ".getMeanVideoFormatBitrate",
            counterpart: "AverageBitrate"
        ) { $0.picture.averageBitrate.map { .integer($0) } },
    ]
}
