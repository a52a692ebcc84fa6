internal import Instrument

/// The media clock: whether it runs, where it is, and when it jumps.
extension AVPlayerModel {
    /// 1 or -1 times the speed at which the playhead should move; AirPlay reports 0 at times although it plays.
    private var speed: Double { rate.flatMap { $0 == 0 ? nil : $0 } ?? 1 }

    /// Whether the player claims that the playhead moves.
    var isRunning: Bool {
        switch timeControl {
        case .playing?: rate != 0 || isExternal
        case .waiting?, .paused?: false
        case nil: rate.map { $0 != 0 } ?? false
        }
    }

    /// How far the clock can have run since the sample, in seconds of the media.
    private func reach(at instant: MonotonicInstant) -> Double {
        guard isRunning, let begun = reachInstant else { return reach }
        return reach + abs(speed) * max(0, begun.duration(to: instant).seconds)
    }

    /// Status or rate are about to change: notes how far the clock ran until now.
    mutating func anchor(at now: MonotonicInstant) {
        guard sample != nil, reachInstant.map({ $0 <= now }) ?? true else { return }
        (reach, reachInstant) = (reach(at: now), now)
    }

    private mutating func keep(_ position: Double, at now: MonotonicInstant) {
        sample = Sample(position: position, instant: now)
        (reach, reachInstant) = (0, now)
    }

    /// The playhead at an instant, in seconds: the last sample, moved on while the clock runs, and never beyond the
    /// end.
    func position(at instant: MonotonicInstant) -> Double? {
        guard let sample else { return nil }
        guard phase == .playing || phase == .finished, !isSeeking else { return sample.position }
        // A clock without a recent observation may have stopped.
        let distance = min(isBuffering ? reach : reach(at: instant), abs(speed))
        let position = sample.position + (speed < 0 ? -distance : distance)
        guard let duration = values.duration?.seconds else { return position }
        return max(min(position, max(duration, sample.position)), min(0, sample.position))
    }

    /// The status of the player at an instant.
    func status(at instant: MonotonicInstant) -> PlayerStatus {
        var status = values.status
        status.position = position(at: instant).flatMap { MediaTime.duration(max(0, $0)) }
        (status.resolutionWidth, status.resolutionHeight) = (quality.width, quality.height)
        status.bitrate = quality.bitrate
        status.title = item?.title
        status.source = item?.source
        return status
    }

    mutating func timeObserved(_ position: Double, at now: MonotonicInstant) {
        let before = sample
        if let before, before.instant > now { return }
        let (lastPosition, reach) = (self.position(at: now), reach(at: now))
        let keepsOffset = keepsLiveOffset(movingTo: position, at: now)
        keep(position, at: now)
        guard let before, !keepsOffset else { return }
        let moved = (position - before.position) * (speed < 0 ? -1 : 1)
        if Self.isJump(moved: moved, within: reach, isRunning: isRunning) {
            jumpSeen(from: lastPosition, at: now)
        } else if moved > 0, isRunning {
            // The clock began to move when it left the last position, but not before it could.
            let began = now.advanced(by: .seconds(-moved / max(abs(speed), 0.01)))
            moving(since: max(began, before.instant), at: now)
        }
    }

    /// Whether a movement is a jump: further than the clock can advance, or back. A clock that lags is no jump: the
    /// clock had stopped for a while, or the observation came late.
    private static func isJump(moved: Double, within reach: Double, isRunning: Bool) -> Bool {
        if !isRunning { return moved > reach + pausedTolerance || moved < -pausedTolerance }
        return moved > reach + clockTolerance || (moved < -shortestJump && reach - moved > clockTolerance)
    }

    /// The time-jumped notice. AVPlayer posts it also when playback starts and resumes, without a jump.
    mutating func jumped(to position: Double?, at now: MonotonicInstant) {
        let expected = self.position(at: now)
        if let position, let expected, abs(position - expected) < Self.shortestJump { return }
        let keepsOffset = position.map { keepsLiveOffset(movingTo: $0, at: now) } ?? false
        if let position { keep(position, at: now) }
        if keepsOffset { return }
        jumpSeen(from: expected, at: now)
    }

    private mutating func jumpSeen(from position: Double?, at now: MonotonicInstant) {
        switch phase {
        case .playing:
            if isSeeking { return }
            closeBuffering(at: now)
            var status = self.status(at: now)
            status.position = position.flatMap { MediaTime.duration(max(0, $0)) }
            isSeeking = true
            emit(.seekBegin, at: now, status: status)
            if isPaused, let seekEnd, Self.isOneChange(seekEnd, now) { finishSeek(at: now) }
        case .loading, .finished, .failed: earliestStart = now
        case .idle: break
        }
    }

    /// A seek is complete. While the player is paused, no clock says so; else the seek ends when the clock moves.
    mutating func seekCompleted(at now: MonotonicInstant) {
        guard phase == .playing, isPaused else { return }
        if isSeeking { finishSeek(at: now) } else { seekEnd = now }
    }

    private mutating func finishSeek(at now: MonotonicInstant) {
        (isSeeking, seekEnd) = (false, nil)
        emit(.seekFinish, at: now)
    }

    /// The playhead moves as a running clock does, since `began`.
    private mutating func moving(since began: MonotonicInstant, at now: MonotonicInstant) {
        switch phase {
        case .loading: start(at: max(began, earliestStart ?? began))
        case .playing:
            if isSeeking { finishSeek(at: began) }
            closeBuffering(at: began)
            if isPaused { resume(at: began) }
        case .finished, .failed:
            // The last frames after a pause near the end belong to the playback that has ended.
            if let asked = earliestStart, phase == .failed || !isNearEnd(at: now) { replay(at: max(began, asked)) }
        case .idle: break
        }
    }

    func isNearEnd(at now: MonotonicInstant) -> Bool {
        guard let duration = values.duration?.seconds, let position = position(at: now) else { return false }
        return position > duration - Self.endTolerance
    }
}
