internal import Instrument
internal import InstrumentWatch

/// What alerts see of a stream at a moment, made from its state: whether conditions hold, and why.
struct AlertEvaluation: Sendable {
    let state: StreamState
    private let now: Timestamp

    init(of state: StreamState, at now: Timestamp) { (self.state, self.now) = (state, now) }

    // MARK: Conditions

    /// Whether all conditions hold, and the first known value.
    ///
    /// A condition that does not hold decides, whatever the others are; nil if none decides and a value is unknown.
    func holds(_ expression: AlertExpression) -> (holds: Bool?, value: Double?) {
        let values = expression.conditions.map { ($0, value(of: $0)) }
        let results = values.map { condition, value in
            value.map { condition.comparison.holds($0, condition.threshold) }
        }
        let first = values.lazy.compactMap(\.1).first
        if results.contains(false) { return (false, first) }
        // A stream that has not begun is known to have no trouble.
        if results.contains(nil) { return (state.announcement == nil ? nil : false, first) }
        return (true, first)
    }

    /// The value of a condition's metric; nil if the value is unknown.
    private func value(of condition: AlertExpression.Condition) -> Double? {
        if condition.metric == .checkFailed {
            let rule = condition.labels["rule"]
            return Double(state.checks.count(of: rule, within: condition.window, at: now.instant))
        }
        let least = state.stream.schedule.leastWatched(in: condition.window)
        guard let window = condition.window else { return latestValue(of: condition.metric, least: least) }
        let start = state.averages.sums(atStartOf: window, at: now.instant)
        return start.flatMap { state.averages.sums.value(of: condition.metric, since: $0, least: least.seconds) }
    }

    private func latestValue(of metric: AlertMetric, least: Duration) -> Double? {
        let figures = state.figures(at: now.instant)
        switch metric {
        case .up: return state.isUp.map { $0 ? 1 : 0 }
        case .rebufferRatio:
            let (rebuffering, playing) = (Double(figures.rebuffering) / 1000, Double(figures.playing) / 1000)
            return MetricShare.rebufferRatio(rebuffering, playing, least: least.seconds)
        case .rebuffers: return Double(figures.rebuffers)
        case .rebufferSeconds: return Double(figures.rebuffering) / 1000
        case .playingSeconds: return Double(figures.playing) / 1000
        // Nobody waits for pictures before the beginning.
        case .startupSeconds where state.announcement != nil: return nil
        case .startupSeconds: return (figures.startup ?? figures.joining).map { Double($0) / 1000 }
        case .bitrate: return state.bitrate.map(Double.init)
        case .latencySeconds: return state.latency?.seconds
        case .bufferSeconds: return state.buffered?.seconds
        case .errors: return Double(figures.errors)
        case .errorRatio: return MetricShare.errorRatio(Double(figures.failedRequests), Double(figures.requests))
        case .requests: return Double(figures.requests)
        case .requestSeconds: return MetricShare.ratio(figures.requestTime, Double(figures.requests))
        case .playlistAgeSeconds: return state.age?.value(at: now.instant)?.seconds
        case .loudness: return state.loudness
        // Its value depends on the labels of the condition: `value(of:)`.
        case .checkFailed: return nil
        }
    }

    // MARK: Reasons

    /// Why a stream is in trouble: the request that failed first, else the latest error of the last five minutes, else
    /// the rules that are broken.
    var reason: String {
        if let cause = state.cause, cause.resource != nil { return cause.title }
        if let failure = state.lastFailure, failure.time.instant.duration(to: now.instant) < .seconds(300) {
            return failure.code
        }
        return state.checks.broken.prefix(3).joined(separator: " ")
    }

    /// The cause of an alert that fires: the finding for an alert about a check of a stream that plays, else the cause
    /// of the stream's trouble.
    func cause(of alert: AlertConfiguration) -> StreamCause? {
        let cause = state.cause
        guard let condition = alert.condition.conditions.first(where: { $0.metric == .checkFailed }) else {
            return cause
        }
        if let cause, cause.kind != .check, state.isUp == false { return cause }
        guard var finding = state.checks.cause(of: condition.labels["rule"]) else { return cause }
        if finding.rule == "stale" || finding.rule == "mpd-stale" { finding.kind = .stale }
        // The same outage, as a player sees it.
        if finding.kind == .stale || finding.isFindingOfDelivery, let cause, cause.kind != .check { return cause }
        return finding
    }

    /// The signal of an alert that begins to fire.
    /// - Parameters:
    ///   - instance: what is known of the alert.
    ///   - own: what became different in the monitor itself.
    func signal(
        of alert: AlertConfiguration,
        _ instance: AlertEngine.Instance?,
        value: Double?,
        besides own: [StreamChange]
    ) -> IncidentSignal {
        let (cause, reason) = (cause(of: alert), reason)
        var signal = IncidentSignal(
            alert,
            state.stream,
            cause: cause,
            reason: reason.isEmpty ? instance?.reason ?? "" : reason,
            since: instance?.since ?? now,
            value: value,
            events: Array(state.log.latest.suffix(5))
        )
        // The condition holds some time after the fault began.
        let begin = min(signal.since.wallTime, cause?.since ?? signal.since.wallTime)
        signal.changes = (state.changes.changes + own).filter { $0.mayExplain(faultSince: begin) }
        return signal
    }

    /// How long a value may be unknown.
    var longestUnknown: Duration { state.stream.schedule.longestUnknown }
}

/// Shares that are known only from enough of the whole.
private enum MetricShare {
    private static let leastRequests = 10.0

    static func ratio(_ part: Double, _ whole: Double) -> Double? { whole > 0 ? part / whole : nil }

    /// The share of stalls. Stalls in a few seconds of watching are no share yet: the value is unknown.
    static func rebufferRatio(_ rebuffering: Double, _ playing: Double, least: Double) -> Double? {
        let whole = playing + rebuffering
        return rebuffering > 0 && whole < least ? nil : ratio(rebuffering, whole)
    }

    /// The share of failed requests. Of a few requests, some of which failed, there is no share yet; that all of them
    /// fail is known at once.
    static func errorRatio(_ failed: Double, _ requests: Double) -> Double? {
        requests < leastRequests && failed > 0 && failed < requests ? nil : ratio(failed, requests)
    }
}

extension WindowSums {
    /// The value of a metric since the time of earlier sums; nil if the value is unknown.
    fileprivate func value(of metric: AlertMetric, since a: WindowSums, least: Double) -> Double? {
        let b = self
        let mean = { (path: KeyPath<WindowSums, (Double, Double)>) in
            MetricShare.ratio(b[keyPath: path].0 - a[keyPath: path].0, b[keyPath: path].1 - a[keyPath: path].1)
        }
        let (playing, rebuffering) = (b.playing - a.playing, b.rebuffering - a.rebuffering)
        switch metric {
        case .up: return mean(\.up)
        case .rebufferRatio: return MetricShare.rebufferRatio(rebuffering, playing, least: least)
        case .rebuffers: return b.rebuffers - a.rebuffers
        case .rebufferSeconds: return rebuffering
        case .playingSeconds: return playing
        case .startupSeconds: return MetricShare.ratio(b.startupTime - a.startupTime, b.startups - a.startups)
        case .bitrate: return mean(\.bitrate)
        case .latencySeconds: return mean(\.latency)
        case .bufferSeconds: return mean(\.buffer)
        case .errors: return b.errors - a.errors
        case .errorRatio: return MetricShare.errorRatio(b.failedRequests - a.failedRequests, b.requests - a.requests)
        case .requests: return b.requests - a.requests
        case .requestSeconds: return MetricShare.ratio(b.requestTime - a.requestTime, b.requests - a.requests)
        case .playlistAgeSeconds: return mean(\.age)
        case .loudness: return mean(\.loudness)
        // Its value depends on the labels of the condition: `value(of:)`.
        case .checkFailed: return nil
        }
    }
}

extension WatchedStream.Schedule {
    /// The time of playing and stalls from which a share of stalls follows: a minute, less for a short window and for
    /// a stream that plays less than two minutes of the window.
    fileprivate func leastWatched(in window: Duration?) -> Duration {
        let most = min(.seconds(60), window.map { $0 / 5 } ?? .seconds(60))
        guard case .sampled(let every, let length) = self else { return most }
        let sessions = window.map { max(1, ($0 / every).rounded(.down)) } ?? 1
        return min(most, length * sessions / 2)
    }

    /// How long a value may be unknown: longer than the pause between two sessions.
    fileprivate var longestUnknown: Duration {
        guard case .sampled(let every, _) = self else { return AlertEngine.longestUnknown }
        return max(AlertEngine.longestUnknown, every * 2)
    }
}

extension WatchConfiguration {
    /// The distinct windows of the alerts.
    var alertWindows: [Duration] {
        let expressions = alerts.flatMap { [$0.condition, $0.keepWhile].compactMap(\.self) }
        return Set(expressions.flatMap(\.conditions).compactMap(\.window)).sorted()
    }
}
