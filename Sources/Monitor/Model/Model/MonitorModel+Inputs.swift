package import Instrument
internal import InstrumentQuality
internal import InstrumentWatch

extension MonitorModel {
    /// Takes a report of a session. A report of a session that is over is ignored.
    package mutating func handle(_ input: MonitorInput, of id: SessionID, at now: Timestamp) -> [MonitorEffect] {
        guard let state = streams[id.slot], let run = state.run, run.id == id else { return [] }
        switch input {
        case .event(let event):
            change(id.slot) { Self.take(event, into: &$0, at: now) }
            if let run = streams[id.slot]?.run, run.usesTab, run.hasShownPicture { browser.notePicture(of: run) }
            plan(id.slot)
        case .request(let request): change(id.slot) { Self.take(request, into: &$0, at: now) }
        case .gauges(let gauges):
            change(id.slot) { state in
                state.bitrate = gauges.bitrate ?? state.bitrate
                state.buffered = gauges.buffered
                if let title = gauges.title { state.changes.see(title: String(title.prefix(200)), at: now.wallTime) }
                state.title = gauges.title ?? state.title
                guard let buffered = gauges.buffered, state.run?.hasShownPicture == true else { return }
                let playing = state.figures(at: now.instant).playing
                state.requestFailures.note(playing: playing, buffered: buffered.milliseconds, at: now.instant)
            }
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

    static func take(_ event: Event, into state: inout StreamState, at now: Timestamp) {
        let before = state.run?.model?.session
        state.withRun { $0.take(event) }
        guard let after = state.run?.model?.session else { return }
        let time = event.time.wallTime
        if let announcement = Announcement(event) { state.announce(announcement, at: now) }
        if let latency = event[.liveLatency] { state.latency = latency }
        if let buffer = event[.bufferLevel] { state.buffered = buffer }
        if let bitrate = event[.bitrate] { state.bitrate = bitrate }
        if let title = event[.title] {
            let title = String(title.prefix(200))
            state.title = title
            state.changes.see(title: title, at: time)
        }
        if after.startup.hasStarted, before?.startup.hasStarted != true {
            (state.isUp, state.announcement) = (true, nil)
            state.withRun { $0.hasShownPicture = true }
            if let run = state.run { state.requestFailures.forget(before: run.begin.instant) }
            let startup = state.run?.nextLook == nil ? after.startup.elapsed : nil
            if let elapsed = startup {
                state.finished.startup.record(Double(elapsed) / 1000)
                state.integrals.startups += 1
                state.integrals.startupTime += Double(elapsed) / 1000
                state.chart.update(at: state.historyTime(of: event.time)) { $0.startup = UInt32(clamping: elapsed) }
            }
            let text = startup.map { "first picture after \($0) ms" } ?? "plays since an unknown time"
            state.note("start", text, at: time)
            state.seeRendition(of: event)
        }
        if after.state == .rebuffering, before?.state != .rebuffering { state.note("stall", "stall begins", at: time) }
        if before?.state == .rebuffering, after.state != .rebuffering { state.note("stall", "stall ends", at: time) }
        if before?.state != after.state, state.isPlaying { state.isUp = true }
        noteWaiting(in: after.state, &state, at: event.time)
        switch event.action {
        case .error:
            let code = event[.errorCode] ?? "error"
            note(error: code, event[.errorDescription] ?? code, in: &state, at: event.time)
            if event[.isFatal] == true {
                (state.isUp, state.announcement) = (false, nil)
                if state.trouble.failure == nil { state.trouble.failure = state.lastFailure }
            }
        case .qualityChangeUp, .qualityChangeDown:
            state.note("quality", "bitrate \((event[.bitrate] ?? 0) / 1000) kbit/s", at: time)
            state.seeRendition(of: event)
        default: state.revision += 1
        }
    }

    /// Notes since when playback waits for media, or that it continues.
    private static func noteWaiting(in session: SessionState, _ state: inout StreamState, at time: Timestamp) {
        let waits = [.rebuffering, .pausedBuffering, .seeking].contains(session) && state.run?.hasShownPicture == true
        if waits, state.trouble.stall == nil { state.trouble.stall = time }
        let isPlaying = state.isPlaying
        state.withRun { run in
            run.waitingSince = waits ? run.waitingSince ?? time : nil
            if isPlaying { run.downSince = nil }
        }
    }

    static func note(error code: String, _ message: String, in state: inout StreamState, at time: Timestamp) {
        let (code, message) = (String(code.prefix(60)), String(message.prefix(300)))
        state.finished.add(error: code)
        state.integrals.errors += 1
        state.withRun { $0.errors += 1 }
        state.lastFailure = StreamState.Failure(code: code, message: message, time: time)
        state.chart.update(at: state.historyTime(of: time)) { if $0.errors < .max { $0.errors += 1 } }
        state.note("error", "\(code): \(message)", at: time.wallTime)
    }

    private static func take(_ request: RequestObservation, into state: inout StreamState, at now: Timestamp) {
        state.finished.add(request)
        state.withRun { run in
            run.requests += 1
            if request.isFailure { run.failedRequests += 1 }
            run.requestTime += request.total.seconds
        }
        state.integrals.requests += 1
        if request.isFailure { state.integrals.failedRequests += 1 }
        state.integrals.requestTime += request.total.seconds
        state.requests.append(LoggedRequest(time: now.wallTime, request: request))
        state.changes.see(request, at: now.wallTime)
        state.requestFailures.observe(request, at: now)
        if request.isAnswer { state.latestAnswer = now.instant }
        state.revision += 1
    }

    /// Takes what a check found.
    /// - Parameter hold: how long a broken rule counts as broken after it was last seen broken.
    mutating func take(
        _ observation: CheckObservation,
        _ slot: Int,
        hold: Duration,
        at now: Timestamp
    ) -> [MonitorEffect] {
        guard let before = streams[slot] else { return [] }
        change(slot) { Self.take(observation, into: &$0, hold: hold, at: now) }
        settle(slot, at: now)
        let known = before.checks
        let broken = (streams[slot]?.checks ?? [:]).filter(\.value.isBroken).keys.sorted().map {
            ($0, known[$0]?.isBroken ?? false)
        }
        return keepEvidence(observation.evidence, of: before.stream.name, broken: broken, at: now)
    }

    private static func take(
        _ observation: CheckObservation,
        into state: inout StreamState,
        hold: Duration,
        at now: Timestamp
    ) {
        var broken = observation.broken
        if state.announcement != nil { broken.removeAll { $0.rule == "nothing-to-play" } }
        state.loudness = observation.loudness
        state.changes.see(outline: observation.outline, at: now.wallTime)
        if let age = observation.playlistAge, let target = observation.targetDuration {
            state.age = (age, now.instant, target)
            if let limit = state.stream.checks.stale {
                broken.removeAll { ["stale", "mpd-stale"].contains($0.rule) }
                if target > .zero, age > target * limit {
                    broken.append(staleness(age, target, limit))
                }
            }
        } else if observation.isReadable {
            // Nothing has to be added to the stream, or only time adds to it.
            state.age = nil
        }
        state.withRun { run in
            run.hasReadPlaylist = run.hasReadPlaylist || observation.isReadable
            for rule in broken { run.brokenRules.insert(rule.rule) }
        }
        for rule in broken { state.add(rule, at: now) }
        guard observation.isReadable else { return }
        // A session that has just begun cannot know that a rule is kept: some rules need reloads.
        let begin = state.run?.begin.instant
        for (rule, check) in state.checks
        where check.isBroken && max(check.latest, begin ?? check.latest).duration(to: now.instant) >= hold {
            state.checks[rule]?.isBroken = false
            state.checks[rule]?.since = now
            state.note("check", "\(rule) is kept again", at: now.wallTime)
        }
    }

    private static func staleness(_ age: Duration, _ target: Duration, _ limit: Double) -> CheckObservation.Broken {
        let text = { (duration: Duration) in "\((duration.seconds * 10).rounded() / 10) s" }
        return .init(
            rule: "stale",
            message:
                "Expected a new segment within \(limit) target durations, which are \(text(target * limit)); "
                + "found the same last segment for \(text(age)). Check the encoder and the packager, then the caches."
        )
    }
}

extension StreamState {
    /// Takes the encoding that an event names.
    fileprivate mutating func seeRendition(of event: Event) {
        changes.see(
            bitrate: event[.bitrate] ?? bitrate ?? 0,
            width: event[.resolutionWidth],
            height: event[.resolutionHeight],
            at: event.time.wallTime
        )
    }

    /// The number of rules of which a state is kept.
    private static let mostChecks = 200

    mutating func add(_ broken: CheckObservation.Broken, at now: Timestamp) {
        let message = String(broken.message.prefix(400))
        if var check = checks[broken.rule] {
            let wasBroken = check.isBroken
            if !wasBroken { check.since = now }
            (check.isBroken, check.latest, check.message) = (true, now.instant, message)
            check.count += 1
            checks[broken.rule] = check
            if wasBroken { return }
        } else {
            guard checks.count < Self.mostChecks else { return }
            checks[broken.rule] = Check(isBroken: true, since: now, latest: now.instant, count: 1, message: message)
        }
        note("check", "\(broken.rule): \(message)", at: now.wallTime)
    }
}
