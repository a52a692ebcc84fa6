internal import Instrument

/// Time that passes, and changes of state.
extension SessionModel {
    /// Adds the time since the latest event to the sums of the state that held.
    mutating func pass(until now: MonotonicInstant) {
        let last = session.end.instant
        guard now > last else { return }
        let milliseconds = last.milliseconds(to: now)
        session.times[session.state] += milliseconds
        if session.state == .playing { play(milliseconds) }
        if session.state == .ad, !phase.hasStarted, phase.isAsked {
            phase.prerollTime += milliseconds
        }
        if session.state == .rebuffering { stall(milliseconds) }
        if phase.isPauseOfAds, !phase.hasAds, session.state == .paused, let since = phase.pausedSince,
            since.milliseconds(to: now) > SessionPhase.adPauseLimit
        {
            // The ad is over, and the person has paused.
            phase.isPauseOfAds = false
            session.interruptions.pauseCount += 1
        }
        if let level = picture.level { session.network.bufferLevel.record(level, count: milliseconds) }
        record(from: last, to: now)
    }

    private mutating func stall(_ milliseconds: Int) {
        if phase.bufferingIsInitial { session.startup.initialRebufferTime += milliseconds }
        if milliseconds > 0, !phase.isRebufferCounted {
            session.interruptions.rebufferCount += 1
            phase.isRebufferCounted = true
        }
    }

    private mutating func play(_ milliseconds: Int) {
        let mediaTime = milliseconds.saturatingMultiply(picture.rate)
        if let bitrate = picture.bitrate {
            session.picture.peakBitrate = max(session.picture.peakBitrate ?? bitrate, bitrate)
            session.picture.bitrateTime = session.picture.bitrateTime.saturatingAdd(mediaTime)
            session.picture.bitrateProduct.add(Int128(bitrate) * Int128(mediaTime))
        }
        if let rendition = picture.rendition { session.picture.renditionTimes.add(milliseconds, to: rendition) }
        if picture.rate > 1000 { session.picture.fastTime += milliseconds }
        if picture.rate < 1000 { session.picture.slowTime += milliseconds }
        if let latency = picture.latency { session.picture.latency.record(latency, count: milliseconds) }
        if let upscaling = picture.upscaling {
            session.picture.scaledTime += milliseconds
            session.picture.upscalingProduct.add(Int128(upscaling) * Int128(milliseconds))
            session.picture.largestUpscaling = max(session.picture.largestUpscaling, upscaling)
        }
    }

    private mutating func record(from begin: MonotonicInstant, to end: MonotonicInstant) {
        guard case .trace(let limit) = recording else { return }
        let last = session.intervals.indices.last
        if let last, session.intervals[last].state == session.state, session.intervals[last].end == begin {
            session.intervals[last].end = end
        } else if session.intervals.count < limit {
            session.intervals.append(StateInterval(session.state, from: begin, to: end))
            session.trace.positions.append(picture.position)
        } else {
            session.trace.isTruncated = true
        }
    }

    /// Changes the state at the latest instant, and counts what the change means.
    mutating func enter(_ next: SessionState) {
        let previous = session.state
        if next == .playing || next == .paused { session.startup.hasBeenReady = true }
        guard next != previous else { return }
        let now = session.end.instant
        let (wasWaiting, isWaiting) = (previous.isBuffering, next.isBuffering)
        if isWaiting, !wasWaiting {
            session.interruptions.bufferingCount += 1
            phase.stallSince = now
        }
        if next == .rebuffering, !phase.isStallCounted {
            session.interruptions.stallCount += 1
            phase.isStallCounted = true
        }
        if wasWaiting, let since = phase.stallSince {
            session.interruptions.longestStall = max(session.interruptions.longestStall, since.milliseconds(to: now))
        }
        if !isWaiting { (phase.stallSince, phase.isStallCounted) = (nil, false) }
        let isJoining = previous == .joining || (previous == .ad && !session.startup.hasBeenReady)
        if isJoining, !next.isValidAfterJoining { session.startup.isJoinInvalid = true }
        session.state = next
    }
}

extension SessionState {
    /// Whether the player waits for data after the start, as ExoPlayer's `isRebufferingState`.
    var isBuffering: Bool { self == .rebuffering || self == .pausedBuffering }

    /// Whether a change from joining to this state leaves ExoPlayer's join time valid.
    var isValidAfterJoining: Bool {
        switch self {
        case .joining, .ad, .playing, .paused, .ended: true
        default: false
        }
    }
}

extension Int128 {
    /// Adds, and stops at the ends of the range.
    mutating func add(_ other: Int128) { self = saturatingAdd(other) }
}
