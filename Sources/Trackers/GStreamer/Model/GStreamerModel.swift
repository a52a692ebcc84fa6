internal import Instrument

/// Translates what a pipeline reports into playback signals: a value without a pipeline and without a clock.
///
/// Instants of signals never decrease. A start and a stall are known some hundred milliseconds after they happened, so
/// their signals carry the instant of the event.
struct GStreamerModel: Sendable {
    enum Phase: Hashable {
        /// Nothing is played.
        case idle
        /// `StreamLoad` was reported, `Start` was not.
        case loading
        case playing
        /// `End` or a fatal error was reported.
        case finished
    }

    /// The app holds the pipeline in PAUSED until the buffers are full.
    private struct Hold: Hashable {
        var since: MonotonicInstant
        /// When the buffers became full; nil before.
        var fullSince: MonotonicInstant?
    }

    /// How far before the end the pipeline may end a media, in seconds.
    private static let endTolerance = 3.0
    /// How long after the buffers are full the app may take to play on. A pipeline that stays paused is paused by a
    /// person.
    private static let resumePatience = Duration.milliseconds(500)
    /// An app that pauses for less time, because its buffers were empty for a moment, causes no stall.
    private static let shortestStall = Duration.milliseconds(100)
    /// A seek that changes the rate and goes less far, in seconds, is a change of the rate: GStreamer has no other way.
    private static let rateSeekDistance = 0.5
    /// The number of warnings that are kept as causes.
    private static let maxWarningCount = 8

    /// The motion of the playhead, as the inbox has it beside each observation.
    var motion = GStreamerMotion()
    private(set) var phase = Phase.idle
    private var interruptions = PlayerInterruptions()
    private var hold: Hold?
    private var state = GStreamerEvent.State.none
    private var isBufferFull = true
    /// When the buffers were last not full: an app reads its messages later.
    private var lastShortage: MonotonicInstant?
    private var isSegmentDone = false
    private var group: Int?
    private var rate = 1.0
    private var picture = GStreamerEvent.Picture()
    private var area: Int?
    private var source: String?
    private var title: String?
    private var language: String?
    private var duration: Duration?
    private var bitrates: [GStreamerEvent.Media: Int] = [:]
    private var renditionBitrate: Int?
    private var sound: (volume: Double, isMuted: Bool)?
    private var dropped: [UInt64: Int] = [:]
    private var warnings: [String] = []
    private var signals = PlayerSignals()

    var isPaused: Bool { interruptions.isPaused }
    private var isSeeking: Bool { interruptions.isSeeking }
    private var isOpen: Bool { phase == .loading || phase == .playing }

    /// The instant at which ``look(at:)`` may know more; nil while nothing is open.
    var decisionDue: MonotonicInstant? {
        guard isOpen, let hold else { return nil }
        if let full = hold.fullSince { return max(full, hold.since).advanced(by: Self.resumePatience) }
        return interruptions.isBuffering || isSeeking || phase == .loading
            ? nil : hold.since.advanced(by: Self.shortestStall)
    }

    /// Takes an observation that was made at `now`, and returns the signals that follow from it.
    mutating func observe(_ observation: GStreamerObservation, at now: MonotonicInstant) -> [PlayerSignal] {
        switch observation {
        case .joined(let isPaused): join(isPaused: isPaused, at: now)
        case .source(let text): source = text
        case .motion(.moves(let since)): moves(since: since)
        case .motion(.stands(let since)): stands(since: since)
        case .look: look(at: now)
        case .event(let kind): take(kind, at: now)
        }
        return signals.take()
    }

    private mutating func take(_ kind: GStreamerEvent.Kind, at now: MonotonicInstant) {
        switch kind {
        case .state(let old, let new, let pending): stateChanged(from: old, to: new, pending: pending, at: now)
        case .thread: if phase == .idle { begin(at: now) }
        case .streamStart(let group): streamStarted(group, at: now)
        case .asyncDone: if isPaused { emit(interruptions.closeSeek(), at: now) }
        case .buffering(let percent, let isLive): buffering(isFull: percent >= 100, isLive: isLive, at: now)
        case .end: endReached(at: now)
        case .segmentDone: isSegmentDone = true
        case .failed(let failure): fail(failure, at: now)
        case .warned(let failure): keep(failure)
        case .seek(let rate, let isFlushing, let position): seek(rate, isFlushing, position, at: now)
        case .flushed(let sink): if motion.isMain(sink), phase == .playing, !isRateChanging { openSeek(at: now) }
        case .caps(let sink, _, let picture): if motion.isMain(sink) { pictureChanged(to: picture, at: now) }
        case .segment(_, let rate, let duration):
            rateChanged(to: rate, at: now)
            isRateChanging = false
            self.duration = duration.flatMap { $0 > 0 ? .nanoseconds($0) : nil } ?? self.duration
        case .tags(let media, let bitrate, let language, let title):
            if let bitrate, bitrate > 0 { bitrates[media] = bitrate }
            (self.language, self.title) = (language ?? self.language, title ?? self.title)
        case .rendition(let bitrate): renditionBitrate = bitrate > 0 ? bitrate : renditionBitrate
        case .dropped(let count, let element): dropped[element] = max(count, dropped[element] ?? 0)
        case .sound(let volume, let isMuted): soundChanged(volume, isMuted, at: now)
        case .buffer, .sinkGone: break
        }
    }

    /// The status at an instant.
    func status(at now: MonotonicInstant) -> PlayerStatus {
        var status = PlayerStatus()
        status.position = motion.playhead(at: now).map { seconds in
            let position = Duration.milliseconds(Int64((min(max(0, seconds), 4e9) * 1_000).rounded()))
            return duration.map { min($0, position) } ?? position
        }
        status.duration = duration
        (status.resolutionWidth, status.resolutionHeight) = (picture.width, picture.height)
        status.framesPerSecond = picture.framesPerSecond
        status.bitrate = renditionBitrate ?? (bitrates.isEmpty ? nil : bitrates.values.reduce(0, Self.sum))
        status.language = language
        status.volume = sound.map { Int((min(1, $0.volume) * 100).rounded()) }
        status.isMuted = sound?.isMuted
        (status.title, status.source) = (title ?? source.map(SourceText.fileName), source)
        return status
    }

    // MARK: - Begin and end

    private mutating func join(isPaused: Bool, at now: MonotonicInstant) {
        guard phase == .idle else { return }
        begin(at: now, isLate: true)
        state = isPaused ? .paused : .playing
        interruptions = PlayerInterruptions(isPaused: isPaused)
    }

    private mutating func begin(at now: MonotonicInstant, isLate: Bool = false) {
        (interruptions, isSegmentDone, hold, group) = (PlayerInterruptions(), false, nil, nil)
        (isBufferFull, lastShortage, isRateChanging, rate) = (true, nil, false, 1)
        (duration, title, language) = (nil, nil, nil)
        (picture, area, bitrates, renditionBitrate, dropped, warnings) = (.init(), nil, [:], nil, [:], [])
        (phase, signals.isLate) = (.loading, isLate)
        emit(.streamLoad, at: now)
    }

    private mutating func stateChanged(
        from old: GStreamerEvent.State,
        to new: GStreamerEvent.State,
        pending: GStreamerEvent.State,
        at now: MonotonicInstant
    ) {
        let target = pending == .none ? new : pending
        state = new
        if target <= .ready, new >= .paused || old >= .paused || phase != .idle {
            if isOpen { finish(.stop, at: now) }
            phase = .idle
            return
        }
        if phase == .idle, target >= .paused { begin(at: now) }
        switch (new, pending) {
        case (.playing, _): resume(at: now)
        case (.paused, .none) where old == .playing: paused(at: now)
        // The app paused before the begin.
        case (.paused, .none) where old == .ready && isBufferFull: if phase == .loading { pause(at: now) }
        default: break
        }
    }

    /// Another group of streams: a playlist continues without a gap.
    private mutating func streamStarted(_ group: Int, at now: MonotonicInstant) {
        defer { self.group = group == 0 ? self.group : group }
        guard phase == .playing, let before = self.group, group != 0, group != before else { return }
        let isMoving = motion.isMoving
        finish(.next, at: now)
        begin(at: now)
        if isMoving { moves(since: now) }
    }

    private mutating func endReached(at now: MonotonicInstant) {
        guard isOpen else { return }
        let position = motion.playhead(at: now)
        if let duration, phase == .loading || duration.seconds - (position ?? 0) > Self.endTolerance {
            let (played, whole) = (Int(position ?? 0), Int(duration.seconds))
            return fail("GStreamer ended the playback at \(played) s of \(whole) s", code: nil, at: now)
        }
        if phase == .loading { start(at: signals.lastInstant ?? now) }
        finish(.end, at: now)
    }

    private mutating func fail(_ failure: GStreamerEvent.Failure, at now: MonotonicInstant) {
        let code = failure.httpStatus.map { "HTTP \($0)" } ?? "\(failure.domain) \(failure.code)"
        fail(failure.words, code: code, at: now)
    }

    private mutating func fail(_ words: String, code: String?, at now: MonotonicInstant) {
        guard phase != .finished else { return }
        // A pipeline that fails before it has a thread.
        if phase == .idle { begin(at: now) }
        var attributes = Attributes()
        attributes[.errorDescription] = ([words] + warnings).joined(separator: "; ")
        attributes[.errorCode] = code
        attributes[.isFatal] = true
        finish(.error, at: now, attributes: attributes)
    }

    private mutating func keep(_ failure: GStreamerEvent.Failure) {
        let words = failure.words
        if warnings.count < Self.maxWarningCount, !warnings.contains(words) { warnings.append(words) }
    }

    private mutating func start(at instant: MonotonicInstant) {
        (phase, hold, interruptions) = (.playing, nil, PlayerInterruptions())
        emit(.start, at: instant)
        signals.isLate = false
    }

    private mutating func finish(_ action: Action, at now: MonotonicInstant, attributes: Attributes = Attributes()) {
        emit(interruptions.end(), at: now)
        if let hold { openStall(since: hold.since, at: now) }
        hold = nil
        var attributes = attributes
        if !dropped.isEmpty { attributes[.droppedFrames] = dropped.values.reduce(0, Self.sum) }
        emit(action, at: now, attributes: attributes)
        phase = .finished
    }

    // MARK: - Motion, pause, stall

    private mutating func moves(since begin: MonotonicInstant) {
        isSegmentDone = false
        switch phase {
        case .loading: start(at: begin)
        case .playing:
            emit(interruptions.closeSeek() + interruptions.closeBuffering(), at: begin)
        case .idle, .finished: break
        }
    }

    private mutating func stands(since begin: MonotonicInstant) {
        guard phase == .playing, hold == nil, !isPaused, !isSeeking else { return }
        // The end of a segment, after which the app asked for no other.
        if isSegmentDone { return finish(.end, at: begin) }
        emit(interruptions.openBuffering(), at: begin)
    }

    private mutating func paused(at now: MonotonicInstant) {
        guard isOpen, hold == nil, !isPaused else { return }
        if !isBufferFull {
            hold = Hold(since: now)
        } else if let shortage = lastShortage, shortage.duration(to: now) <= Self.resumePatience {
            hold = Hold(since: now, fullSince: now)
        } else {
            pause(at: now)
        }
    }

    private mutating func pause(at now: MonotonicInstant) {
        hold = nil
        let isReported = phase == .playing
        if isReported { emit(interruptions.closeBuffering() + interruptions.closeSeek(), at: now) }
        emit(interruptions.pause(isReported: isReported), at: now)
    }

    private mutating func resume(at now: MonotonicInstant) {
        emit(interruptions.resume(), at: now)
        hold = nil
        // Without a sink that shows, there is nothing else to tell.
        if !motion.hasSink, isBufferFull, phase == .playing { emit(interruptions.closeBuffering(), at: now) }
    }

    private mutating func buffering(isFull: Bool, isLive: Bool, at now: MonotonicInstant) {
        isBufferFull = isFull || isLive
        if !isBufferFull { lastShortage = now }
        guard isOpen else { return }
        if hold != nil {
            hold?.fullSince = isFull ? now : nil
        } else if phase == .playing, !motion.hasSink, !isPaused, !isLive {
            emit(isFull ? interruptions.closeBuffering() : interruptions.openBuffering(), at: now)
        } else if phase == .loading, !isFull, isPaused, !isLive {
            // An app that waits for its buffers before the start.
            (hold, interruptions) = (Hold(since: now), PlayerInterruptions())
        }
    }

    /// Decides what only time tells: a stall that is long enough, and a pipeline that stays paused with full buffers.
    private mutating func look(at now: MonotonicInstant) {
        guard let due = decisionDue, now >= due, let hold, state == .paused else { return }
        guard let full = hold.fullSince else { return openStall(since: hold.since, at: now) }
        // An app that paused after its buffers were full did not wait for them.
        if full > hold.since { openStall(since: hold.since, at: full) }
        pause(at: max(full, hold.since))
    }

    private mutating func openStall(since begin: MonotonicInstant, at now: MonotonicInstant) {
        guard phase == .playing, !isSeeking, begin.duration(to: now) >= Self.shortestStall else { return }
        emit(interruptions.openBuffering(), at: begin)
    }

    // MARK: - Seek, rate

    /// A flush belongs to a change of the rate.
    private var isRateChanging = false

    private mutating func seek(_ rate: Double, _ isFlushing: Bool, _ position: Int64?, at now: MonotonicInstant) {
        if phase == .finished, isFlushing, state >= .paused {
            // The end is over: the app plays again from somewhere.
            return begin(at: now)
        }
        guard phase == .playing, !isSeeking else { return }
        let target = position.map { Double($0) / 1e9 }
        let distance = target.flatMap { target in motion.playhead(at: now).map { abs(target - $0) } }
        if rate != self.rate, distance ?? 0 < Self.rateSeekDistance {
            isRateChanging = isFlushing
            return rateChanged(to: rate, at: now)
        }
        if isFlushing { openSeek(at: now) }
    }

    private mutating func openSeek(at now: MonotonicInstant) {
        if !isSeeking { emit(interruptions.closeBuffering() + interruptions.openSeek(), at: now) }
    }

    private mutating func rateChanged(to rate: Double, at now: MonotonicInstant) {
        guard rate != self.rate else { return }
        self.rate = rate
        guard phase == .playing else { return }
        var attributes = Attributes()
        attributes[.playbackRate] = rate
        emit(.playbackRateChange, at: now, attributes: attributes)
    }

    // MARK: - Quality, sound

    private mutating func pictureChanged(to picture: GStreamerEvent.Picture, at now: MonotonicInstant) {
        guard isOpen, let after = picture.area else { return }
        self.picture = picture
        defer { area = after }
        guard phase == .playing, let before = area, before != after else { return }
        emit(after > before ? .qualityChangeUp : .qualityChangeDown, at: now)
    }

    /// A change counts while something is played, paused or not: before that nobody hears it.
    private mutating func soundChanged(_ volume: Double, _ isMuted: Bool, at now: MonotonicInstant) {
        defer { sound = (volume, isMuted) }
        guard phase == .playing, let before = sound, before != (volume, isMuted) else { return }
        sound = (volume, isMuted)
        emit(.volumeChange, at: now)
    }

    private mutating func emit(_ actions: [Action], at instant: MonotonicInstant) {
        for action in actions { emit(action, at: instant) }
    }

    private mutating func emit(_ action: Action, at instant: MonotonicInstant, attributes: Attributes = Attributes()) {
        let instant = signals.instant(for: instant)
        let signal = PlayerSignal(action, at: instant, status: status(at: instant), attributes: attributes)
        signals.add(signal, at: instant)
    }

    private static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}

/// Something that a model takes.
enum GStreamerObservation: Hashable, Sendable {
    /// A playback was running when the observation began.
    case joined(isPaused: Bool)
    /// The address or path of the media, without secrets.
    case source(String?)
    case motion(GStreamerMotion.Change)
    case event(GStreamerEvent.Kind)
    /// Time has passed.
    case look
}

extension GStreamerEvent.Failure {
    /// The message and where it comes from, without the secrets of addresses.
    fileprivate var words: String {
        let detail = debug.split(separator: "\n").last.map(String.init) ?? ""
        let isTold = detail.isEmpty || detail == text
        return SourceText.redactedAddresses(in: isTold ? text : "\(text) (\(detail))")
    }
}
