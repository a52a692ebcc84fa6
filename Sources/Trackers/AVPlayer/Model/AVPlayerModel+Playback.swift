internal import Instrument

/// Loading, start, pauses, waits for data, and the end.
extension AVPlayerModel {
    mutating func itemChanged(to facts: ItemFacts?, at now: MonotonicInstant) {
        if let facts, facts.id == item?.id {
            item = facts
            return
        }
        conclude(isFollowed: facts != nil)
        if phase == .playing {
            // A queue player advances without a change of the rate, and its notice of the end may come later.
            finish(facts != nil ? .next : isNearEnd(at: now) ? .end : .stop, at: now)
        }
        closeBuffering(at: now)
        forgetItem()
        item = facts
        guard let facts else { return }
        (phase, isLate) = (.loading, facts.isUnderWay)
        if isRunning { earliestStart = now }
        emit(.streamLoad, at: now)
        if case .waiting(let reason) = timeControl { waiting(reason, at: now) }
    }

    private mutating func forgetItem() {
        phase = .idle
        values.forgetItem()
        (quality, logs, errorLogCount, hasVariants) = (RenditionQuality(), AccessLogSums(), 0, false)
        (sample, reach, reachInstant) = (nil, 0, nil)
        (isPaused, isSeeking, isBuffering, isStalledByNotice) = (false, false, false, false)
        (isLikelyToKeepUp, isLate, earliestStart, failures) = (true, false, nil, [])
        (pauseReason, haltReason, seekEnd, window, wait, keepUpTime) = (nil, nil, nil, nil, LiveWait(), nil)
    }

    mutating func timeControlChanged(to control: TimeControl, at now: MonotonicInstant) {
        anchor(at: now)
        timeControl = control
        switch control {
        case .waiting(let reason): waiting(reason, at: now)
        case .paused: halted(at: now)
        case .playing: playing(at: now)
        }
    }

    mutating func rateChanged(to rate: Double, at now: MonotonicInstant) {
        guard rate.isFinite else { return }
        anchor(at: now)
        let before = self.rate ?? 0
        self.rate = rate
        if rate == 0, before != 0 { halted(at: now) }
        if rate != 0, before == 0 { askForStart(at: now) }
    }

    private mutating func askForStart(at now: MonotonicInstant) {
        if phase == .loading || phase == .finished || phase == .failed { earliestStart = earliestStart ?? now }
    }

    private mutating func playing(at now: MonotonicInstant) {
        askForStart(at: now)
        guard phase == .playing else { return }
        closeBuffering(at: now)
        if isPaused { resume(at: now) }
    }

    /// The player waits: for data, for others who watch together, or while an interstitial plays in place of the item.
    private mutating func waiting(_ reason: WaitingReason?, at now: MonotonicInstant) {
        switch (phase, reason) {
        case (_, .noItemToPlay?): break
        // As with other ads, the content is paused in the break. Nor do others who are not ready stall the content.
        case (.playing, .interstitialEvent?), (.playing, .coordinatedPlayback?): pause(because: reason?.name, at: now)
        case (_, .interstitialEvent?), (.loading, .coordinatedPlayback?): closeBuffering(at: now)
        case (.loading, _): openBuffering(reason, at: now)
        case (.playing, _):
            // The player waits by itself; a pause is then the person's.
            isStalledByNotice = false
            if isPaused, pauseReason == WaitingReason.coordinatedPlayback.name { resume(at: now) }
            if !isPaused, !isSeeking { openBuffering(reason, at: now) }
        case (.finished, _), (.failed, _): askForStart(at: now)
        case (.idle, _): break
        }
    }

    /// The rate became 0, or the player says that it is paused.
    private mutating func halted(at now: MonotonicInstant) {
        switch phase {
        case .loading:
            earliestStart = nil
            if timeControl == .paused { closeBuffering(at: now) }
        case .playing:
            if isNearEnd(at: now) { return finish(.end, at: now) }
            if isExternal, !isLikelyToKeepUp { return stalled(at: now) }
            if isExternal, timeControl != .paused { return }
            // The player that stalls without the right to wait pauses itself.
            if isStalledByNotice || timeControl?.isWaiting == true { return }
            pause(because: nil, at: now)
        case .idle, .finished, .failed: earliestStart = nil
        }
    }

    /// The item ran out of data, as a notice, or as AirPlay shows it.
    mutating func stalled(at now: MonotonicInstant) {
        guard phase == .playing, !isPaused, !isSeeking, !isBuffering else { return }
        openBuffering(.toMinimizeStalls, at: now)
        isStalledByNotice = true
    }

    mutating func likelihoodChanged(to isLikely: Bool, at now: MonotonicInstant) {
        isLikelyToKeepUp = isLikely
        if isExternal, !isLikely, rate == 0, timeControl != .paused { stalled(at: now) }
    }

    private mutating func pause(because reason: String?, at now: MonotonicInstant) {
        guard !isPaused else { return }
        closeBuffering(at: now)
        let recent = haltReason.flatMap { Self.isOneChange($0.instant, now) ? $0.name : nil }
        (isPaused, pauseReason, pauseInstant, haltReason) = (true, reason ?? recent, now, nil)
        emit(.pauseBegin, at: now, attributes: pauseAttributes)
    }

    /// The notice of a change of the rate: it comes before or after the change itself. A reason that comes later is
    /// that of the `PauseFinish` alone.
    mutating func rateReasonGiven(_ reason: RateChangeReason, rate: Double, at now: MonotonicInstant) {
        haltReason = rate == 0 && !isPaused ? HaltReason(name: reason.name, instant: now) : nil
        guard rate == 0, isPaused, pauseReason == nil, let begun = pauseInstant, Self.isOneChange(begun, now) else {
            return
        }
        pauseReason = reason.name
    }

    private var pauseAttributes: Attributes {
        var attributes = Attributes()
        attributes[.pauseReason] = pauseReason
        return attributes
    }

    /// Whether notices of two instants can be of one change.
    static func isOneChange(_ one: MonotonicInstant, _ other: MonotonicInstant) -> Bool {
        abs(one.duration(to: other).seconds) <= noticeLag
    }

    mutating func resume(at now: MonotonicInstant) {
        let attributes = pauseAttributes
        (isPaused, pauseReason, seekEnd) = (false, nil, nil)
        emit(.pauseFinish, at: now, attributes: attributes)
    }

    private mutating func openBuffering(_ reason: WaitingReason?, at now: MonotonicInstant) {
        guard !isBuffering else { return }
        var attributes = Attributes()
        attributes[.waitingReason] = reason?.name
        emit(.bufferBegin, at: now, attributes: attributes)
        isBuffering = true
        wait = LiveWait(offset: liveOffset(at: now))
    }

    mutating func closeBuffering(at now: MonotonicInstant) {
        isStalledByNotice = false
        guard isBuffering else { return }
        isBuffering = false
        wait.end = now
        emit(.bufferFinish, at: now)
    }

    mutating func start(at instant: MonotonicInstant) {
        closeBuffering(at: instant)
        phase = .playing
        quality.settle()
        emit(.start, at: instant)
        (isLate, earliestStart) = (false, nil)
    }

    /// The item plays again after its end, or after an error.
    mutating func replay(at instant: MonotonicInstant) {
        conclude(isFollowed: false)
        let requested = earliestStart ?? instant
        failures = []
        emit(.streamLoad, at: min(requested, instant))
        start(at: instant)
    }

    mutating func playedToEnd(at now: MonotonicInstant) {
        guard phase == .playing else { return }
        guard advancesAtEnd else { return finish(.end, at: now) }
        // The next message is the next item, or none: it decides between `Next` and `End`.
        closeBlocks(at: now)
        var status = status(at: now)
        status.position = values.duration ?? status.position
        ending = Ending(instant: now, status: status)
        phase = .finished
    }

    /// Reports an end once it is known whether another item follows.
    mutating func conclude(isFollowed: Bool) {
        guard let ending else { return }
        self.ending = nil
        emit(isFollowed ? .next : .end, at: ending.instant, status: ending.status)
    }

    mutating func finish(_ action: Action, at now: MonotonicInstant) {
        closeBlocks(at: now)
        emit(action, at: now)
        (phase, earliestStart) = (.finished, nil)
    }

    /// Ends buffering, seeking and pause when a playback ends, so that their time counts.
    mutating func closeBlocks(at now: MonotonicInstant) {
        closeBuffering(at: now)
        if isSeeking { emit(.seekFinish, at: now) }
        if isPaused { resume(at: now) }
        isSeeking = false
    }
}
