/// The core metrics. Wire names follow OpenAVT's data model.
extension MetricName {
    /// From the request (else the load) to the first frame.
    public static let startTime = MetricName("StartTime", .gauge, unit: .milliseconds)
    /// Playbacks started.
    public static let numPlays = MetricName("NumPlays", .counter, unit: .count)
    /// One stall during playback.
    public static let rebufferTime = MetricName("RebufferTime", .gauge, unit: .milliseconds)
    /// Stalls during playback.
    public static let numRebuffers = MetricName("NumRebuffers", .counter, unit: .count)
    /// Time played since the tracker's last event.
    public static let playTime = MetricName("PlayTime", .gauge, unit: .milliseconds)
    /// Streams asked for.
    public static let numRequests = MetricName("NumRequests", .counter, unit: .count)
    /// Streams loaded.
    public static let numLoads = MetricName("NumLoads", .counter, unit: .count)
    /// Playbacks ended.
    public static let numEnds = MetricName("NumEnds", .counter, unit: .count)

    /// The core metrics, all of them.
    public static let coreMetrics: [MetricName] = [
        .startTime, .numPlays, .rebufferTime, .numRebuffers, .playTime, .numRequests, .numLoads, .numEnds,
    ]
}
