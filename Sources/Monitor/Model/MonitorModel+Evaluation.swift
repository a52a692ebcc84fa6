internal import Instrument
internal import InstrumentHTTP
internal import InstrumentQuality
internal import InstrumentWatch

extension MonitorModel {
    /// Samples all streams, and evaluates the alerts.
    mutating func evaluate(at now: Timestamp) {
        for slot in order {
            sample(slot, at: now)
            guard let state = streams[slot], !state.alerts.isEmpty else { continue }
            for index in state.alerts { evaluate(configuration.alerts[index], state, at: now) }
        }
    }

    private mutating func evaluate(_ alert: AlertConfiguration, _ state: StreamState, at now: Timestamp) {
        let isFiring = engine.isFiring(alert.name, of: state.stream.name)
        let expression = isFiring ? alert.keepWhile ?? alert.condition : alert.condition
        var holds: Bool? = true
        var value: Double?
        for condition in expression.conditions {
            guard let found = state.value(of: condition, at: now) else {
                holds = nil
                break
            }
            if value == nil { value = found }
            if !condition.comparison.holds(found, condition.threshold) {
                holds = false
                break
            }
        }
        let change = engine.observe(
            alert,
            state.stream,
            holds: holds,
            value: value,
            reason: state.reason(at: now),
            at: now
        )
        if let change {
            let name = alert.name
            self.change(state.slot) {
                $0.note(
                    "alert",
                    change == .fires ? "alert \(name) fires" : "alert \(name) is resolved",
                    at: now.wallTime
                )
            }
        }
        if holds == true { engine.attach(state.evidence, alert.name, state.stream.name) }
    }

    /// Adds what has passed since the last sample to the sums of a stream.
    mutating func sample(_ slot: Int, at now: Timestamp) {
        change(slot) { state in
            let live = state.liveFigures(at: now.instant)
            let errors = state.finished.errorCount
            if let live, let last = state.sampled {
                state.add(live, since: last.totals, elapsed: last.instant.duration(to: now.instant), at: now)
            } else if let live {
                state.add(live, since: StreamState.Figures(), elapsed: .zero, at: now)
            }
            state.integrals.errors = Double(errors)
            state.integrals.requests = Double(state.finished.requestCount)
            state.integrals.failedRequests = Double(state.finished.failedRequests)
            if let live { state.sampled = (now.instant, live, errors) }
            let elapsed = state.lastSample.map { $0.duration(to: now.instant).seconds } ?? 0
            state.lastSample = now.instant
            if let up = state.isUp {
                state.integrals.up.0 += up ? elapsed : 0
                state.integrals.up.1 += elapsed
                if !up { state.chart.update(at: now.wallTime) { $0.wasDown = true } }
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

extension StreamState {
    fileprivate mutating func add(_ live: Figures, since last: Figures, elapsed: Duration, at now: Timestamp) {
        let playing = max(0, live.playing - last.playing)
        let rebuffering = max(0, live.rebuffering - last.rebuffering)
        integrals.playing += Double(playing) / 1000
        integrals.rebuffering += Double(rebuffering) / 1000
        integrals.rebuffers += Double(max(0, live.rebuffers - last.rebuffers))
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
        chart.update(at: now.wallTime) { point in
            point.playing = point.playing.saturatingAdd(UInt32(clamping: playing))
            point.rebuffering = point.rebuffering.saturatingAdd(UInt32(clamping: rebuffering))
            if let bitrate { point.bitrate = UInt32(clamping: bitrate / 1000) }
            if let latency { point.latency = UInt32(clamping: latency.milliseconds) }
            if let buffered { point.buffer = UInt32(clamping: buffered.milliseconds) }
        }
    }

    /// The value of a condition's metric; nil if the value is unknown.
    func value(of condition: AlertExpression.Condition, at now: Timestamp) -> Double? {
        if condition.metric.description == "check_failed" { return checkValue(condition, at: now.instant) }
        guard let window = condition.window else { return latestValue(of: condition.metric, at: now.instant) }
        guard let history = windows.first(where: { $0.window == window }) else { return nil }
        return Self.value(of: condition.metric, from: history.start(at: now.instant), to: integrals)
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
        switch metric.description {
        case "up": return isUp.map { $0 ? 1 : 0 }
        case "rebuffer_ratio":
            return Self.ratio(Double(figures.rebuffering), Double(figures.playing + figures.rebuffering))
        case "rebuffers": return Double(figures.rebuffers)
        case "rebuffer_seconds": return Double(figures.rebuffering) / 1000
        case "playing_seconds": return Double(figures.playing) / 1000
        case "startup_seconds": return (figures.startup ?? figures.joining).map { Double($0) / 1000 }
        case "bitrate": return bitrate.map(Double.init)
        case "latency_seconds": return latency?.seconds
        case "buffer_seconds": return buffered?.seconds
        case "errors": return Double(figures.errors)
        case "error_ratio": return Self.ratio(Double(figures.failedRequests), Double(figures.requests))
        case "requests": return Double(figures.requests)
        case "request_seconds": return Self.ratio(figures.requestTime, Double(figures.requests))
        case "playlist_age_seconds": return playlistAge(at: now)?.seconds
        case "loudness_lufs": return loudness
        default: return nil
        }
    }

    private static func ratio(_ part: Double, _ whole: Double) -> Double? { whole > 0 ? part / whole : nil }

    private static func value(of metric: AlertMetric, from a: WindowSums, to b: WindowSums) -> Double? {
        let mean = { (path: KeyPath<WindowSums, (Double, Double)>) in
            ratio(b[keyPath: path].0 - a[keyPath: path].0, b[keyPath: path].1 - a[keyPath: path].1)
        }
        let (playing, rebuffering) = (b.playing - a.playing, b.rebuffering - a.rebuffering)
        switch metric.description {
        case "up": return mean(\.up)
        case "rebuffer_ratio": return ratio(rebuffering, playing + rebuffering)
        case "rebuffers": return b.rebuffers - a.rebuffers
        case "rebuffer_seconds": return rebuffering
        case "playing_seconds": return playing
        case "startup_seconds": return ratio(b.startupTime - a.startupTime, b.startups - a.startups)
        case "bitrate": return mean(\.bitrate)
        case "latency_seconds": return mean(\.latency)
        case "buffer_seconds": return mean(\.buffer)
        case "errors": return b.errors - a.errors
        case "error_ratio": return ratio(b.failedRequests - a.failedRequests, b.requests - a.requests)
        case "requests": return b.requests - a.requests
        case "request_seconds": return ratio(b.requestTime - a.requestTime, b.requests - a.requests)
        case "playlist_age_seconds": return mean(\.age)
        case "loudness_lufs": return mean(\.loudness)
        default: return nil
        }
    }

    /// Why a stream is in trouble: its latest error of the last five minutes, else the rules that are broken.
    func reason(at now: Timestamp) -> String {
        if let lastFailure, lastFailure.time.instant.duration(to: now.instant) < .seconds(300) {
            return lastFailure.code
        }
        return checks.filter { $0.value.isBroken }.keys.sorted().prefix(3).joined(separator: " ")
    }

    /// The latest events, for a message.
    var evidence: [LogEntry] { Array(log.latest.suffix(5)) }
}

extension AlertConfiguration {
    /// Whether the labels of every condition select the stream.
    func concerns(_ stream: WatchedStream) -> Bool {
        (condition.conditions + (keepWhile?.conditions ?? [])).allSatisfy { condition in
            condition.labels.allSatisfy { name, value in
                switch name {
                case "rule": true
                case "stream": stream.name == value
                default: stream.labels[name] == value
                }
            }
        }
    }
}
