public import Instrument

extension MetricName {
    /// Time from the begin of a break to the first frame of its first ad.
    public static let adStartTime = MetricName("AdStartTime", .gauge, unit: .milliseconds)
    /// Time from the first frame of an ad to its end, pauses and buffering included.
    public static let adTime = MetricName("AdTime", .gauge, unit: .milliseconds)
    /// Ads that began.
    public static let numAds = MetricName("NumAds", .counter)
    /// Breaks that began.
    public static let numAdBreaks = MetricName("NumAdBreaks", .counter)
    /// Ads that a break played, over the ads that it was to play.
    public static let adFillRate = MetricName("AdFillRate", .gauge, unit: .ratio)
    /// Errors of ads; the attribute `adErrorCode` has the code, or `errorCode` where a player's codes are no numbers.
    public static let numAdErrors = MetricName("NumAdErrors", .counter)
    /// Time for which an ad buffered.
    public static let adRebufferTime = MetricName("AdRebufferTime", .gauge, unit: .milliseconds)
    /// Playbacks that the person left during an ad.
    public static let adExits = MetricName("AdExits", .counter)
}

extension MetricName {
    /// The metrics of ``AdMetricalc``.
    public static let adMetrics: [MetricName] = [
        .adStartTime, .adTime, .numAds, .numAdBreaks, .adFillRate, .numAdErrors, .adRebufferTime, .adExits,
    ]
}

/// The metrics of ads. Expects events that an ads hub has accepted.
///
/// Combine it with other metricalcs by `MultiplexMetricalc`. A break whose request is unknown, without `adsRequested`,
/// has no fill rate.
public struct AdMetricalc: Metricalc, Hashable {
    private struct Break: Hashable {
        var requested: Int?
        var played = 0
    }

    private var breaks: [TrackerID: Break] = [:]

    /// Creates a metricalc that has seen nothing.
    public init() {}

    /// Appends the metrics of ads that follow from `event`.
    public mutating func process(_ event: Event, into metrics: inout [Metric]) {
        switch event.action {
        case .adBreakBegin:
            breaks[event.tracker] = Break(requested: event[.adsRequested])
            metrics.append(Metric(.numAdBreaks, 1, of: event))
        case .adBegin: begin(event, &metrics)
        case .adFinish: add(.adTime, since: .adBegin, event, &metrics)
        case .adBufferFinish: add(.adRebufferTime, since: .adBufferBegin, event, &metrics)
        case .adBreakFinish: finish(event, &metrics)
        case .adError:
            var metric = Metric(.numAdErrors, 1, of: event)
            // Players that know no VAST name their own codes; those of the IMA SDK are numbers.
            let code = event[.adErrorCode] ?? event[.errorCode].flatMap { Int($0) }
            metric.attributes[.adErrorCode] = code
            if code == nil { metric.attributes[.errorCode] = event[.errorCode] }
            metrics.append(metric)
        case .stop, .next:
            if event[.inAdBlock] == true { metrics.append(Metric(.adExits, 1, of: event)) }
        default: break
        }
    }

    /// Keeps nothing of a removed tracker.
    public mutating func forget(_ tracker: TrackerID) { breaks[tracker] = nil }

    private mutating func begin(_ event: Event, _ metrics: inout [Metric]) {
        if breaks[event.tracker]?.played == 0 { add(.adStartTime, since: .adBreakBegin, event, &metrics) }
        breaks[event.tracker]?.played += 1
        metrics.append(Metric(.numAds, 1, of: event))
    }

    private mutating func finish(_ event: Event, _ metrics: inout [Metric]) {
        guard let ended = breaks.removeValue(forKey: event.tracker), let requested = ended.requested, requested > 0
        else { return }
        let rate = min(1, Double(ended.played) / Double(requested))
        metrics.append(Metric(.adFillRate, .double(rate), of: event))
    }

    private func add(_ name: MetricName, since action: Action, _ event: Event, _ metrics: inout [Metric]) {
        guard let time = event[action.timeKey] else { return }
        metrics.append(Metric(name, .int(time), of: event))
    }
}
