internal import Instrument
internal import InstrumentJSON

/// The handling of mpv's events.
extension MPVModel {
    /// A playback runs whose beginning was not reported.
    mutating func join(at now: MonotonicInstant) {
        (phase, isLate, isInJoinedPlayback) = (.loading, true, true)
        area = values.decodedArea
        emit(.streamLoad, at: now)
        if values[.isPausedForCache] == true { bufferingBegan(at: now) }
        if values[.coreIdle] == false { started(at: now) }
    }

    mutating func startFile(at now: MonotonicInstant) {
        if isInJoinedPlayback {
            // Overtaken by the answers nevertheless; so we were there in time.
            (isInJoinedPlayback, isLate) = (false, false)
            return
        }
        conclude(isFollowed: true)
        closeBlocks(at: now)
        // Its end was not reported.
        if phase == .playing { emit(.stop, at: now) }
        let isContinued = isRedirected
        (isRedirected, isLate) = (false, false)
        (restart, area, isIncomplete) = (nil, nil, false)
        forgetMedia()
        phase = .loading
        ask([.path, .mediaTitle])
        if !isContinued { emit(.streamLoad, at: now) }
    }

    mutating func seekBegan(at now: MonotonicInstant) {
        // The jump to where a file begins to play is no seek of a person's.
        if phase == .playing { emit(interruptions.openSeek(), at: now) }
    }

    mutating func playbackRestarted(at now: MonotonicInstant) {
        guard phase == .playing || phase == .loading || phase == .finished else { return }
        restart = restart ?? now
        ask([.timePosition, .coreIdle])
        emit(interruptions.closeSeek(), at: now)
    }

    mutating func endFile(_ reason: MPVEndReason, at now: MonotonicInstant) {
        guard phase != .idle, phase != .away else { return }
        isInJoinedPlayback = false
        if reason == .redirect {
            isRedirected = true
            return
        }
        closeBlocks(at: now)
        if reason == .endOfFile, phase == .loading, let restart {
            // Too short for us to see it play.
            phase = .playing
            emit(.start, at: restart)
        }
        end(reason, at: now)
        phase = .idle
    }

    private mutating func end(_ reason: MPVEndReason, at now: MonotonicInstant) {
        switch reason {
        case .error(let words): fail(words, at: now)
        case .redirect: break
        case .quit:
            isLeaving = true
            if phase != .finished { emit(.stop, at: now) }
        case .endOfFile where endsEarly: failEarly(at: now)
        case .endOfFile, .stop:
            if phase != .finished {
                ending = Ending(isEndOfFile: reason == .endOfFile, instant: now, status: status)
            }
        }
    }

    /// Whether media that were there would have played on. The message may be of a part that was asked for again, and
    /// mpv's position is that of the last picture.
    private var endsEarly: Bool {
        guard isIncomplete, phase == .playing else { return false }
        guard let duration = status.duration, let position = status.position else { return true }
        return duration - position > .seconds(1)
    }

    private mutating func failEarly(at now: MonotonicInstant) {
        fail("the media end before their declared end", at: now)
    }

    /// Reports an end once it is known whether another entry follows. Skipping to the next entry of a playlist ends by
    /// `Next`, too.
    mutating func conclude(isFollowed: Bool) {
        guard let ending else { return }
        self.ending = nil
        let isInPlaylist = (values[.playlistCount]?.int ?? 0) > 1
        let action: Action =
            switch (isFollowed, ending.isEndOfFile) {
            case (true, true): .next
            case (true, false): isInPlaylist ? .next : .stop
            case (false, true): .end
            case (false, false): .stop
            }
        emit(action, at: ending.instant, status: ending.status)
    }

    /// Ends buffering and seeking when a playback ends, so that their time counts.
    mutating func closeBlocks(at now: MonotonicInstant) {
        emit(interruptions.closeBuffering() + interruptions.closeSeek(), at: now)
    }

    /// Applies the new value of a property.
    mutating func changed(_ property: MPVProperty, _ value: JSONValue?, at now: MonotonicInstant) {
        switch (property, value?.truth) {
        case (.coreIdle, false?): started(at: now)
        case (.isPausedForCache, true?): bufferingBegan(at: now)
        case (.isPausedForCache, false?): emit(interruptions.closeBuffering(), at: now)
        case (.isPaused, let isPaused?): pauseChanged(isPaused, at: now)
        case (.eofReached, true?): reachedEnd(at: now)
        case (.idleActive, true?): conclude(isFollowed: false)
        case (.decodedPicture, _): pictureChanged(at: now)
        case (.volume, _), (.isMuted, _): soundChanged(at: now)
        default: break
        }
    }

    mutating func started(at now: MonotonicInstant) {
        guard phase == .loading || phase == .finished else { return }
        phase = .playing
        interruptions.forgetReportOfPause()
        area = values.decodedArea
        emit(.start, at: now)
        isLate = false
    }

    private mutating func pauseChanged(_ isPaused: Bool, at now: MonotonicInstant) {
        if isPaused { return emit(interruptions.pause(isReported: phase == .playing), at: now) }
        // mpv may report that a paused player has started before it reports that the pause is over.
        let actions = interruptions.resume()
        guard phase == .playing else { return }
        emit(actions, at: now)
        // mpv had no data before the pause, and has none yet.
        if values[.isPausedForCache] == true { bufferingBegan(at: now) }
    }

    mutating func bufferingBegan(at now: MonotonicInstant) {
        if phase == .loading || phase == .playing && !isPaused { emit(interruptions.openBuffering(), at: now) }
    }

    /// With `keep-open` no `end-file` follows.
    private mutating func reachedEnd(at now: MonotonicInstant) {
        guard phase == .playing, let keepsOpen = values[.keepOpen], keepsOpen != false, keepsOpen != "no" else {
            return
        }
        closeBlocks(at: now)
        if endsEarly { failEarly(at: now) } else { emit(.end, at: now) }
        phase = .finished
    }

    private mutating func pictureChanged(at now: MonotonicInstant) {
        guard let area = values.decodedArea else { return }
        defer { self.area = area }
        guard phase == .playing, let before = self.area, before != area else { return }
        emit(area > before ? .qualityChangeUp : .qualityChangeDown, at: now)
    }

    /// A change counts while something is played, paused or not: before that nobody hears it.
    private mutating func soundChanged(at now: MonotonicInstant) {
        guard let sound = values.sound else { return }
        defer { self.sound = sound }
        guard phase == .playing, let before = self.sound, before != sound else { return }
        emit(.volumeChange, at: now, status: values.status)
    }
}
