internal import Instrument

/// Translates what libVLC reports into playback signals: a value without a player and without a clock.
///
/// Instants of signals never decrease. A start and a stall are known some hundred milliseconds after they happened, so
/// their signals carry the instant of the event.
struct VLCModel: Sendable {
    enum Phase: Hashable {
        /// Nothing is played.
        case idle
        /// `StreamLoad` was reported, `Start` was not.
        case loading
        case playing
        /// `End`, `Stop` or a fatal error was reported.
        case finished
    }

    /// How far before the end libVLC may end a media, in seconds: as far as its time lags.
    private static let endTolerance = 3.0
    /// How long a seek that the app asked for may take until libVLC flushes its buffers.
    private static let seekPatience = Duration.seconds(10)
    private static let aliveSeekPatience = Duration.seconds(1)
    /// The number of error messages that are kept.
    private static let maxMessageCount = 8

    private(set) var phase = Phase.idle
    private var interruptions = PlayerInterruptions()
    private var motion = VLCMotion()
    private var media = VLCMedia()
    private var tracks = VLCTracks()
    /// The last known size of the picture in pixels.
    private var area: Int?
    private var duration: Duration?
    /// 0 to 100.
    private var volume: Int?
    private var isMuted: Bool?
    private var seekAsked: MonotonicInstant?
    private var messages: [String] = []
    private var signals = PlayerSignals()

    /// The latest instant at which an input that is not heard of can still play; nil while nothing moves.
    var runsDry: MonotonicInstant? { phase == .playing && motion.isMoving ? motion.runsDry : nil }

    /// Whether the picture's size or frame rate is still unknown: libVLC knows the tracks of a transport stream only
    /// some time after it has selected them.
    var lacksTracks: Bool { isOpen && (tracks.width == nil || tracks.framesPerSecond == nil) }

    /// Takes an observation that was made at `now`, and returns the signals that follow from it.
    mutating func observe(_ observation: VLCObservation, at now: MonotonicInstant) -> [PlayerSignal] {
        switch observation {
        case .joined(let media, let isPaused): join(media, isPaused: isPaused, at: now)
        case .opening(let media): open(media, at: now)
        case .mediaChanged: stop(at: now)
        case .buffering(let percent): buffering(isFull: percent >= 100, at: now)
        case .playing: resume(at: now)
        case .paused: pause(at: now)
        case .stopped: stop(at: now)
        case .endReached: endReached(at: now)
        case .failed: fail("libVLC cannot play the media", at: now)
        case .progress(let progress): if isOpen { advance(progress, at: now) }
        case .counters(let counters): if isOpen { motion.count(counters, at: now) }
        case .seekAsked: askForSeek(at: now)
        case .length(let milliseconds): duration = Self.duration(milliseconds)
        case .tracks(let tracks, let isShown): tracksChanged(to: tracks, isShown: isShown, at: now)
        case .volume(let volume): soundChanged(at: now) { $0.volume = Self.percent(volume) ?? $0.volume }
        case .muted(let isMuted): soundChanged(at: now) { $0.isMuted = isMuted }
        case .message(let text): keep(text)
        case .silence: if phase == .playing, !isPaused { apply(motion.silence(at: now), at: now) }
        }
        return signals.take()
    }

    private var isOpen: Bool { phase == .loading || phase == .playing }
    private var isPaused: Bool { interruptions.isPaused }
    private var isSeeking: Bool { interruptions.isSeeking }

    /// The status at an instant.
    func status(at now: MonotonicInstant) -> PlayerStatus {
        var status = PlayerStatus()
        status.position = motion.playhead(at: now).map { seconds in
            let position = Duration.seconds(max(0, seconds))
            return duration.map { min($0, position) } ?? position
        }
        status.duration = duration
        (status.resolutionWidth, status.resolutionHeight) = (tracks.width, tracks.height)
        (status.bitrate, status.framesPerSecond) = (tracks.bitrate, tracks.framesPerSecond)
        (status.language, status.subtitles) = (tracks.language, tracks.subtitles)
        (status.volume, status.isMuted) = (volume, isMuted)
        (status.title, status.source) = (media.title, media.source)
        return status
    }

    // MARK: - Begin and end

    private mutating func join(_ media: VLCMedia, isPaused: Bool, at now: MonotonicInstant) {
        stop(at: now)
        begin(media)
        (signals.isLate, interruptions) = (true, PlayerInterruptions(isPaused: isPaused))
        motion.buffering(isFull: true, at: now)
        emit(.streamLoad, at: now)
    }

    private mutating func open(_ media: VLCMedia, at now: MonotonicInstant) {
        // The watch began between the begin and its event.
        if phase == .loading, signals.isLate, self.media == media {
            signals.isLate = false
            return
        }
        stop(at: now)
        begin(media)
        emit(.streamLoad, at: now)
    }

    private mutating func begin(_ media: VLCMedia) {
        (motion, tracks, area, duration, messages, seekAsked) = (VLCMotion(), VLCTracks(), nil, nil, [], nil)
        (phase, self.media, signals.isLate, interruptions) = (.loading, media, false, PlayerInterruptions())
    }

    private mutating func start(at instant: MonotonicInstant) {
        phase = .playing
        emit(.start, at: instant)
        signals.isLate = false
    }

    private mutating func stop(at now: MonotonicInstant) {
        guard isOpen else { return }
        finish(.stop, at: now)
    }

    private mutating func endReached(at now: MonotonicInstant) {
        guard isOpen else { return }
        let position = motion.playhead(at: now) ?? 0
        if let duration, duration.seconds - position > Self.endTolerance {
            let (played, whole) = (Duration.seconds(position.rounded()), Duration.seconds(duration.seconds.rounded()))
            return fail("libVLC ended the playback at \(played) of \(whole)", at: now)
        }
        if phase == .loading {
            guard motion.playhead(at: now) != nil else {
                return fail("libVLC ended the media before it played", at: now)
            }
            // Too short to be seen moving.
            start(at: signals.lastInstant ?? now)
        }
        finish(.end, at: now)
    }

    private mutating func fail(_ words: String, at now: MonotonicInstant) {
        guard isOpen else { return }
        var attributes = Attributes()
        let causes = messages.joined(separator: "; ")
        attributes[.errorDescription] = causes.isEmpty ? words : "\(words): \(causes)"
        attributes[.errorCode] = messages.lazy.compactMap(HTTPStatusText.code).first
        attributes[.isFatal] = true
        finish(.error, at: now, attributes: attributes)
    }

    private mutating func finish(_ action: Action, at now: MonotonicInstant, attributes: Attributes = Attributes()) {
        motion.halt(at: now)
        emit(interruptions.end(), at: now)
        emit(action, at: now, attributes: attributes)
        phase = .finished
    }

    // MARK: - Pause, stall, seek

    private mutating func pause(at now: MonotonicInstant) {
        guard isOpen, !isPaused else { return }
        if phase == .playing { motion.halt(at: now) }
        emit(interruptions.pause(isReported: phase == .playing), at: now)
    }

    private mutating func resume(at now: MonotonicInstant) {
        guard isPaused else { return }
        emit(interruptions.resume(), at: now)
        guard phase == .playing, !isSeeking else { return }
        if motion.isBuffered { motion.resume(at: now) } else { emit(interruptions.openBuffering(), at: now) }
    }

    private mutating func buffering(isFull: Bool, at now: MonotonicInstant) {
        guard isOpen else { return }
        defer { motion.buffering(isFull: isFull, at: now) }
        guard phase == .playing else { return }
        if isFull {
            // The picture of the new position is shown, and a paused player shows no other.
            if isPaused { emit(interruptions.closeSeek(), at: now) }
            return
        }
        if isSeeking { return }
        if let asked = seekAsked, asked.duration(to: now) <= Self.seekPatience { return openSeek(at: asked) }
        // Nobody but a seek flushes the buffers of a paused player.
        if isPaused { return openSeek(at: now) }
        guard motion.isMoving else { return }
        // libVLC refills its buffers because data came late. The pictures may have ended before.
        let begin = min(now, motion.runsDry ?? now)
        motion.halt(at: begin)
        emit(interruptions.openBuffering(), at: begin)
    }

    private mutating func askForSeek(at now: MonotonicInstant) {
        guard phase == .playing, !isSeeking else { return }
        seekAsked = now
        // The seek ends the wait, although libVLC flushes only when the input answers.
        if interruptions.isBuffering { openSeek(at: now) }
    }

    private mutating func openSeek(at now: MonotonicInstant) {
        emit(interruptions.closeBuffering() + interruptions.openSeek(), at: now)
        motion.halt(at: now)
        motion.jump()
        seekAsked = nil
    }

    private mutating func advance(_ progress: VLCProgress, at now: MonotonicInstant) {
        if isPaused { return }
        // An input that is alive flushes at once, or takes no seek.
        if let asked = seekAsked, asked.duration(to: now) > Self.aliveSeekPatience { seekAsked = nil }
        motion.framesPerSecond = tracks.framesPerSecond
        apply(motion.take(progress, at: now), at: now)
    }

    private mutating func apply(_ change: VLCMotion.Change?, at now: MonotonicInstant) {
        switch (phase, change) {
        case (.loading, .moves(let begin)?): start(at: begin)
        case (.playing, .moves(let begin)?):
            emit(interruptions.closeSeek() + interruptions.closeBuffering(), at: begin)
        case (.playing, .stands(let begin)?): if !isSeeking { emit(interruptions.openBuffering(), at: begin) }
        default: break
        }
    }

    // MARK: - Quality, sound, messages

    private mutating func tracksChanged(to tracks: VLCTracks, isShown: Bool, at now: MonotonicInstant) {
        guard isOpen else { return }
        var next = tracks
        // The size of the selected track is that of pictures to come; it counts once an output shows them.
        if !isShown, self.tracks.width != nil { (next.width, next.height) = (self.tracks.width, self.tracks.height) }
        next.framesPerSecond = tracks.framesPerSecond ?? self.tracks.framesPerSecond
        self.tracks = next
        // A picture output opens before the size of its track is known.
        guard let after = next.area else { return }
        defer { area = after }
        guard phase == .playing, let before = area, before != after else { return }
        emit(after > before ? .qualityChangeUp : .qualityChangeDown, at: now)
    }

    /// A change counts while something is played, paused or not: before that nobody hears it.
    private mutating func soundChanged(at now: MonotonicInstant, _ change: (inout VLCModel) -> Void) {
        let before = (volume, isMuted)
        change(&self)
        guard phase == .playing, before.0 != nil || before.1 != nil, before != (volume, isMuted) else { return }
        emit(.volumeChange, at: now)
    }

    private mutating func keep(_ text: String) {
        guard messages.count < Self.maxMessageCount, !messages.contains(text) else { return }
        messages.append(text)
    }

    private mutating func emit(_ actions: [Action], at instant: MonotonicInstant) {
        for action in actions { emit(action, at: instant) }
    }

    private mutating func emit(_ action: Action, at instant: MonotonicInstant, attributes: Attributes = Attributes()) {
        let instant = signals.instant(for: instant)
        let signal = PlayerSignal(action, at: instant, status: status(at: instant), attributes: attributes)
        signals.add(signal, at: instant)
    }

    /// A length in milliseconds; nil for media without one, and beyond what a duration of nanoseconds holds.
    private static func duration(_ milliseconds: Int64) -> Duration? {
        milliseconds > 0 && milliseconds < 9_000_000_000_000 ? .milliseconds(milliseconds) : nil
    }

    /// libVLC amplifies up to 2; the data model ends at 100.
    private static func percent(_ volume: Double) -> Int? {
        volume.isFinite && volume >= 0 ? Int((min(1, volume) * 100).rounded()) : nil
    }
}

extension VLCTracks {
    /// The picture's size in pixels; nil without a picture. Saturates.
    fileprivate var area: Int? {
        guard let width, let height else { return nil }
        let (area, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : area
    }
}
