public import Instrument

/// The metrics that ``QualityMetricalc`` computes in addition to the core metrics. ``Dialect/instrument`` has their
/// definitions.
extension MetricName {
    /// Ads before the first frame.
    public static let prerollTime = MetricName("PrerollTime", .gauge, unit: .milliseconds)
    /// Stalls as a share of the time that the viewer wanted to see media.
    public static let rebufferRatio = MetricName("RebufferRatio", .gauge, unit: .ratio)
    /// Stalls per minute of playing.
    public static let rebufferFrequency = MetricName("RebufferFrequency", .gauge, unit: .perMinute)
    /// Playing between two stalls.
    public static let timeBetweenRebuffers = MetricName("TimeBetweenRebuffers", .gauge, unit: .milliseconds)
    /// One seek, until the picture is back.
    public static let seekTime = MetricName("SeekTime", .gauge, unit: .milliseconds)
    /// Seeks.
    public static let numSeeks = MetricName("NumSeeks", .counter, unit: .count)
    /// Playing, stalls and seeks since the last value.
    public static let watchTime = MetricName("WatchTime", .counter, unit: .milliseconds)
    /// The mean bitrate of the media that was played.
    public static let averageBitrate = MetricName("AverageBitrate", .gauge, unit: .bitsPerSecond)
    /// Rises of the rendered quality.
    public static let bitrateSwitchesUp = MetricName("BitrateSwitchesUp", .counter, unit: .count)
    /// Falls of the rendered quality.
    public static let bitrateSwitchesDown = MetricName("BitrateSwitchesDown", .counter, unit: .count)
    /// Playing in the rendition that the attribute `rendition` names, since the last value.
    public static let timeInQuality = MetricName("TimeInQuality", .counter, unit: .milliseconds)
    /// Sessions that failed before the first frame.
    public static let startFailure = MetricName("StartFailure", .counter, unit: .count)
    /// Sessions that the person left before the first frame.
    public static let exitBeforeStart = MetricName("ExitBeforeStart", .counter, unit: .count)
    /// Sessions that failed after the first frame.
    public static let playbackFailure = MetricName("PlaybackFailure", .counter, unit: .count)
    /// Sessions that the viewer left during a stall.
    public static let exitDuringRebuffer = MetricName("ExitDuringRebuffer", .counter, unit: .count)
    /// Sessions of this instrument that play at the same time.
    public static let concurrentPlays = MetricName("ConcurrentPlays", .gauge, unit: .count)
    /// The distance of the playhead from the live edge.
    public static let liveLatency = MetricName("LiveLatency", .gauge, unit: .milliseconds)
    /// The change of the latency since the start.
    public static let latencyDrift = MetricName("LatencyDrift", .gauge, unit: .milliseconds)
    /// Playing at a rate other than 1, since the last value; the attribute `rate` says `fast` or `slow`.
    public static let playbackRateTime = MetricName("PlaybackRateTime", .counter, unit: .milliseconds)
    /// Bit/s of one request for media.
    public static let throughput = MetricName("Throughput", .gauge, unit: .bitsPerSecond)
    /// From a request to the first byte of its body.
    public static let timeToFirstByte = MetricName("TimeToFirstByte", .gauge, unit: .milliseconds)
    /// Requests that failed.
    public static let requestErrors = MetricName("RequestErrors", .counter, unit: .count)

    /// The metrics that ``QualityMetricalc`` computes in addition to the core metrics.
    public static let qualityMetrics: [MetricName] = [
        .prerollTime, .rebufferRatio, .rebufferFrequency, .timeBetweenRebuffers, .seekTime, .numSeeks, .watchTime,
        .averageBitrate, .bitrateSwitchesUp, .bitrateSwitchesDown, .timeInQuality, .startFailure, .exitBeforeStart,
        .playbackFailure, .exitDuringRebuffer, .concurrentPlays, .liveLatency, .latencyDrift, .playbackRateTime,
        .throughput, .timeToFirstByte, .requestErrors,
    ]
}

extension AttributeKey where Value == String {
    /// The rendition of a `timeInQuality`: `WIDTHxHEIGHT`, else the bitrate.
    public static var rendition: Self { QualityField.rendition }
    /// The direction of a `playbackRateTime`: `fast` or `slow`.
    public static var rate: Self { QualityField.rate }
    /// The events that a session misses: an attribute of the last metrics of a session that was healed.
    public static var lostEvents: Self { QualityField.lostEvents }
}
