internal import Instrument
internal import InstrumentAds

/// The ads in the sessions of a recording: counts, and the values of the metrics of `AdMetricalc`. Each session counts
/// with its sampling weight.
package struct AdSummary: Sendable {
    /// The most error codes that are counted separately.
    private static let mostCodes = 100

    /// Sessions with at least one break or ad error.
    package private(set) var sessionCount = 0
    /// Breaks that began.
    package private(set) var breakCount = 0
    /// Ads that began.
    package private(set) var adCount = 0
    /// Milliseconds from the begin of each break to its first ad.
    package private(set) var startTimes: [WeightedValue] = []
    /// Played ads over expected ads, for each break that says how many it expects.
    package private(set) var fillRates: [WeightedValue] = []
    /// Milliseconds of ads, pauses and buffering included.
    package private(set) var playTime = 0.0
    /// Milliseconds for which ads buffered.
    package private(set) var rebufferTime = 0.0
    /// Errors of ads by code; nil for errors without one and beyond the limit of codes.
    package private(set) var errors: [Int?: Int] = [:]
    /// Playbacks that were left during an ad.
    package private(set) var exitCount = 0

    /// Creates the summary of sessions without ads.
    package init() {}

    /// All errors.
    package var errorCount: Int { errors.values.reduce(0, +) }

    /// Adds the ads of a session.
    mutating func add(_ session: AdSummary, weight: Int) {
        guard session.breakCount > 0 || session.adCount > 0 || session.errorCount > 0 else { return }
        sessionCount += weight
        breakCount += weight * session.breakCount
        adCount += weight * session.adCount
        startTimes += session.startTimes.map { WeightedValue(value: $0.value, weight: weight) }
        fillRates += session.fillRates.map { WeightedValue(value: $0.value, weight: weight) }
        playTime += Double(weight) * session.playTime
        rebufferTime += Double(weight) * session.rebufferTime
        exitCount += weight * session.exitCount
        for (code, count) in session.errors { countErrors(weight * count, code: code) }
    }

    /// Adds a metric of ads; ignores others.
    fileprivate mutating func add(_ metric: Metric) {
        let value: Double
        switch metric.value {
        case .int(let number): value = Double(number)
        case .double(let number): value = number
        }
        switch metric.name {
        case .adStartTime: startTimes.append(WeightedValue(value: value, weight: 1))
        case .adTime: playTime += value
        case .numAds: adCount += 1
        case .numAdBreaks: breakCount += 1
        case .adFillRate: fillRates.append(WeightedValue(value: value, weight: 1))
        case .numAdErrors: countErrors(1, code: metric.attributes[.adErrorCode])
        case .adRebufferTime: rebufferTime += value
        case .adExits: exitCount += 1
        default: break
        }
    }

    private mutating func countErrors(_ count: Int, code: Int?) {
        let isRoom = errors[code] != nil || errors.count < Self.mostCodes
        errors[isRoom ? code : nil, default: 0] += count
    }
}

/// The ads of a session that is open.
struct AdTrack: Sendable {
    private var metricalc = AdMetricalc()
    private(set) var summary = AdSummary()

    mutating func add(_ event: Event) {
        var metrics: [Metric] = []
        metricalc.process(event, into: &metrics)
        for metric in metrics { summary.add(metric) }
    }
}
