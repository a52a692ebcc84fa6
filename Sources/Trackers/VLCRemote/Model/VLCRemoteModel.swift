internal import Instrument

/// Translates the answers of a VLC into playback signals: a value without a player and without a clock.
///
/// VLC tells no event. A change between two answers gets the instant between both. Instants of signals never decrease.
struct VLCRemoteModel: Sendable {
    enum Phase: Hashable, Sendable {
        /// Nothing is played.
        case idle
        /// `StreamLoad` was reported, `Start` was not.
        case loading
        case playing
    }

    private struct Sample {
        var status: VLCStatus
        var instant: MonotonicInstant
    }

    /// How far before its end VLC may end a media, in seconds: as far as its figures lag.
    private static let endTolerance = 3.0
    /// How long all figures have to stand: longer than VLC's own computations are apart on a busy machine.
    private static let leastStand = Duration.milliseconds(1_000)
    /// The jumps, in seconds, that are a seek: the position of an adaptive stream is up to 1.1 s late.
    private static let jumps = (forward: 2.5, back: 1.6)
    /// The share of the frame rate that a motion has; VLC counts twelve refreshes a second of a standing picture.
    private static let movingShare = 0.7
    private static let usualFramesPerSecond = 25.0

    private(set) var phase = Phase.idle
    private var interruptions = PlayerInterruptions()
    private var signals = PlayerSignals()
    private var last: Sample?
    /// The latest answer whose figures differ from those before it.
    private var mark: Sample?
    private var isMoving = false
    private var source: String?
    private var picture: VLCStatus.Picture?
    private var volume: Int?

    var isPaused: Bool { interruptions.isPaused }

    /// Takes an answer that was made at `now`, and returns the signals that follow from it.
    ///
    /// - Parameter source: the address of the item, where it is known.
    mutating func observe(
        _ status: VLCStatus,
        source: String?,
        at now: MonotonicInstant
    ) -> [PlayerSignal] {
        // Between the two answers.
        let edge = last.map { $0.instant.advanced(by: $0.instant.duration(to: now) / 2) } ?? now
        let (isFirst, before) = (last == nil, last)
        if status.state == .stopped || status.item < 0 {
            stopped(at: edge)
            last = Sample(status: status, instant: now)
            return signals.take()
        }
        if let before, phase != .idle, Self.isAnother(status, after: before.status) { replaced(at: edge) }
        last = Sample(status: status, instant: now)
        if phase == .idle { begin(status, source, isLate: isFirst, at: isFirst ? now : edge) }
        if status.state == .paused { pause(at: edge) } else { resume(at: edge) }
        if let mark, jumped(from: mark, to: status, at: now) { seek(from: mark.status.position, at: edge) }
        if status.state == .playing { move(status, at: now) } else { mark = last }
        pictureChanged(status.picture, at: edge)
        soundChanged(status.volume, at: edge)
        return signals.take()
    }

    /// The player has gone.
    ///
    /// - Parameter words: the reason if the player failed; nil if it may have quit.
    mutating func gone(_ words: String?, at now: MonotonicInstant) -> [PlayerSignal] {
        if phase != .idle {
            if let words { fail(words, at: now) } else { finish(.stop, at: now) }
        }
        (phase, last, mark) = (.idle, nil, nil)
        return signals.take()
    }

    /// The tracker watches no more; the playback may continue.
    mutating func detached(at now: MonotonicInstant) -> [PlayerSignal] {
        if phase != .idle { emit(.detach, at: now) }
        (phase, last, mark) = (.idle, nil, nil)
        return signals.take()
    }

    /// The status at an instant.
    func status(at now: MonotonicInstant) -> PlayerStatus {
        var result = PlayerStatus()
        guard phase != .idle, let last else { return result }
        let (status, elapsed) = (last.status, min(max(0, last.instant.duration(to: now).seconds), 2))
        let position = status.position + (isMoving && !isPaused ? elapsed * status.rate : 0)
        result.position = .seconds(status.length.map { min($0, position) } ?? position)
        result.duration = status.length.map { .seconds($0) }
        (result.resolutionWidth, result.resolutionHeight) = (picture?.width, picture?.height)
        (result.framesPerSecond, result.volume) = (picture?.framesPerSecond, volume)
        (result.title, result.source) = (status.title, source)
        return result
    }

    // MARK: - Begin and end

    /// Whether an answer is of another playback: of another item, or of one that began again, with new counters.
    private static func isAnother(_ status: VLCStatus, after before: VLCStatus) -> Bool {
        if status.item != before.item { return true }
        guard let now = status.counters, let then = before.counters else { return false }
        return now.decodedVideo < then.decodedVideo || now.playedAudio < then.playedAudio
    }

    private mutating func begin(_ status: VLCStatus, _ source: String?, isLate: Bool, at instant: MonotonicInstant) {
        (phase, self.source, signals.isLate) = (.loading, source, isLate)
        (picture, volume, mark, isMoving) = (status.picture, status.volume, nil, false)
        interruptions = PlayerInterruptions(isPaused: status.state == .paused)
        emit(.streamLoad, at: instant)
    }

    private mutating func stopped(at instant: MonotonicInstant) {
        guard phase != .idle else { return }
        if phase == .loading { return failBeforeStart(at: instant) }
        finish(isNearEnd ? .end : .stop, at: instant)
    }

    /// VLC plays another item, or the same one again.
    private mutating func replaced(at instant: MonotonicInstant) {
        if phase == .loading { failBeforeStart(at: instant) } else { finish(.next, at: instant) }
    }

    private var isNearEnd: Bool {
        guard let status = last?.status, let length = status.length else { return false }
        return length - status.position <= Self.endTolerance
    }

    private mutating func failBeforeStart(at instant: MonotonicInstant) {
        fail("VLC stopped before anything was played; check whether the media can be opened", at: instant)
    }

    private mutating func fail(_ words: String, at instant: MonotonicInstant) {
        var attributes = Attributes()
        attributes[.errorDescription] = words
        attributes[.isFatal] = true
        finish(.error, at: instant, attributes: attributes)
    }

    private mutating func finish(_ action: Action, at instant: MonotonicInstant, attributes: Attributes = Attributes())
    {
        emit(interruptions.end(), at: instant)
        emit(action, at: instant, attributes: attributes)
        (phase, mark, isMoving) = (.idle, nil, false)
    }

    // MARK: - Pause, seek

    private mutating func pause(at instant: MonotonicInstant) {
        guard !isPaused else { return }
        isMoving = false
        emit(interruptions.pause(isReported: phase == .playing), at: instant)
    }

    private mutating func resume(at instant: MonotonicInstant) {
        guard isPaused else { return }
        emit(interruptions.resume(), at: instant)
        // Without data the playhead will be found standing.
        if phase == .playing { (isMoving, mark) = (!interruptions.isSeeking, last) }
    }

    private func jumped(from mark: Sample, to status: VLCStatus, at now: MonotonicInstant) -> Bool {
        guard phase == .playing, !interruptions.isSeeking else { return false }
        let moved = status.position - mark.status.position
        let run = isMoving ? mark.instant.duration(to: now).seconds * max(1, status.rate) : 0
        return moved - run > Self.jumps.forward || moved < -Self.jumps.back
    }

    private mutating func seek(from position: Double, at instant: MonotonicInstant) {
        for action in interruptions.closeBuffering() + interruptions.openSeek() {
            emit(action, at: instant, position: position)
        }
        // The picture of the new position is shown, and a paused player shows no other.
        if isPaused { return emit(interruptions.closeSeek(), at: instant) }
        (isMoving, mark) = (false, last)
    }

    // MARK: - Motion

    private mutating func move(_ status: VLCStatus, at now: MonotonicInstant) {
        let sample = Sample(status: status, instant: now)
        guard let mark else {
            mark = sample
            return
        }
        if status.hasSameProgress(as: mark.status) {
            guard isMoving, mark.instant.duration(to: now) >= Self.leastStand else { return }
            isMoving = false
            emit(interruptions.openBuffering(), at: mark.instant)
            return
        }
        self.mark = sample
        guard !isMoving, let begin = motion(from: mark, to: sample) else { return }
        isMoving = true
        if phase == .loading {
            phase = .playing
            emit(.start, at: begin)
            signals.isLate = false
        }
        emit(interruptions.closeSeek() + interruptions.closeBuffering(), at: begin)
    }

    /// The instant since which the playhead moves; nil if it does not.
    private func motion(from before: Sample, to now: Sample) -> MonotonicInstant? {
        let elapsed = before.instant.duration(to: now.instant).seconds
        let (then, status) = (before.status, now.status)
        let moved = status.position - then.position
        let hasClockRun = elapsed > 0.15 && moved > 0 && abs(moved - elapsed * status.rate) < 0.1
        guard let counters = status.counters, let earlier = then.counters else {
            return hasClockRun ? before.instant : nil
        }
        let isDecoding = counters.decodedVideo > earlier.decodedVideo
        guard counters.displayed > 0, isDecoding || hasClockRun else {
            let isHeard = counters.displayed == 0 && counters.playedAudio > earlier.playedAudio
            return isHeard || hasClockRun ? before.instant : nil
        }
        let shown = Double(counters.displayed - earlier.displayed)
        let frames = (status.picture?.framesPerSecond ?? Self.usualFramesPerSecond) * status.rate
        // More pictures than there are: the refreshes of a long stand, which VLC counts when the input works again.
        let isMotion = shown >= Self.movingShare * frames * elapsed && shown <= 1.5 * frames * elapsed + 3
        guard isMotion else { return hasClockRun ? before.instant : nil }
        return max(before.instant, now.instant.advanced(by: .seconds(-shown / frames)))
    }

    // MARK: - Quality and sound

    private mutating func pictureChanged(_ picture: VLCStatus.Picture?, at instant: MonotonicInstant) {
        guard let picture else { return }
        defer { self.picture = picture }
        guard phase == .playing, let before = self.picture, before.area != picture.area else { return }
        self.picture = picture
        emit(picture.area > before.area ? .qualityChangeUp : .qualityChangeDown, at: instant)
    }

    /// A change counts while something is played, paused or not: before that nobody hears it.
    private mutating func soundChanged(_ volume: Int?, at instant: MonotonicInstant) {
        let before = self.volume
        self.volume = volume
        guard phase == .playing, before != nil, volume != nil, before != volume else { return }
        emit(.volumeChange, at: instant)
    }

    // MARK: - Output

    private mutating func emit(_ actions: [Action], at instant: MonotonicInstant) {
        for action in actions { emit(action, at: instant) }
    }

    /// Reports an action; with the position from which the playhead has jumped, where it has.
    private mutating func emit(
        _ action: Action,
        at instant: MonotonicInstant,
        attributes: Attributes = Attributes(),
        position: Double? = nil
    ) {
        let instant = signals.instant(for: instant)
        var status = status(at: instant)
        if let position { status.position = .seconds(position) }
        signals.add(PlayerSignal(action, at: instant, status: status, attributes: attributes), at: instant)
    }
}

extension VLCStatus {
    /// Whether the playhead can stand between two answers. The refreshes of a standing picture are displayed pictures.
    fileprivate func hasSameProgress(as other: VLCStatus) -> Bool {
        position == other.position && counters?.decodedVideo == other.counters?.decodedVideo
            && counters?.playedAudio == other.counters?.playedAudio
    }
}
