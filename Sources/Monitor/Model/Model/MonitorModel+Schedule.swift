package import Instrument
internal import InstrumentWatch

extension MonitorModel {
    mutating func add(_ stream: WatchedStream, at now: Timestamp, continuousCount: Int) {
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
        let slot = streams.add(stream, offset: offset, start: start) { [configuration, windows] in
            $0.configure(configuration.alerts, windows: windows)
        }
        schedule(slot, at: start)
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
        streams.change(slot) { $0.nextDeadline = deadline }
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
        streams.change(slot) { $0.nextDeadline = nil }
        switch state.phase {
        // A deadline of a session of another monitor may come behind its end.
        case .waiting: return isStopping || state.stream.origin != nil ? [] : start(slot, at: now)
        case .running(let run): return perform(run, slot, at: now)
        case .stopping(let run, _):
            abandonedSessions += 1
            streams.change(slot) {
                $0.note("session", "session \(run.id.number) did not end after its stop", at: now.wallTime)
            }
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
        var run = StreamRun(id: id, begin: now)
        run.usesTab = needsTab
        if needsTab { browser.begin() }
        if case .sampled(_, let length) = stream.schedule { run.end = now.instant.advanced(by: length) }
        streams.change(slot) { $0.begin(run, at: now) }
        plan(slot)
        return [.start(id, stream)]
    }

    /// Asks the session of a stream to stop.
    mutating func stop(_ slot: Int, at now: Timestamp) -> [MonitorEffect] {
        guard case .running(let run) = streams[slot]?.phase else { return [] }
        // The monitor that plays it continues.
        if run.remote != nil { return finish(slot, .stopped, isLost: true, at: now) }
        let until = now.instant.advanced(by: options.stopLimit)
        streams.change(slot) { $0.phase = .stopping(run, until: until) }
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
        if run.usesTab { browser.finish(run, ending, at: now) }
        sample(slot, at: now)
        let (clock, isWatched) = (historyClock, !isStopping && !state.isRemoved)
        streams.change(slot) { $0.end(run, ending, isLost: isLost, isWatched: isWatched, clock, at: now) }
        if !isWatched {
            streams.change(slot) { $0.phase = .retired }
            if state.isRemoved { streams.forget(slot, at: now) }
            return []
        }
        if run.remote != nil {
            streams.change(slot) { $0.phase = .waiting(until: .never) }
            return []
        }
        let next = nextStart(of: slot, after: run, at: now)
        streams.change(slot) { $0.phase = .waiting(until: next) }
        schedule(slot, at: next)
        return []
    }

    private mutating func nextStart(of slot: Int, after run: StreamRun, at now: Timestamp) -> MonotonicInstant {
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
