extension Dialect {
    /// Our definitions: the default.
    public static let instrument = Dialect(
        "instrument",
        title: "Instrument (default)",
        version: 2,
        metrics: startMetrics + stallMetrics + timeMetrics + pictureMetrics + outcomeMetrics + liveMetrics
            + requestMetrics
    )

    private static let dataModel = "data model of OpenAVT"
    private static let ours = "Instrument"

    private static let startMetrics = [
        QualityMetric(
            "StartTime",
            .milliseconds,
            .gauge,
            definition: """
                From the request (else the load) to the first frame, without ads. No value if playback never started, if the start was not \
                observed, or if, before the start, the person paused or sought, the app went to the background (`AppBackground`), or the machine \
                slept (`SystemResumed`).
                """,
            source: dataModel + "; " + ours
        ) { $0.startTime.map { .integer($0) } },
        QualityMetric(
            "PrerollTime",
            .milliseconds,
            .gauge,
            definition: """
                Ads between the request (else the load) and the first frame: the part that `StartTime` leaves out. No value without such ads.
                """,
            source: ours
        ) { $0.prerollTime.map { .integer($0) } },
    ]

    private static let stallMetrics = [
        QualityMetric(
            "RebufferTime",
            .milliseconds,
            .sum,
            definition: """
                Time in the state `rebuffering`: started, and the viewer waits for data. A stall that the viewer leaves counts until then. A \
                pause, a seek or an ad in a stall does not count; the wait after a seek is seek time. Of a wait that began before the start, the \
                part after the start counts.
                """,
            source: ours
        ) { .integer($0.times[.rebuffering]) },
        QualityMetric(
            "NumRebuffers",
            .count,
            .sum,
            definition: """
                The number of stalls in `RebufferTime`, finished or not: waits of at least a millisecond. A stall that a pause or an ad interrupts \
                is one stall.
                """,
            source: ours
        ) { .integer($0.interruptions.rebufferCount) },
        QualityMetric(
            "RebufferRatio",
            .ratio,
            .gauge,
            definition: "`RebufferTime` / (`PlayTime` + `RebufferTime`). No value if both are 0.",
            source: ours
        ) { $0.rebufferRatio.map { .ratio($0) } },
        QualityMetric(
            "RebufferFrequency",
            .perMinute,
            .gauge,
            definition: "`NumRebuffers` per minute of `PlayTime`. No value without play time.",
            source: ours
        ) { $0.rebufferFrequency.map { .ratio($0) } },
        QualityMetric(
            "TimeBetweenRebuffers",
            .milliseconds,
            .gauge,
            definition: "`PlayTime` / `NumRebuffers`, rounded down. No value without stalls.",
            source: ours
        ) { $0.timeBetweenRebuffers.map { .integer($0) } },
        QualityMetric(
            "SeekTime",
            .milliseconds,
            .sum,
            definition:
                "Time in the state `seeking`: from each seek until the picture is back, which is also the end of a wait for data that began in the seek.",
            source: ours
        ) { .integer($0.times[.seeking]) },
        QualityMetric(
            "NumSeeks",
            .count,
            .sum,
            definition: "Seeks begun.",
            source: ours
        ) { .integer($0.interruptions.seekCount) },
    ]

    private static let timeMetrics = [
        QualityMetric(
            "PlayTime",
            .milliseconds,
            .sum,
            definition: "Time in the state `playing`: started, and not paused, seeking, waiting for data or in an ad.",
            source: dataModel
        ) { .integer($0.times[.playing]) },
        QualityMetric(
            "WatchTime",
            .milliseconds,
            .sum,
            definition: "Time in the states `playing`, `rebuffering` and `seeking`.",
            source: ours
        ) { .integer($0.times.sum(.playing, .rebuffering, .seeking)) },
    ]

    private static let pictureMetrics = [
        QualityMetric(
            "AverageBitrate",
            .bitsPerSecond,
            .gauge,
            definition: """
                The mean of `bitrate` while playing, weighted by media time: time times `playbackRate`. Time with an unknown bitrate does not \
                count. No value if no bitrate is known.
                """,
            source: ours
        ) { $0.picture.averageBitrate.map { .integer($0) } },
        QualityMetric(
            "BitrateSwitchesUp",
            .count,
            .sum,
            definition: "`QualityChangeUp` after the start.",
            source: ours
        ) { .integer($0.picture.switchesUp) },
        QualityMetric(
            "BitrateSwitchesDown",
            .count,
            .sum,
            definition: "`QualityChangeDown` after the start.",
            source: ours
        ) { .integer($0.picture.switchesDown) },
        QualityMetric(
            "TimeInQuality",
            .milliseconds,
            .sum,
            definition: """
                `PlayTime` for each rendition: `WIDTHxHEIGHT`, else the bitrate. Time with an unknown rendition does not count; beyond \
                \(PictureSums.renditionLimit) renditions, the rest counts as `other`.
                """,
            source: ours
        ) { session in session.picture.renditions.isEmpty ? nil : .labelled(session.picture.renditions) },
    ]

    private static let outcomeMetrics = [
        QualityMetric(
            "StartFailure",
            .count,
            .sum,
            definition: """
                1 if a fatal error ended the session before the start, except an error that the person's own action caused (`causedByUser`, or \
                `errorCode` `stopped`); else 0.
                """,
            source: ours
        ) { .integer($0.failures.isStartFailure ? 1 : 0) },
        QualityMetric(
            "ExitBeforeStart",
            .count,
            .sum,
            definition: """
                1 if the session ended before the start without a fatal error, or with one that the person's own action caused; else 0. No value \
                while the session is open.
                """,
            source: ours
        ) { session in
            guard session.state.isTerminal else { return nil }
            return .integer(session.isExitBeforeStart ? 1 : 0)
        },
        QualityMetric(
            "PlaybackFailure",
            .count,
            .sum,
            definition: "1 if a fatal error ended the session after the start; else 0.",
            source: ours
        ) { .integer($0.failures.isPlaybackFailure ? 1 : 0) },
        QualityMetric(
            "ExitDuringRebuffer",
            .count,
            .sum,
            definition: """
                1 if the viewer left in the state `rebuffering`: `Stop`, `Next`, another playback, or no further event; else 0. `End` and fatal \
                errors are no exits. No value while the session is open.
                """,
            source: ours
        ) { session in
            guard session.state.isTerminal else { return nil }
            return .integer(session.interruptions.isExitDuringRebuffer ? 1 : 0)
        },
        QualityMetric(
            "ConcurrentPlays",
            .count,
            .gauge,
            definition: """
                Sessions that play at the same time: each from its first frame up to its latest event (for a device that vanished, the last that \
                arrived), without the instant of the end. A number over sessions; one session has no value.
                """,
            source: ours
        ) { _ in nil },
    ]

    private static let liveMetrics = [
        QualityMetric(
            "LiveLatency",
            .milliseconds,
            .distribution,
            definition: "`liveLatency`, each value weighted by the play time during which it was the latest.",
            source: ours
        ) { $0.picture.latency.isEmpty ? nil : .distribution($0.picture.latency) },
        QualityMetric(
            "LatencyDrift",
            .milliseconds,
            .gauge,
            definition: "The latest `liveLatency` minus the first one after the start.",
            source: ours
        ) { $0.picture.latencyDrift.map { .integer($0) } },
        QualityMetric(
            "PlaybackRateTime",
            .milliseconds,
            .sum,
            definition:
                "`PlayTime` at a `playbackRate` above 1 (`fast`) and below 1 (`slow`). No value if the rate was always 1.",
            source: ours
        ) { session in
            let times = ["fast": session.picture.fastTime, "slow": session.picture.slowTime].filter { $0.value > 0 }
            return times.isEmpty ? nil : .labelled(times)
        },
    ]

    private static let requestMetrics = [
        QualityMetric(
            "Throughput",
            .bitsPerSecond,
            .distribution,
            definition: """
                Bits of each request's body over the time of the request (`RequestFinish`); without such events, each new value of `throughput`.
                """,
            source: ours
        ) { $0.network.throughput.isEmpty ? nil : .distribution($0.network.throughput) },
        QualityMetric(
            "TimeToFirstByte",
            .milliseconds,
            .distribution,
            definition: "`timeToFirstByte` of each `RequestFinish`: from the request to the first byte of its body.",
            source: ours
        ) { $0.network.timeToFirstByte.isEmpty ? nil : .distribution($0.network.timeToFirstByte) },
        QualityMetric(
            "RequestErrors",
            .count,
            .sum,
            definition:
                "Requests that failed: `RequestFinish` with `requestFailed`; without such events, `countFailedRequests`.",
            source: ours
        ) { session in
            session.network.requests > 0 || session.network.errors > 0 ? .integer(session.network.errors) : nil
        },
    ]
}
