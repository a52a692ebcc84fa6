internal import Instrument
internal import InstrumentHTTP
internal import InstrumentQuality
internal import InstrumentWatch

extension MonitorModel {
    /// Samples all streams, and evaluates the alerts.
    mutating func evaluate(at now: Timestamp) {
        followClock(to: now)
        let historyNow = historyTime(at: now)
        judgePlaces(at: now)
        // Before the source is read to its end, streams are in states of the past.
        let isCurrent = places?.isCaughtUp ?? true
        troubledCount = order.count { slot in streams[slot].map(isTroubled) ?? false }
        for slot in order {
            sample(slot, at: now)
            settle(slot, at: now)
            guard let state = streams[slot] else { continue }
            if !configuration.objectives.isEmpty {
                objectives.take(state, configuration.objectives, at: historyNow)
            }
            guard isCurrent else { continue }
            for index in state.alerts { evaluate(configuration.alerts[index], state, at: now) }
        }
        for change in objectives.judge(configuration.objectives, at: now, historyNow) {
            switch change {
            case .fires(let signal): book.fires(signal, at: now)
            case .resolves(let alert, let stream): book.resolves(alert, of: stream, at: now)
            }
        }
        judgeReceivers(at: now)
        judgeBrowser(at: now)
    }

    private mutating func evaluate(_ alert: AlertConfiguration, _ state: StreamState, at now: Timestamp) {
        let isFiring = engine.isFiring(alert.name, of: state.stream.name)
        let expression = isFiring ? alert.keepWhile ?? alert.condition : alert.condition
        let (holds, value) = state.holds(expression, at: now)
        let reason = state.reason(at: now)
        let change = engine.observe(
            alert,
            state.stream,
            holds: holds,
            value: value,
            reason: reason,
            longestUnknown: state.stream.schedule.longestUnknown,
            at: now
        )
        if change != nil { lastingChanges += 1 }
        let name = alert.name
        switch change {
        case .fires:
            self.change(state.slot) { $0.note("alert", "alert \(name) fires", at: now.wallTime) }
            tryBy(now.instant.advanced(by: retryDelay), state.slot)
            signal(alert, state, reason: reason, value: value, at: now)
        case .resolves:
            self.change(state.slot) { $0.note("alert", "alert \(name) is resolved", at: now.wallTime) }
            book.resolves(name, of: state.stream.name, at: now)
        case nil: if isFiring, let cause = state.cause { book.explains(cause, of: state.stream, at: now) }
        }
    }

    private mutating func signal(
        _ alert: AlertConfiguration,
        _ state: StreamState,
        reason: String,
        value: Double?,
        at now: Timestamp
    ) {
        let instance = engine.instances[AlertEngine.Key(alert: alert.name, stream: state.stream.name)]
        let cause = state.cause(of: alert, at: now.wallTime)
        var signal = IncidentSignal(
            alert,
            state.stream,
            cause: cause,
            reason: reason.isEmpty ? instance?.reason ?? "" : reason,
            since: instance?.since ?? now,
            value: value,
            events: state.evidence
        )
        // The condition holds some time after the fault began.
        let begin = min(signal.since.wallTime, cause?.since ?? signal.since.wallTime)
        let changes = state.changes.changes + ownChanges.changes
        signal.changes = changes.filter { $0.mayExplain(faultSince: begin) }
        book.fires(signal, at: now)
    }

    /// Adds what has passed since the last sample to the sums of a stream.
    mutating func sample(_ slot: Int, at now: Timestamp) {
        let (recovery, time) = (options.recoveryTime, historyTime(at: now))
        change(slot) { state in
            if var live = state.settledFigures(at: now.instant) {
                let last = state.sampled
                live.raise(to: last?.totals)
                let elapsed = last?.instant.duration(to: now.instant) ?? .zero
                state.add(live, since: last?.totals ?? StreamState.Figures(), elapsed: elapsed, at: time)
                state.sampled = (now.instant, live)
                // Back-off is for streams that do not play: after a while of playing, a failure is the first one again.
                if live.playing >= recovery.milliseconds { (state.failures, state.losses) = (0, 0) }
            }
            let elapsed = state.lastSample.map { $0.duration(to: now.instant).seconds } ?? 0
            state.lastSample = now.instant
            if let up = state.isUp {
                state.integrals.up.0 += up ? elapsed : 0
                state.integrals.up.1 += elapsed
                state.today.add(up: up ? elapsed : 0, of: elapsed, at: time)
                if !up { state.chart.update(at: time) { $0.wasDown = true } }
            }
            if [.impaired, .stalled].contains(state.word) {
                state.chart.update(at: time) { $0.wasImpaired = true }
            }
            if let age = state.playlistAge(at: now.instant) {
                state.integrals.age.0 += age.seconds * elapsed
                state.integrals.age.1 += elapsed
            }
            if let loudness = state.loudness {
                state.integrals.loudness.0 += loudness * elapsed
                state.integrals.loudness.1 += elapsed
            }
            for index in state.windows.indices { state.windows[index].record(state.integrals, at: now.instant) }
        }
    }
}

extension StreamState.Figures {
    /// Replaces the sums that are smaller than those of an earlier sample, so that no time counts twice.
    fileprivate mutating func raise(to earlier: StreamState.Figures?) {
        guard let earlier else { return }
        (playing, rebuffering) = (max(playing, earlier.playing), max(rebuffering, earlier.rebuffering))
        rebuffers = max(rebuffers, earlier.rebuffers)
    }
}

extension StreamState {
    fileprivate mutating func add(_ live: Figures, since last: Figures, elapsed: Duration, at time: WallTime) {
        let (playing, rebuffering) = (live.playing - last.playing, live.rebuffering - last.rebuffering)
        integrals.playing += Double(playing) / 1000
        integrals.rebuffering += Double(rebuffering) / 1000
        integrals.rebuffers += Double(live.rebuffers - last.rebuffers)
        let seconds = elapsed.seconds
        let isPlaying = run?.model?.state == .playing
        if let bitrate, isPlaying {
            integrals.bitrate.0 += Double(bitrate) * seconds
            integrals.bitrate.1 += seconds
        }
        if let latency, isPlaying {
            integrals.latency.0 += latency.seconds * seconds
            integrals.latency.1 += seconds
        }
        if let buffered {
            integrals.buffer.0 += buffered.seconds * seconds
            integrals.buffer.1 += seconds
        }
        let (bitrate, latency, buffered) = (bitrate, latency, buffered)
        chart.update(at: time) { point in
            point.playing = point.playing.saturatingAdd(UInt32(clamping: playing))
            point.rebuffering = point.rebuffering.saturatingAdd(UInt32(clamping: rebuffering))
            if let bitrate { point.bitrate = UInt32(clamping: bitrate / 1000) }
            if let latency { point.latency = UInt32(clamping: latency.milliseconds) }
            if let buffered { point.buffer = UInt32(clamping: buffered.milliseconds) }
        }
    }

    /// Whether all conditions hold, and the first known value.
    ///
    /// A condition that does not hold decides, whatever the others are; nil if none decides and a value is unknown.
    func holds(_ expression: AlertExpression, at now: Timestamp) -> (holds: Bool?, value: Double?) {
        let values = expression.conditions.map { ($0, value(of: $0, at: now)) }
        let results = values.map { condition, value in
            value.map { condition.comparison.holds($0, condition.threshold) }
        }
        let first = values.lazy.compactMap(\.1).first
        if results.contains(false) { return (false, first) }
        // A stream that has not begun is known to have no trouble.
        if results.contains(nil) { return (announcement == nil ? nil : false, first) }
        return (true, first)
    }

    /// The value of a condition's metric; nil if the value is unknown.
    func value(of condition: AlertExpression.Condition, at now: Timestamp) -> Double? {
        if condition.metric == .checkFailed { return checkValue(condition, at: now.instant) }
        guard let window = condition.window else { return latestValue(of: condition.metric, at: now.instant) }
        guard let history = windows.first(where: { $0.window == window }) else { return nil }
        let start = history.start(at: now.instant)
        let least = stream.schedule.leastWatched(in: window).seconds
        return Self.value(of: condition.metric, from: start, to: integrals, least: least)
    }

    /// The number of broken rules, or of one rule; over a window, the number of those that were broken in it.
    private func checkValue(_ condition: AlertExpression.Condition, at now: MonotonicInstant) -> Double? {
        let rule = condition.labels["rule"]
        let isWanted = { (name: String, check: Check) in
            (rule == nil || rule == name)
                && (check.isBroken || condition.window.map { check.latest.duration(to: now) < $0 } ?? false)
        }
        return Double(checks.count { isWanted($0.key, $0.value) })
    }

    private func latestValue(of metric: AlertMetric, at now: MonotonicInstant) -> Double? {
        let figures = figures(at: now)
        switch metric {
        case .up: return isUp.map { $0 ? 1 : 0 }
        case .rebufferRatio:
            let least = stream.schedule.leastWatched(in: nil).seconds
            let (rebuffering, playing) = (Double(figures.rebuffering) / 1000, Double(figures.playing) / 1000)
            return Self.rebufferRatio(rebuffering, playing, least: least)
        case .rebuffers: return Double(figures.rebuffers)
        case .rebufferSeconds: return Double(figures.rebuffering) / 1000
        case .playingSeconds: return Double(figures.playing) / 1000
        // Nobody waits for pictures before the beginning.
        case .startupSeconds where announcement != nil: return nil
        case .startupSeconds: return (figures.startup ?? figures.joining).map { Double($0) / 1000 }
        case .bitrate: return bitrate.map(Double.init)
        case .latencySeconds: return latency?.seconds
        case .bufferSeconds: return buffered?.seconds
        case .errors: return Double(figures.errors)
        case .errorRatio: return Self.errorRatio(Double(figures.failedRequests), Double(figures.requests))
        case .requests: return Double(figures.requests)
        case .requestSeconds: return Self.ratio(figures.requestTime, Double(figures.requests))
        case .playlistAgeSeconds: return playlistAge(at: now)?.seconds
        case .loudness: return loudness
        // Its value depends on the labels of the condition: `checkValue`.
        case .checkFailed: return nil
        }
    }

    private static func ratio(_ part: Double, _ whole: Double) -> Double? { whole > 0 ? part / whole : nil }

    /// The share of stalls. Stalls in a few seconds of watching are no share yet: the value is unknown.
    private static func rebufferRatio(_ rebuffering: Double, _ playing: Double, least: Double) -> Double? {
        let whole = playing + rebuffering
        return rebuffering > 0 && whole < least ? nil : ratio(rebuffering, whole)
    }

    /// The share of failed requests. Of a few requests, some of which failed, there is no share yet; that all of them
    /// fail is known at once.
    private static func errorRatio(_ failed: Double, _ requests: Double) -> Double? {
        requests < leastRequests && failed > 0 && failed < requests ? nil : ratio(failed, requests)
    }

    private static var leastRequests: Double { 10 }

    private static func value(
        of metric: AlertMetric,
        from a: WindowSums,
        to b: WindowSums,
        least: Double
    ) -> Double? {
        let mean = { (path: KeyPath<WindowSums, (Double, Double)>) in
            ratio(b[keyPath: path].0 - a[keyPath: path].0, b[keyPath: path].1 - a[keyPath: path].1)
        }
        let (playing, rebuffering) = (b.playing - a.playing, b.rebuffering - a.rebuffering)
        switch metric {
        case .up: return mean(\.up)
        case .rebufferRatio: return rebufferRatio(rebuffering, playing, least: least)
        case .rebuffers: return b.rebuffers - a.rebuffers
        case .rebufferSeconds: return rebuffering
        case .playingSeconds: return playing
        case .startupSeconds: return ratio(b.startupTime - a.startupTime, b.startups - a.startups)
        case .bitrate: return mean(\.bitrate)
        case .latencySeconds: return mean(\.latency)
        case .bufferSeconds: return mean(\.buffer)
        case .errors: return b.errors - a.errors
        case .errorRatio: return errorRatio(b.failedRequests - a.failedRequests, b.requests - a.requests)
        case .requests: return b.requests - a.requests
        case .requestSeconds: return ratio(b.requestTime - a.requestTime, b.requests - a.requests)
        case .playlistAgeSeconds: return mean(\.age)
        case .loudness: return mean(\.loudness)
        // Its value depends on the labels of the condition: `checkValue`.
        case .checkFailed: return nil
        }
    }

    /// Why a stream is in trouble: the request that failed first, else the latest error of the last five minutes, else
    /// the rules that are broken.
    func reason(at now: Timestamp) -> String {
        if let cause, cause.resource != nil { return cause.title }
        if let lastFailure, lastFailure.time.instant.duration(to: now.instant) < .seconds(300) {
            return lastFailure.code
        }
        return checks.filter { $0.value.isBroken }.keys.sorted().prefix(3).joined(separator: " ")
    }

    /// The cause of an alert that fires: the finding for an alert about a check of a stream that plays, else the cause
    /// of the stream's trouble.
    func cause(of alert: AlertConfiguration, at now: WallTime) -> StreamCause? {
        guard let condition = alert.condition.conditions.first(where: { $0.metric == .checkFailed }) else {
            return cause
        }
        if let cause, cause.kind != .check, isUp == false { return cause }
        let wanted = condition.labels["rule"]
        let found = checks.filter { $0.value.isBroken && (wanted == nil || wanted == $0.key) }.min { $0.key < $1.key }
        guard let (rule, check) = found else { return cause }
        var finding = StreamState.cause(of: rule, check)
        if ["stale", "mpd-stale"].contains(rule) { finding.kind = .stale }
        // The same outage, as a player sees it.
        if finding.kind == .stale || finding.isFindingOfDelivery, let cause, cause.kind != .check { return cause }
        return finding
    }

    /// The latest events, for a message.
    var evidence: [LogEntry] { Array(log.latest.suffix(5)) }
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
