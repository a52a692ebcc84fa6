internal import Instrument

extension PlaybackSession {
    /// Carries out a command of the viewer.
    mutating func perform(_ command: PlaybackCommand, now: MonotonicInstant) {
        switch command {
        case .play: _ = request(now: now)
        case .pause: pause(now: now)
        case .resume: resume(now: now)
        case .seek(let target): seek(to: target, now: now)
        case .setRate(let rate): setRate(rate, now: now)
        case .stop: stop(now: now)
        case .hold: hold(now: now)
        case .release: release(now: now)
        case .relocate(let target): relocate(to: target, now: now)
        case .noteAd(let instant): noteFirstFrame(at: instant)
        case .mark(let markers, let position): mark(markers, from: position, now: now)
        }
    }

    /// Requests playback; false if it was requested or has ended before.
    mutating func request(now: MonotonicInstant) -> Bool {
        if requested != nil || outcome != nil { return false }
        requested = now
        for action: Action in [.mediaRequest, .prepareItem] { signal(action, at: now) }
        return true
    }

    /// Loading of the media itself begins.
    mutating func loadStream(now: MonotonicInstant) {
        for action: Action in [.streamLoad, .bufferBegin] { signal(action, at: now) }
    }

    private mutating func pause(now: MonotonicInstant) {
        guard outcome == nil, !isPaused else { return }
        advance(to: now)
        isPaused = true
        model?.pause(now: now)
        if model?.hasStarted == true, outcome == nil { signal(.pauseBegin, at: now) }
    }

    private mutating func resume(now: MonotonicInstant) {
        guard outcome == nil, isPaused else { return }
        advance(to: now)
        isPaused = false
        if model?.hasStarted == true { signal(.pauseFinish, at: now) }
        model?.resume(now: now)
        advance(to: now)
    }

    private mutating func setRate(_ rate: Double, now: MonotonicInstant) {
        guard rate.isFinite, rate > 0 else { return }
        advance(to: now)
        if self.rate.setViewer(rate) { rateChanged(at: now) }
    }

    /// The viewer's rate or the rate near the live edge changed.
    mutating func rateChanged(at now: MonotonicInstant) {
        model?.setRate(rate.factor, now: now)
        if model?.hasStarted == true, outcome == nil { signal(.playbackRateChange, at: now) }
    }

    /// Jumps; a target beyond either end is brought to it.
    mutating func seek(to target: Int64, now: MonotonicInstant) {
        guard outcome == nil else { return }
        let target = min(max(0, target), info.duration ?? .max)
        advance(to: now)
        guard var earlier = model, outcome == nil else { return pendingSeek = target }
        if !earlier.isSeeking, earlier.hasStarted || !earlier.isWaiting { signal(.seekBegin, at: now) }
        if model?.seek(to: target, now: now) == true {
            if beforeSeek == nil || !earlier.isSeeking {
                earlier.stand(at: now)
                beforeSeek = (earlier, failure, false)
            }
            pendingSeek = target
            failure = nil
            media.awaitKeyframe()
            // Media that was read but never shown no longer counts.
            quality.forgetNewest()
        }
        advance(to: now)
    }

    private mutating func stop(now: MonotonicInstant) {
        guard outcome == nil else { return }
        advance(to: now)
        guard outcome == nil else { return }
        if model?.hasStarted == true { signal(.stop, at: now) }
        outcome = .stopped
    }

    /// Tells what a stream says of ads.
    mutating func tell(_ ads: StreamAds) {
        if outcome == nil { news.append(.ads(ads)) }
    }

    mutating func hold(now: MonotonicInstant) {
        guard outcome == nil, !isHeld else { return }
        advance(to: now)
        guard outcome == nil, !isHeld else { return }
        isHeld = true
        model?.hold(now: now)
        noteHold(at: now, position: model?.position(at: now))
    }

    /// The content pauses for a break; before the start it only does not begin.
    private mutating func noteHold(at instant: MonotonicInstant, position: Int64?) {
        heldPosition = position
        if model?.hasStarted == true, !isPaused {
            news.append(.held(made(.pauseBegin, at: instant, position: position)))
        }
    }

    mutating func passed(_ marker: PlaybackMarker, at instant: MonotonicInstant, position: Int64) {
        // Content that failed has no end that a break could follow.
        if marker.position == PlaybackMarker.endPosition, failure != nil {
            model?.release(now: instant)
            return
        }
        if marker.holds {
            isHeld = true
            noteHold(at: instant, position: position)
        }
        news.append(.reached(marker, instant, position: position))
    }

    mutating func release(now: MonotonicInstant) {
        guard outcome == nil, isHeld else { return }
        advance(to: now)
        (isHeld, heldPosition) = (false, nil)
        if model?.hasStarted == true, !isPaused { news.append(.held(made(.pauseFinish, at: now))) }
        model?.release(now: now)
        advance(to: now)
    }

    mutating func relocate(to target: Int64, now: MonotonicInstant) {
        guard outcome == nil, isHeld else { return }
        let target = min(max(0, target), info.duration ?? .max)
        advance(to: now)
        guard var earlier = model else { return pendingSeek = target }
        if model?.relocate(to: target, now: now) == true {
            earlier.stand(at: now)
            beforeSeek = (earlier, failure, true)
            pendingSeek = target
            failure = nil
            media.awaitKeyframe()
            quality.forgetNewest()
        }
        advance(to: now)
    }

    mutating func mark(_ markers: [PlaybackMarker], from position: Int64, now: MonotonicInstant) {
        guard outcome == nil else { return }
        advance(to: now)
        if model == nil { earlyMarkers = markers }
        model?.setMarkers(markers, from: position, now: now)
        advance(to: now)
    }
}
