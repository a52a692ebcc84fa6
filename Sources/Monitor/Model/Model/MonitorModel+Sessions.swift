package import Instrument
internal import InstrumentWatch

/// The sessions of streams: starts, ends, and what sessions report.
extension MonitorModel {
    // MARK: Starts

    mutating func add(_ stream: WatchedStream, continuousCount: Int, at now: Timestamp) {
        let (offset, start) = starts.place(stream.schedule, continuousCount: continuousCount, at: now.instant)
        let slot = streams.add(stream, offset: offset, start: start) { [configuration, windows] in
            $0.configure(configuration.alerts, windows: windows)
        }
        schedule(slot, at: start)
    }

    private mutating func schedule(_ slot: Int, at deadline: MonotonicInstant) {
        streams.change(slot) { $0.nextDeadline = deadline }
        deadlines.insert(.init(deadline: deadline, slot: slot))
    }

    private mutating func nextStart(of slot: Int, after run: StreamRun, at now: MonotonicInstant) -> MonotonicInstant {
        guard let state = streams[slot] else { return now }
        return starts.start(
            of: state,
            after: run,
            retryingWithin: retryDelay,
            isTroubled: isTroubled(state),
            at: now
        )
    }

    /// Moves the next session of a stream that waits forward, unless it is earlier.
    mutating func tryBy(_ instant: MonotonicInstant, _ slot: Int) {
        guard case .waiting(let until) = streams[slot]?.phase, until > instant, until != .never else { return }
        streams.change(slot) { $0.phase = .waiting(until: instant) }
        schedule(slot, at: instant)
    }

    /// Stops a session; the next one starts as soon as it has ended.
    mutating func replace(_ slot: Int, at now: Timestamp) -> [MonitorEffect] {
        streams.change(slot) { $0.withRun { $0.isReplaced = true } }
        return stop(slot, at: now)
    }

    /// The longest delay until a stream in trouble is tried again.
    var retryDelay: Duration { max(options.retryInterval, options.retrySpacing * troubledCount) }

    /// Whether a stream is tried again soon: it is down, or an alert fires.
    func isTroubled(_ state: StreamState) -> Bool {
        state.isUp == false
            || state.alerts.contains { engine.isFiring(configuration.alerts[$0].name, of: state.stream.name) }
    }

    // MARK: What is due

    mutating func perform(_ slot: Int, at now: Timestamp) -> [MonitorEffect] {
        guard let state = streams[slot] else { return [] }
        streams.change(slot) { $0.nextDeadline = nil }
        switch state.phase {
        // A deadline of a session of another monitor may come behind its end.
        case .waiting: return isStopping || state.stream.origin != nil ? [] : start(slot, at: now)
        case .running(let run): return perform(run, slot, at: now)
        case .stopping(let run, _):
            sessions.abandon()
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
        if sessions.running >= options.maxSessions || needsTab && browser.tabCount >= options.maxTabs {
            sessions.delayStart()
            schedule(slot, at: now.instant.advanced(by: .seconds(1)))
            return []
        }
        let id = SessionID(slot: slot, number: sessions.begin(), stream: stream.name)
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
        sessions.end()
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
        let next = nextStart(of: slot, after: run, at: now.instant)
        streams.change(slot) { $0.phase = .waiting(until: next) }
        schedule(slot, at: next)
        return []
    }

    /// Plans what a session that runs needs next: its end, the instant at which it counts as down, its replacement.
    mutating func plan(_ slot: Int) {
        guard case .running(let run) = streams[slot]?.phase, let stream = streams[slot]?.stream else { return }
        let dates = [
            run.end, run.replacementDue, run.downSince == nil ? run.downDue(stream) : nil,
            run.retryDue(after: retryDelay),
        ]
        guard let next = dates.compactMap(\.self).min(), next != streams[slot]?.nextDeadline else { return }
        schedule(slot, at: next)
    }

    /// Whether the news of a stream until an instant have arrived: those of another monitor wait in its queue for some
    /// seconds, and do not come from a place that is silent.
    private func isHeard(_ stream: WatchedStream, behind instant: MonotonicInstant) -> Bool {
        guard let origin = stream.origin else { return true }
        guard let latest = places?.places[origin.place]?.latest.instant else { return false }
        return latest >= instant.advanced(by: .seconds(6))
    }

    /// Does what is due of a session that runs.
    private mutating func perform(_ run: StreamRun, _ slot: Int, at now: Timestamp) -> [MonitorEffect] {
        if let end = run.end, end <= now.instant { return stop(slot, at: now) }
        if let look = run.replacementDue, look <= now.instant {
            streams.change(slot) {
                if let begin = $0.announcement?.begin, begin <= now.instant { $0.announcement = nil }
            }
            return replace(slot, at: now)
        }
        if run.downSince != nil {
            if let due = run.retryDue(after: retryDelay), due <= now.instant {
                streams.change(slot) { $0.note("session", "session \(run.id.number) is replaced", at: now.wallTime) }
                return replace(slot, at: now)
            }
        } else if let stream = streams[slot]?.stream, let due = run.downDue(stream), due <= now.instant {
            guard isHeard(stream, behind: due) else {
                schedule(slot, at: now.instant.advanced(by: options.evaluationInterval))
                return []
            }
            let clock = historyClock
            streams.change(slot) { $0.countAsDown(run, clock, at: now) }
        }
        plan(slot)
        return []
    }

    // MARK: Reports

    /// Takes a report of a session. A report of a session that is over is ignored.
    package mutating func handle(_ input: MonitorInput, of id: SessionID, at now: Timestamp) -> [MonitorEffect] {
        guard streams[id.slot]?.run?.id == id else { return [] }
        switch input {
        case .event(let event):
            let clock = historyClock
            streams.change(id.slot) { $0.take(event, clock, at: now) }
            if let run = streams[id.slot]?.run, run.usesTab, run.hasShownPicture { browser.notePicture(of: run) }
            plan(id.slot)
        case .request(let request): streams.change(id.slot) { $0.take(request, at: now) }
        case .gauges(let gauges): streams.change(id.slot) { $0.take(gauges, at: now) }
        case .checked(let observation):
            return take(observation, id.slot, hold: options.checkHold, at: now)
        case .ended(let ending):
            let effects = finish(id.slot, ending, at: now)
            settle(id.slot, at: now)
            return effects
        }
        settle(id.slot, at: now)
        return []
    }

    /// Takes what a check found.
    /// - Parameter hold: how long a broken rule counts as broken after it was last seen broken.
    mutating func take(
        _ observation: CheckObservation,
        _ slot: Int,
        hold: Duration,
        at now: Timestamp
    ) -> [MonitorEffect] {
        guard let known = streams[slot]?.checks, let name = streams[slot]?.stream.name else { return [] }
        streams.change(slot) { $0.take(observation, hold: hold, at: now) }
        settle(slot, at: now)
        let broken = (streams[slot]?.checks.broken ?? []).map { ($0, known.isBroken($0)) }
        return evidence.keep(observation.evidence, of: name, broken: broken, at: now)
    }

    // MARK: Wishes

    /// Ends the wait of a stream for its next session. A session that shows a picture plays on; one that shows none is
    /// replaced.
    package mutating func tryNow(_ name: String, at now: Timestamp) -> (outcome: TryOutcome, effects: [MonitorEffect]) {
        guard let slot = streams.slots[name], let state = streams[slot] else { return (.unknown, []) }
        guard !isStopping else { return (.stopping, []) }
        guard state.stream.origin == nil else { return (.elsewhere, []) }
        switch state.phase {
        case .retired: return (.stopping, [])
        case .waiting:
            tryBy(now.instant, slot)
            return (.starts, [])
        case .stopping:
            streams.change(slot) { $0.withRun { $0.isReplaced = true } }
            return (.restarts, [])
        case .running:
            if state.isPlaying { return (.plays, []) }
            return (.restarts, replace(slot, at: now))
        }
    }

    /// Checks a stream once, beside its sessions and their checks.
    package mutating func checkNow(
        _ name: String,
        at now: Timestamp
    ) -> (outcome: CheckOutcome, effects: [MonitorEffect]) {
        guard let slot = streams.slots[name], let stream = streams[slot]?.stream else { return (.unknown, []) }
        if isStopping { return (.stopping, []) }
        if !stream.checks.isOn { return (.noChecks, []) }
        if checks.isChecking(slot) { return (.runs, []) }
        if checks.isFull { return (.busy, []) }
        checks.begin(slot, at: now.instant)
        streams.change(slot) { $0.revision += 1 }
        return (.starts, [.check(slot, stream)])
    }

    /// Takes what a check found that a person asked for. Rules that the whole check did not find broken are kept.
    package mutating func handle(
        _ progress: CheckProgress,
        ofCheck slot: Int,
        at now: Timestamp
    ) -> [MonitorEffect] {
        switch progress {
        case .found(var observation):
            guard checks.isChecking(slot) else { return [] }
            // A rule may be broken only later in the check.
            observation.isReadable = false
            return take(observation, slot, hold: options.checkHold, at: now)
        case .ended(let observation):
            guard let begin = checks.end(slot) else { return [] }
            streams.change(slot) { $0.note(outcomeOf: observation, at: now) }
            guard let observation, let settings = streams[slot]?.stream.checks else { return [] }
            let hold = max(.seconds(1), begin.duration(to: now.instant))
            return take(RequestedChecks.conclusion(observation, of: settings), slot, hold: hold, at: now)
        }
    }
}
