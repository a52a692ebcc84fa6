internal import Instrument
internal import InstrumentHTTP
internal import InstrumentQuality
internal import InstrumentWatch

extension AttributeKey where Value == String {
    /// What the probe writes of an error, which names the request that failed.
    fileprivate static var errorPhase: Self { "errorPhase" }
    fileprivate static var errorURL: Self { "errorURL" }
}

extension AttributeKey where Value == Int {
    fileprivate static var errorStatus: Self { "errorStatus" }
    fileprivate static var countRequests: Self { "countRequests" }
    fileprivate static var countFailedRequests: Self { "countFailedRequests" }
}

/// What reports of a session, and of checks, change.
extension StreamState {
    // MARK: Events

    /// Takes an event of the player.
    /// - Parameter clock: the calendar of the history.
    mutating func take(_ event: Event, _ clock: HistoryClock, at now: Timestamp) {
        let before = run?.model?.session
        withRun { $0.take(event) }
        guard let after = run?.model?.session else { return }
        let time = event.time.wallTime
        if let announcement = Announcement(event) { announce(announcement, clock, at: now) }
        if let latency = event[.liveLatency] { self.latency = latency }
        if let buffer = event[.bufferLevel] { buffered = buffer }
        if let bitrate = event[.bitrate] { self.bitrate = bitrate }
        if let title = event[.title] {
            let title = String(title.prefix(200))
            self.title = title
            changes.see(title: title, at: time)
        }
        if after.startup.hasStarted, before?.startup.hasStarted != true { notePicture(after, event, clock) }
        if after.state == .rebuffering, before?.state != .rebuffering { note("stall", "stall begins", at: time) }
        if before?.state == .rebuffering, after.state != .rebuffering { note("stall", "stall ends", at: time) }
        if before?.state != after.state, isPlaying { isUp = true }
        noteWaiting(in: after.state, at: event.time)
        switch event.action {
        case .error:
            let code = event[.errorCode] ?? "error"
            note(error: code, event[.errorDescription] ?? code, clock, at: event.time)
            if event[.isFatal] == true {
                (isUp, announcement) = (false, nil)
                diagnosis.noteEnd(by: lastFailure)
            }
        case .qualityChangeUp, .qualityChangeDown:
            note("quality", "bitrate \((event[.bitrate] ?? 0) / 1000) kbit/s", at: time)
            seeRendition(of: event)
        default: revision += 1
        }
    }

    /// Takes note of the first picture of a session.
    private mutating func notePicture(_ session: QualitySession, _ event: Event, _ clock: HistoryClock) {
        (isUp, announcement) = (true, nil)
        withRun { $0.hasShownPicture = true }
        if let run { diagnosis.notePicture(ofSessionSince: run.begin.instant) }
        let startup = run?.nextLook == nil ? session.startup.elapsed : nil
        if let startup {
            counters.count(startup: Double(startup) / 1000)
            averages.count(startup: Double(startup) / 1000)
            history.note(startup: startup, at: historyTime(of: event.time, clock))
        }
        let text = startup.map { "first picture after \($0) ms" } ?? "plays since an unknown time"
        note("start", text, at: event.time.wallTime)
        seeRendition(of: event)
    }

    /// Takes the encoding that an event names.
    private mutating func seeRendition(of event: Event) {
        changes.see(
            bitrate: event[.bitrate] ?? bitrate ?? 0,
            width: event[.resolutionWidth],
            height: event[.resolutionHeight],
            at: event.time.wallTime
        )
    }

    /// Notes since when playback waits for media, or that it continues.
    private mutating func noteWaiting(in session: SessionState, at time: Timestamp) {
        let waits = [.rebuffering, .pausedBuffering, .seeking].contains(session) && run?.hasShownPicture == true
        if waits { diagnosis.noteStall(at: time) }
        let isPlaying = isPlaying
        withRun { run in
            run.waitingSince = waits ? run.waitingSince ?? time : nil
            if isPlaying { run.downSince = nil }
        }
    }

    /// Notes that the presentation begins later. There is no outage then, unless the stream has just shown pictures.
    private mutating func announce(_ announcement: Announcement, _ clock: HistoryClock, at now: Timestamp) {
        if let lastPlayed = diagnosis.lastPlayed, lastPlayed.duration(to: now.instant) < Announcement.surprise {
            return note(error: "notBegun", announcement.message, clock, at: now)
        }
        let isKnown = self.announcement?.message == announcement.message
        self.announcement = isKnown ? self.announcement : announcement
        isUp = nil
        withRun { run in
            run.downSince = nil
            // The other monitor decides when its sessions begin.
            run.nextLook = run.remote == nil ? announcement.nextLook(after: now.instant) : announcement.begin
        }
    }

    mutating func note(error code: String, _ message: String, _ clock: HistoryClock, at time: Timestamp) {
        let (code, message) = (String(code.prefix(60)), String(message.prefix(300)))
        counters.count(error: code)
        averages.countError()
        withRun { $0.errors += 1 }
        lastFailure = Failure(code: code, message: message, time: time)
        history.noteError(at: historyTime(of: time, clock))
        note("error", "\(code): \(message)", at: time.wallTime)
    }

    /// The time of a moment for the history. The instants of other monitors are not those of this one.
    private func historyTime(of time: Timestamp, _ clock: HistoryClock) -> WallTime {
        stream.origin == nil ? clock.time(at: time) : time.wallTime
    }

    // MARK: Requests and gauges

    mutating func take(_ request: RequestObservation, at now: Timestamp) {
        counters.count(request)
        withRun { $0.count(request) }
        averages.count(requests: 1, failed: request.isFailure ? 1 : 0, time: request.total.seconds)
        requests.append(LoggedRequest(time: now.wallTime, request: request))
        changes.see(request, at: now.wallTime)
        diagnosis.observe(request, at: now)
        if request.isAnswer { latestAnswer = now.instant }
        revision += 1
    }

    mutating func take(_ gauges: PlaybackGauges, at now: Timestamp) {
        bitrate = gauges.bitrate ?? bitrate
        buffered = gauges.buffered
        if let title = gauges.title { changes.see(title: String(title.prefix(200)), at: now.wallTime) }
        title = gauges.title ?? title
        guard let buffered, run?.hasShownPicture == true else { return }
        let playing = figures(at: now.instant).playing
        diagnosis.note(played: playing, buffered: buffered.milliseconds, at: now.instant)
    }

    // MARK: Events of other monitors

    /// No session makes more requests.
    private static let mostRequests = 1_000_000_000

    /// Takes an event of a session that another monitor plays.
    mutating func take(remote event: Event, _ clock: HistoryClock, at now: Timestamp) {
        latestSample = now.instant
        countRequests(event)
        noteFailedRequest(event)
        take(event, clock, at: now)
    }

    /// Adds the requests that a session has made since its last event.
    private mutating func countRequests(_ event: Event) {
        let count = min(event[.countRequests] ?? 0, Self.mostRequests)
        guard let run, count > run.requests else { return }
        let failed = max(run.failedRequests, min(event[.countFailedRequests] ?? 0, count))
        averages.count(requests: count - run.requests, failed: failed - run.failedRequests)
        counters.count(failedRequests: failed - run.failedRequests)
        withRun { ($0.requests, $0.failedRequests) = (count, failed) }
    }

    /// Notes the request that ended a session: the cause is in the error.
    private mutating func noteFailedRequest(_ event: Event) {
        guard event.action == .error, event[.isFatal] == true,
            let address = event[.errorURL].flatMap({ try? HTTPURL($0) }),
            let failure = RequestObservation.Failure(errorCode: event[.errorCode] ?? "")
        else { return }
        let request = RequestObservation(
            kind: event[.errorPhase] ?? "",
            status: event[.errorStatus],
            isFailure: true,
            total: .zero,
            byteCount: 0,
            failure: failure,
            address: address.description,
            begin: event.time
        )
        diagnosis.observe(request, at: event.time)
        requests.append(LoggedRequest(time: event.time.wallTime, request: request))
    }

    /// Forgets the state: nothing is known of the stream any more.
    mutating func becomeUnknown(_ reason: String, at now: Timestamp) {
        isUp = nil
        diagnosis.forget()
        note("place", reason, at: now.wallTime)
    }

    // MARK: Checks

    /// Takes what a check found.
    /// - Parameter hold: how long a broken rule counts as broken after it was last seen broken.
    mutating func take(_ observation: CheckObservation, hold: Duration, at now: Timestamp) {
        var broken = observation.broken
        if announcement != nil { broken.removeAll { $0.rule == "nothing-to-play" } }
        loudness = observation.loudness
        changes.see(outline: observation.outline, at: now.wallTime)
        if let age = observation.playlistAge, let target = observation.targetDuration {
            self.age = PlaylistAge(age, target: target, seen: now.instant)
            if let limit = stream.checks.stale {
                broken.removeAll { ["stale", "mpd-stale"].contains($0.rule) }
                if target > .zero, age > target * limit { broken.append(Self.staleness(age, target, limit)) }
            }
        } else if observation.isReadable {
            // Nothing has to be added to the stream, or only time adds to it.
            age = nil
        }
        withRun { $0.note(broken, isReadable: observation.isReadable) }
        for rule in broken {
            if let message = checks.add(rule, at: now) { note("check", "\(rule.rule): \(message)", at: now.wallTime) }
        }
        guard observation.isReadable else { return }
        noteKept(checks.end(unseenFor: hold, since: run?.begin.instant, at: now), at: now)
    }

    /// Notes the outcome of a check that a person asked for: otherwise nobody sees that it found nothing.
    mutating func note(outcomeOf observation: CheckObservation?, at now: Timestamp) {
        let text =
            if let observation, observation.isReadable || !observation.broken.isEmpty {
                observation.broken.isEmpty
                    ? "found nothing" : "found " + observation.broken.map(\.rule).sorted().joined(separator: ", ")
            } else {
                "could read nothing"
            }
        note("check", "the check on request " + text, at: now.wallTime)
    }

    private mutating func noteKept(_ rules: [String], at now: Timestamp) {
        for rule in rules { note("check", "\(rule) is kept again", at: now.wallTime) }
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

    // MARK: Sessions

    mutating func begin(_ run: StreamRun, at now: Timestamp) {
        phase = .running(run)
        counters.beginSession()
        averages.noteSession()
        diagnosis.beginSession()
        note("session", "session \(run.id.number) begins", at: now.wallTime)
    }

    /// Takes note that a session has shown no picture for too long.
    mutating func countAsDown(_ run: StreamRun, _ clock: HistoryClock, at now: Timestamp) {
        withRun { $0.downSince = now.instant }
        (isUp, announcement) = (false, nil)
        if run.hasShownPicture {
            note("down", "no picture for \(stream.stallLimit.seconds) s", at: now.wallTime)
        } else {
            note(error: "startTimeout", "no picture within \(stream.startLimit.seconds) s", clock, at: now)
        }
    }

    /// Takes the end of a session; the owner chooses the next phase.
    /// - Parameters:
    ///   - isLost: whether nothing is known of the end, which says nothing of the stream then.
    ///   - isWatched: whether another session follows.
    mutating func end(
        _ run: StreamRun,
        _ ending: SessionEnding,
        isLost: Bool,
        isWatched: Bool,
        _ clock: HistoryClock,
        at now: Timestamp
    ) {
        // Nothing is known of the latest time of a session that ends without a last event.
        var figures = settledFigures(at: now.instant) ?? run.figures(at: now.instant)
        figures.joining = nil
        let isLost = isLost || ending.isLost
        let isFailure = !isLost && run.isFailure(ending, isWatched: isWatched, at: now.instant)
        counters.endSession(figures, isFailure: isFailure)
        averages.noteSession()
        (lastSession, lastEnding) = (figures, ending)
        (bitrate, buffered, latency, loudness) = (nil, nil, nil, nil)
        losses = ending.isLost ? losses + 1 : 0
        if ending.isLost, run.downSince != nil { isUp = nil }
        if isFailure {
            failures += 1
            (isUp, announcement) = (false, nil)
        } else if run.hasShownPicture {
            failures = 0
        }
        let hasNoError = lastFailure.map { $0.time.instant < run.begin.instant } ?? true
        switch ending {
        case .failed(let code, let message):
            if hasNoError || lastFailure?.code != code { note(error: code, message, clock, at: now) }
            diagnosis.noteEnd(by: lastFailure)
        case .lost: break
        case .ended, .stopped:
            if isFailure, run.downSince == nil, !run.hasShownPicture, hasNoError {
                note(error: "startTimeout", "the session ended without a picture", clock, at: now)
            }
        }
        // A rule that was not broken in the session counts as kept.
        if run.hasReadPlaylist { noteKept(checks.end(besides: run.brokenRules, at: now), at: now) }
        let end = isLost && !ending.isLost ? "its last samples are missing" : ending.label
        note("session", "session \(run.id.number) ends: \(end)", at: now.wallTime)
    }
}

extension StreamRun {
    /// Whether the end of the session shows that viewers have trouble.
    fileprivate func isFailure(_ ending: SessionEnding, isWatched: Bool, at now: MonotonicInstant) -> Bool {
        // A stream that was stopped by a reload within its start limit says nothing.
        if ending == .stopped, !hasShownPicture, begin.instant.duration(to: now) < .seconds(5) { return false }
        if case .failed = ending { return true }
        return isWatched && (downSince != nil || !hasShownPicture && nextLook == nil)
    }
}

extension RequestObservation.Failure {
    /// The failure of a request that a probe's error code names; nil for other errors.
    fileprivate init?(errorCode: String) {
        switch errorCode {
        case "notFound", "httpStatus": self = .status
        case "timedOut": self = .timedOut
        case "connection": self = .connection
        case "proxy": self = .proxy
        case "tls": self = .tls
        case "refusedAddress": self = .refused
        case "invalidManifest", "wrongContent": self = .content
        default: return nil
        }
    }
}
