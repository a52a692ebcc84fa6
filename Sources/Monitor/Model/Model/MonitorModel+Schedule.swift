package import Instrument
internal import InstrumentWatch

extension MonitorModel {
    mutating func add(_ stream: WatchedStream, at now: Timestamp, continuousCount: Int) {
        let slot = nextSlot
        nextSlot += 1
        var offset = Duration.zero
        let start: MonotonicInstant
        switch stream.schedule {
        case .sampled(let every, _):
            let place = placed[every, default: 0]
            placed[every] = place + 1
            offset = every * Self.evenShare(place)
            start =
                origin.instant.advanced(by: offset) >= now.instant
                ? origin.instant.advanced(by: offset) : nextStart(every, offset, after: now.instant)
        case .continuous:
            let place = placed[.zero, default: 0]
            placed[.zero] = place + 1
            let ramp = min(options.longestRamp, options.startSpacing * max(1, continuousCount))
            start = now.instant.advanced(by: place == 0 ? .zero : ramp * Self.evenShare(place))
        }
        var state = StreamState(slot: slot, stream, offset: offset, start: start)
        if let totals = retired.take(stream.name) { state.finished = totals }
        configure(&state)
        streams[slot] = state
        slots[stream.name] = slot
        order.append(slot)
        schedule(slot, at: start)
    }

    /// Sets what follows from the configuration.
    func configure(_ state: inout StreamState) {
        state.labelText = MetricsWriter.labels(
            [("stream", state.stream.origin?.stream ?? state.stream.name)] + state.stream.labels.sorted { $0 < $1 }
        )
        state.alerts = configuration.alerts.indices.filter { configuration.alerts[$0].concerns(state.stream) }
        let known = Dictionary(state.windows.map { ($0.window, $0) }) { first, _ in first }
        let baseline = state.integrals
        state.windows = windows.map { known[$0] ?? WindowHistory(window: $0, baseline: baseline) }
    }

    /// Shares of a period that are spread evenly, whatever their number: multiples of the golden ratio.
    static func evenShare(_ place: Int) -> Double {
        let share = Double(place) * 0.618_033_988_749_894_9
        return share - share.rounded(.down)
    }

    /// The next start of a sampled stream, with a jitter of up to a twentieth of the period.
    func nextStart(_ every: Duration, _ offset: Duration, after instant: MonotonicInstant) -> MonotonicInstant {
        let period = max(1, every.nanoseconds)
        let first = origin.instant.nanoseconds.saturatingAdd(offset.nanoseconds)
        let elapsed = instant.nanoseconds.saturatingSubtract(first)
        let rounds = elapsed < 0 ? 0 : elapsed / period + 1
        return MonotonicInstant(nanoseconds: first.saturatingAdd(period.saturatingMultiply(rounds)))
    }

    mutating func schedule(_ slot: Int, at deadline: MonotonicInstant) {
        change(slot) { $0.nextDeadline = deadline }
        deadlines.insert(.init(deadline: deadline, slot: slot))
    }

    /// Performs what is due at `now`.
    package mutating func advance(to now: Timestamp) -> [MonitorEffect] {
        delays.record(max(.zero, nextDeadline.duration(to: now.instant)), at: now.instant)
        var effects: [MonitorEffect] = []
        while let entry = deadlines.popDue(at: now.instant) {
            guard streams[entry.slot]?.nextDeadline == entry.deadline else { continue }
            effects += perform(entry.slot, at: now)
            settle(entry.slot, at: now)
        }
        let isEvaluation = nextEvaluation <= now.instant
        if isEvaluation {
            evaluate(at: now)
            nextEvaluation = now.instant.advanced(by: options.evaluationInterval)
        }
        guard isEvaluation || book.nextDeadline.map({ $0 <= now.instant }) ?? false else { return effects }
        return effects + advanceIncidents(to: now)
    }

    private mutating func perform(_ slot: Int, at now: Timestamp) -> [MonitorEffect] {
        guard let state = streams[slot] else { return [] }
        change(slot) { $0.nextDeadline = nil }
        switch state.phase {
        // A deadline of a session of another monitor may come behind its end.
        case .waiting: return isStopping || state.stream.origin != nil ? [] : start(slot, at: now)
        case .running(let run): return perform(run, slot, at: now)
        case .stopping(let run, _):
            abandonedSessions += 1
            change(slot) { $0.note("session", "session \(run.id.number) did not end after its stop", at: now.wallTime) }
            return finish(slot, .stopped, at: now)
        case .retired: return []
        }
    }

    private mutating func start(_ slot: Int, at now: Timestamp) -> [MonitorEffect] {
        guard let stream = streams[slot]?.stream else { return [] }
        let needsTab = stream.player.needsTab
        if runningCount >= options.maxSessions || needsTab && browser.tabCount >= options.maxTabs {
            delayedStarts += 1
            schedule(slot, at: now.instant.advanced(by: .seconds(1)))
            return []
        }
        let id = SessionID(slot: slot, number: nextSession, stream: stream.name)
        nextSession += 1
        runningCount += 1
        var run = StreamState.Run(id: id, begin: now)
        run.usesTab = needsTab
        if needsTab { browser.tabCount += 1 }
        if case .sampled(_, let length) = stream.schedule { run.end = now.instant.advanced(by: length) }
        change(slot) { state in
            state.phase = .running(run)
            state.finished.sessions += 1
            state.sampled = nil
            state.requestFailures.beginSession()
            state.note("session", "session \(id.number) begins", at: now.wallTime)
        }
        plan(slot)
        return [.start(id, stream)]
    }

    /// Asks the session of a stream to stop.
    mutating func stop(_ slot: Int, at now: Timestamp) -> [MonitorEffect] {
        guard case .running(let run) = streams[slot]?.phase else { return [] }
        // The monitor that plays it continues.
        if run.remote != nil { return finish(slot, .stopped, isLost: true, at: now) }
        let until = now.instant.advanced(by: options.stopLimit)
        change(slot) { $0.phase = .stopping(run, until: until) }
        schedule(slot, at: until)
        return [.stop(run.id)]
    }

    /// Ends the session of a stream and chooses the next start.
    /// - Parameter isLost: whether nothing is known of the end, which says nothing of the stream then.
    mutating func finish(
        _ slot: Int,
        _ ending: SessionEnding,
        isLost: Bool = false,
        at now: Timestamp
    ) -> [MonitorEffect] {
        guard let state = streams[slot], let run = state.run else { return [] }
        runningCount -= 1
        let isLost = isLost || ending.isLost
        if run.usesTab { browser.finish(run, ending, at: now) }
        sample(slot, at: now)
        // Nothing is known of the latest time of a session that ends without a last event.
        var figures = state.settledFigures(at: now.instant) ?? run.figures(at: now.instant)
        figures.joining = nil
        var isFailure = !run.hasShownPicture && run.nextLook == nil && !isStopping && !state.isRemoved
        if case .failed = ending { isFailure = true }
        if run.downSince != nil, !isStopping, !state.isRemoved { isFailure = true }
        // A stream that was stopped by a reload within its start limit says nothing.
        if ending == .stopped, !run.hasShownPicture, run.begin.instant.duration(to: now.instant) < .seconds(5) {
            isFailure = false
        }
        if isLost { isFailure = false }
        change(slot) { state in
            state.finished.playing += figures.playing
            state.finished.rebuffering += figures.rebuffering
            state.finished.rebuffers += figures.rebuffers
            state.lastSession = figures
            state.lastEnding = ending
            (state.bitrate, state.buffered, state.latency, state.loudness) = (nil, nil, nil, nil)
            state.sampled = nil
            state.losses = ending.isLost ? state.losses + 1 : 0
            if ending.isLost, run.downSince != nil { state.isUp = nil }
            if isFailure {
                state.finished.failedSessions += 1
                state.failures += 1
                (state.isUp, state.announcement) = (false, nil)
            } else if run.hasShownPicture {
                state.failures = 0
            }
            switch ending {
            case .failed(let code, let message):
                if state.lastFailure.map({ $0.code != code || $0.time.instant < run.begin.instant }) ?? true {
                    Self.note(error: code, message, in: &state, at: now)
                }
                if state.trouble.failure == nil { state.trouble.failure = state.lastFailure }
            case .lost: break
            case .ended, .stopped:
                if isFailure, run.downSince == nil, !run.hasShownPicture,
                    state.lastFailure.map({ $0.time.instant < run.begin.instant }) ?? true
                {
                    Self.note(error: "startTimeout", "the session ended without a picture", in: &state, at: now)
                }
            }
            state.clearUnseenChecks(of: run, at: now)
            let end = isLost && !ending.isLost ? "its last samples are missing" : ending.label
            state.note("session", "session \(run.id.number) ends: \(end)", at: now.wallTime)
        }
        if state.isRemoved || isStopping {
            change(slot) { $0.phase = .retired }
            if state.isRemoved { forget(slot, at: now) }
            return []
        }
        if run.remote != nil {
            change(slot) { $0.phase = .waiting(until: .never) }
            return []
        }
        let next = nextStart(of: slot, after: run, at: now)
        change(slot) { $0.phase = .waiting(until: next) }
        schedule(slot, at: next)
        return []
    }

    private mutating func nextStart(of slot: Int, after run: StreamState.Run, at now: Timestamp) -> MonotonicInstant {
        guard let state = streams[slot] else { return now.instant }
        var delay = Duration.zero
        let failures = max(state.failures, state.losses)
        if failures > 0 {
            let doubled = options.firstRetryDelay * (1 << min(failures - 1, 20))
            // Jitter, so that streams of a server that failed do not return at one instant.
            let jitter = Double.random(in: 0.8...1.2, using: &generator)
            delay = min(doubled * jitter, retryDelay * min(jitter, 1))
        }
        // A session that was replaced has waited for long enough.
        if run.isReplaced { return max(now.instant, run.begin.instant.advanced(by: .seconds(1))) }
        switch state.stream.schedule {
        case .sampled(let every, _):
            let start = nextStart(every, state.offset, after: now.instant.advanced(by: delay))
            let usual = start.advanced(by: every * Double.random(in: 0...0.05, using: &generator))
            return isTroubled(state) ? min(usual, now.instant.advanced(by: retryDelay)) : usual
        case .continuous:
            // Media that end at once do not make a loop of requests.
            return max(now.instant.advanced(by: delay), run.begin.instant.advanced(by: .seconds(1)))
        }
    }
}

extension SessionEnding {
    /// The ending for people.
    package var label: String {
        switch self {
        case .ended: "the media ended"
        case .stopped: "stopped"
        case .failed(let code, _): "failed (\(code))"
        case .lost(let reason): "the monitor could not play on: \(reason)"
        }
    }

    /// Whether what plays for the monitor failed.
    var isLost: Bool { if case .lost = self { true } else { false } }
}

extension StreamState {
    /// After a session, a rule that was not broken in it counts as kept.
    mutating func clearUnseenChecks(of run: Run, at now: Timestamp) {
        guard run.hasReadPlaylist else { return }
        for (rule, check) in checks where check.isBroken && !run.brokenRules.contains(rule) {
            checks[rule]?.isBroken = false
            checks[rule]?.since = now
            note("check", "\(rule) is kept again", at: now.wallTime)
        }
    }
}
