internal import Instrument

/// The effect of each action.
extension SessionModel {
    mutating func apply(_ event: Event, isAdTracker: Bool) {
        guard phase.outcome == nil else { return }
        let now = session.end.instant
        if isAdTracker { return applyAd(event.action, at: now) }
        switch event.action {
        case .mediaRequest:
            phase.isAsked = true
            if session.startup.requested == nil, !phase.hasStarted {
                session.startup.requested = now
                // The start counts from the request: earlier ads do not.
                phase.prerollTime = 0
            }
        case .streamLoad:
            phase.isAsked = true
            if session.startup.loaded == nil, !phase.hasStarted { session.startup.loaded = now }
            if event[QualityField.joinedLate] == true { session.startup.joinedLate = true }
        case .start: start(event, at: now)
        case .bufferBegin: beginBuffering(at: now)
        case .bufferFinish: phase.bufferingSince = nil
        case .seekBegin: beginSeek()
        case .seekFinish: phase.isSeeking = false
        case .pauseBegin: beginPause(at: now)
        case .pauseFinish: phase.isPaused = false
        case .qualityChangeUp: if phase.hasStarted { session.picture.switchesUp += 1 }
        case .qualityChangeDown: if phase.hasStarted { session.picture.switchesDown += 1 }
        case .end: phase.outcome = phase.hasStarted ? .ended : .stopped
        // Media that waits for data does not move on by itself: the person does.
        case .next: leave(as: phase.hasStarted ? .ended : .stopped)
        case .stop: leave(as: .stopped)
        case .error: fail(event)
        case .requestFinish: count(request: event)
        case QualityAction.appBackground, QualityAction.systemResumed:
            if phase.isAsked, !phase.hasStarted { session.startup.wasInBackground = true }
        default: applyAd(event.action, at: now)
        }
    }

    private mutating func start(_ event: Event, at now: MonotonicInstant) {
        guard !phase.hasStarted else { return }
        phase.hasStarted = true
        session.startup.hasStarted = true
        session.startup.started = now
        session.startup.prerollTime = phase.prerollTime
        if event[QualityField.joinedLate] == true { session.startup.joinedLate = true }
    }

    private mutating func beginBuffering(at now: MonotonicInstant) {
        guard phase.bufferingSince == nil else { return }
        phase.bufferingSince = now
        (phase.bufferingIsOfSeek, phase.bufferingIsInitial) = (phase.isSeeking, !phase.hasStarted)
        phase.isRebufferCounted = false
    }

    private mutating func beginSeek() {
        guard !phase.isSeeking else { return }
        phase.isSeeking = true
        // From now on, a player that waits for data waits for those of the new position.
        phase.bufferingIsOfSeek = phase.bufferingSince != nil
        session.interruptions.seekCount += 1
        if !phase.hasStarted { session.startup.wasSought = true }
    }

    private mutating func beginPause(at now: MonotonicInstant) {
        guard !phase.isPaused else { return }
        (phase.isPaused, phase.pausedSince, phase.isPauseOfAds) = (true, now, phase.hasAds)
        if !phase.isPauseOfAds { session.interruptions.pauseCount += 1 }
        if !phase.hasStarted { session.startup.wasPaused = true }
    }

    private mutating func fail(_ event: Event) {
        session.failures.errorCount += 1
        if !phase.hasStarted { session.failures.startErrorCount += 1 }
        guard event[.isFatal] == true else { return }
        let isCausedByUser =
            event[QualityField.causedByUser] == true || event[.errorCode] == "stopped"
        if phase.hasStarted {
            session.failures.isPlaybackFailure = true
            phase.outcome = .failed
        } else if isCausedByUser {
            session.failures.isCausedByUser = true
            phase.outcome = .stopped
        } else {
            session.failures.isStartFailure = true
            phase.outcome = .failed
        }
    }

    /// Ads of a separate tracker, or of the content's tracker.
    private mutating func applyAd(_ action: Action, at now: MonotonicInstant) {
        let hadAds = phase.hasAds
        switch action {
        case .adBreakBegin: phase.isInAdBreak = true
        case .adBreakFinish: (phase.isInAdBreak, phase.isInAd) = (false, false)
        case .adBegin:
            if !phase.isInAd { session.interruptions.adCount += 1 }
            phase.isInAd = true
        case .adFinish: phase.isInAd = false
        default: break
        }
        if phase.isPaused, phase.hasAds != hadAds { adsChanged(at: now) }
    }

    /// Tells a pause of the content for an ad, which a player reports just before the ad, from a pause of the person.
    private mutating func adsChanged(at now: MonotonicInstant) {
        if !phase.hasAds { return phase.pausedSince = now }
        guard !phase.isPauseOfAds, let since = phase.pausedSince,
            since.milliseconds(to: now) <= SessionPhase.adPauseLimit
        else { return }
        phase.isPauseOfAds = true
        session.interruptions.pauseCount -= 1
    }

    /// Handles playback that ran before the first event, or whose `Start` is missing: the flags follow the hub's
    /// blocks.
    mutating func adoptMissedStart(_ event: Event) {
        guard !phase.hasStarted, event.action != .start, event[.inPlaybackBlock] == true else { return }
        phase.hasStarted = true
        session.startup.hasStarted = true
        session.lostEvents[.start, default: 0] += 1
        // Of a session that is known from its beginning, the start itself is missing.
        if session.startup.begin != nil { session.core.plays += 1 }
        // The block of an event is the state after it, and the event itself is yet to be applied.
        let action = event.action
        if action != .adBreakBegin, event[.inAdBreakBlock] == true { phase.isInAdBreak = true }
        if action != .adBegin, event[.inAdBlock] == true { phase.isInAd = true }
        if action != .pauseBegin, event[.inPauseBlock] == true { phase.isPaused = true }
        if action != .seekBegin, event[.inSeekBlock] == true { phase.isSeeking = true }
        if action != .bufferBegin, event[.inBufferBlock] == true, phase.bufferingSince == nil {
            phase.bufferingSince = session.end.instant
            (phase.bufferingIsOfSeek, phase.bufferingIsInitial) = (phase.isSeeking, false)
            phase.isRebufferCounted = false
        }
    }

    /// The sums of the core metrics, from the attributes that a hub computed.
    mutating func countCore(_ event: Event) {
        switch event.action {
        case .mediaRequest: session.core.requests += 1
        case .streamLoad: session.core.loads += 1
        case .start:
            session.core.plays += 1
            if event[QualityField.joinedLate] != true {
                if session.core.requests > 0 {
                    session.core.startTime = event[Action.mediaRequest.timeKey]
                } else if session.core.loads > 0 {
                    session.core.startTime = event[Action.streamLoad.timeKey]
                }
            }
        case .bufferFinish:
            guard event[.inPlaybackBlock] == true, event[.inPauseBlock] != true, event[.inSeekBlock] != true else {
                break
            }
            session.core.rebuffers += 1
            if let time = event[Action.bufferBegin.timeKey] {
                session.core.rebufferTime = session.core.rebufferTime.saturatingAdd(time)
            }
        case .end, .stop, .next: session.core.ends += 1
        default: break
        }
        if let played = event[milliseconds: .deltaPlayTime] {
            session.core.playTime = session.core.playTime.saturatingAdd(played)
        }
    }
}

/// The handling of attributes about the picture and the network.
extension SessionModel {
    /// Holds the values of an event until a later event has others.
    mutating func notice(_ event: Event) {
        noticeRendition(event)
        if let position = event[milliseconds: .position] { picture.position = position }
        if let rate = event[.playbackRate], let scaled = Int(exactly: (rate * 1000).rounded()), scaled > 0 {
            picture.rate = min(scaled, 1_000_000)
        }
        if let latency = event[milliseconds: .liveLatency], latency >= 0 { notice(latency: latency) }
        if let level = event[milliseconds: .bufferLevel], level >= 0 { notice(level: level) }
        noticeRequests(event)
    }

    private mutating func noticeRendition(_ event: Event) {
        let bitrate = event[.bitrate].flatMap { $0 > 0 ? $0 : nil } ?? picture.bitrate
        let width = event[.resolutionWidth].flatMap { $0 > 0 ? $0 : nil } ?? picture.width
        let height = event[.resolutionHeight].flatMap { $0 > 0 ? $0 : nil } ?? picture.height
        let displayWidth = event[QualityField.displayWidth] ?? picture.displayWidth
        let displayHeight = event[QualityField.displayHeight] ?? picture.displayHeight
        let isPictureNew = width != picture.width || height != picture.height
        let isDisplayNew = displayWidth != picture.displayWidth || displayHeight != picture.displayHeight
        let isBitrateNew = bitrate != picture.bitrate
        guard isPictureNew || isDisplayNew || isBitrateNew else { return }
        (picture.bitrate, picture.width, picture.height) = (bitrate, width, height)
        (picture.displayWidth, picture.displayHeight) = (displayWidth, displayHeight)
        if isPictureNew || isDisplayNew { noticeSizes() }
        let hasSize = width != nil && height != nil
        if isPictureNew || (isBitrateNew && !hasSize) {
            picture.rendition = picture.computeRendition()
            recordSwitch()
        }
    }

    private mutating func noticeSizes() {
        picture.upscaling = picture.computeUpscaling()
        if let width = picture.width, let height = picture.height {
            session.picture.size = PictureSums.Size(width: width, height: height)
        }
        if let width = picture.displayWidth, let height = picture.displayHeight {
            session.picture.display = PictureSums.Size(width: width, height: height)
        }
    }

    private mutating func recordSwitch() {
        guard case .trace(let limit) = recording, let rendition = picture.rendition else { return }
        guard session.trace.switches.count < limit else { return session.trace.isTruncated = true }
        session.trace.switches.append(
            SessionTrace.Switch(
                instant: session.end.instant,
                position: picture.position,
                rendition: rendition,
                bitrate: picture.bitrate
            )
        )
    }

    private mutating func notice(latency: Int) {
        picture.latency = latency
        guard phase.hasStarted else { return }
        if session.picture.firstLatency == nil { session.picture.firstLatency = latency }
        session.picture.lastLatency = latency
    }

    private mutating func notice(level: Int) {
        picture.level = level
        guard case .trace(let limit) = recording else { return }
        guard session.trace.levels.count < limit else { return session.trace.isTruncated = true }
        session.trace.levels.append(SessionTrace.Level(instant: session.end.instant, level: level))
    }

    /// A request that a player reports with an event. It counts in place of the probe's sums.
    mutating func count(request event: Event) {
        session.network.requests.add(1)
        if event[.requestFailed] == true { session.network.errors.add(1) }
        if let time = event[milliseconds: .timeToFirstByte], time >= 0 {
            observation.timeToFirstByte = time
            session.network.timeToFirstByte.record(time)
        }
        if let bytes = event[.requestBytes], let time = event[milliseconds: .requestTime],
            bytes > 0, time > 0
        {
            session.network.bytes.add(bytes)
            session.network.activeTime.add(time)
            observation.throughput = bytes.saturatingMultiply(8000) / time
        }
        if let throughput = observation.throughput { session.network.throughput.record(throughput) }
        phase.reportsRequests = true
    }

    /// The sums of the probe: each new count of requests brings the throughput of the latest segment.
    private mutating func noticeRequests(_ event: Event) {
        guard !phase.reportsRequests, let requests = event[.countRequests] else { return }
        let known = picture.requestCount ?? 0
        if requests > known {
            session.network.requests = session.network.requests.saturatingAdd(requests.saturatingSubtract(known))
            if let throughput = event[.throughput], throughput > 0, throughput != picture.throughput {
                observation.throughput = throughput
                session.network.throughput.record(throughput)
                picture.throughput = throughput
            }
            picture.requestCount = requests
        }
        if let failed = event[.countFailedRequests] {
            let known = picture.failedRequestCount ?? 0
            if failed > known {
                session.network.errors = session.network.errors.saturatingAdd(failed.saturatingSubtract(known))
                picture.failedRequestCount = failed
            }
        }
    }
}

extension CurrentPicture {
    /// `WIDTHxHEIGHT`, else the bitrate; nil if neither is known.
    func computeRendition() -> String? {
        if let width, let height { return "\(width)x\(height)" }
        return bitrate.map(String.init)
    }

    /// The enlargement of the picture, in millionths: 0 at the display's size or above.
    ///
    /// The picture keeps its shape, so the smaller of the two scales applies.
    func computeUpscaling() -> Int? {
        guard let width, let height, let displayWidth, let displayHeight, displayWidth > 0, displayHeight > 0 else {
            return nil
        }
        let horizontal = displayWidth.saturatingMultiply(1_000_000) / width
        let vertical = displayHeight.saturatingMultiply(1_000_000) / height
        return max(0, min(horizontal, vertical) - 1_000_000)
    }
}
