internal import Instrument

/// The playhead and the buffer of a player: a pure value without a clock, files or a network.
///
/// Media is appended as it arrives; the playhead moves while the model plays. The instant of each transition is
/// computed, not sampled: a stall begins when the playhead meets the end of the buffer, however much later the model is
/// asked. Positions are nanoseconds of media time from the start, never negative.
struct PlaybackModel: Hashable, Sendable {
    /// A kind of media; playback needs all kinds that the stream has.
    enum Track: Hashable, Sendable, CaseIterable { case video, audio }

    /// The reason for which playback waits for media; `hold`: the playhead was moved while it was held.
    enum Wait: Hashable, Sendable { case start, stall, seek, hold }

    /// A change of the playback, with its exact instant and position.
    struct Transition: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            /// The buffer is empty.
            case stalled
            /// The wait is over.
            case filled(Wait)
            /// The first frame is shown.
            case started
            /// The playhead reached media of another quality.
            case reached(Quality)
            /// The playhead reached a marker.
            case passed(PlaybackMarker)
            /// The playhead reached the end.
            case ended
        }
        var kind: Kind
        var instant: MonotonicInstant
        var position: Int64
    }

    /// A value for each track, without the cost of a dictionary at every packet.
    private struct PerTrack<Value: Hashable & Sendable>: Hashable, Sendable {
        var video: Value
        var audio: Value

        subscript(track: Track) -> Value {
            get { track == .video ? video : audio }
            set { if track == .video { video = newValue } else { audio = newValue } }
        }
    }

    private static let maximumPassedCues = 1000
    /// The error of a distance between two timestamps of 90 kHz (ISO/IEC 13818-1), rounded up: segments of two seconds
    /// fill a threshold of two seconds.
    private static let timestampRounding: Int64 = 25_000
    /// A frame rate that a file declares may be any number.
    private static let longestPicture: Int64 = 10_000_000_000

    enum Phase: Hashable { case waiting(Wait), playing, ended }
    private struct Cue: Hashable {
        var position: Int64
        var quality: Quality
    }
    /// The playhead was at `position` at `instant`.
    struct Anchor: Hashable {
        var instant: MonotonicInstant
        var position: Int64
    }

    private let tracks: [Track]
    private let startThreshold: Int64
    private let resumeThreshold: Int64
    /// The level that suffices even where a threshold is higher.
    private var sufficientLevel = Int64.max
    private let maximum: Int64
    private var sound: SoundGate
    private(set) var latePictures = LatePictures()
    private let canLag: Bool
    /// The media that stays in the buffer behind the playhead.
    private let backBuffer: Int64
    private let decodeDelay: PlayerProfile.DecodeDelay
    /// The instant at which a wait ends whose media suffices, once it is decoded.
    private var readyAt: MonotonicInstant?
    /// The instant at which each track's media became enough for the present wait; nil where it was before the wait, or
    /// is not yet.
    private var sufficientSince = PerTrack<MonotonicInstant?>(video: nil, audio: nil)
    var phase = Phase.waiting(.start) {
        didSet {
            sufficientSince = PerTrack(video: nil, audio: nil)
            if phase != .waiting(.stall) { soundRanOut = false }
        }
    }
    /// Whether playback stalls because the sound ran out, which more sound does not end without a picture that is not
    /// shown yet.
    private var soundRanOut = false
    var anchor: Anchor
    /// The end of each track's media; nil before its first media.
    private var ends = PerTrack<Int64?>(video: nil, audio: nil)
    /// Tracks that fell further behind than the buffer's maximum: they are sparse, or have ended. They do not count
    /// until the next flush.
    private var isLaggard = PerTrack(video: false, audio: false)
    private var cues: [Cue] = []
    /// Cues in the back buffer, which a seek back meets again.
    private var passedCues: [Cue] = []
    /// The quality before the first of all cues.
    private var firstQuality: Quality
    /// The start of the buffer, which the playhead leaves behind.
    private var bufferedStart: Int64
    private var transitions: [Transition] = []
    private(set) var rate = 1.0
    private(set) var isPaused = false
    private(set) var hasStarted = false
    private(set) var isEndKnown = false
    /// Whether something other than the viewer keeps the playhead where it is, for example an ad break.
    var isHeld = false
    /// The markers ahead, by their positions.
    var markers = PlaybackMarkers()

    /// Creates a model that waits for its first media, at `position`.
    ///
    /// - Parameters:
    ///   - canLag: whether a track may turn out to be sparse or to end early, because one source delivers all tracks
    ///     together.
    ///   - backBuffer: how much media stays in the buffer behind the playhead; nil for all of it.
    ///   - decodeDelay: the time from sufficient media to the first picture.
    ///   - quality: the quality of the first media.
    init(
        tracks: Set<Track>,
        policy: BufferPolicy,
        position: Int64 = 0,
        canLag: Bool = true,
        backBuffer: Duration? = .zero,
        decodeDelay: PlayerProfile.DecodeDelay = PlayerProfile.DecodeDelay(),
        quality: Quality = Quality(width: 0, height: 0, bitrate: 0),
        now: MonotonicInstant
    ) {
        self.canLag = canLag
        self.backBuffer = backBuffer.map { max(0, $0.nanoseconds) } ?? .max
        self.decodeDelay = decodeDelay
        firstQuality = quality
        bufferedStart = max(0, position)
        self.tracks = Track.allCases.filter(tracks.contains)
        startThreshold = policy.startThreshold.nanoseconds
        resumeThreshold = policy.resumeThreshold.nanoseconds
        maximum = policy.maximum.nanoseconds
        sound = SoundGate(policy.sound)
        anchor = Anchor(instant: now, position: max(0, position))
    }
}

// MARK: What is true now
extension PlaybackModel {
    var isWaiting: Bool { if case .waiting = phase { true } else { false } }
    var isSeeking: Bool { phase == .waiting(.seek) }
    var hasEnded: Bool { phase == .ended }

    /// The position of the playhead.
    func position(at now: MonotonicInstant) -> Int64 {
        guard isMoving, now > anchor.instant else { return anchor.position }
        let reached = anchor.position.saturatingAdd(media(in: anchor.instant.duration(to: now).nanoseconds))
        // Not beyond a marker that holds, even if the model has not been asked since.
        guard let hold = markers.firstHold else { return min(playableEnd, reached) }
        return min(playableEnd, reached, max(hold.position, anchor.position))
    }

    /// The end of what is buffered in all tracks.
    var bufferedEnd: Int64 { end(withoutVideoFor: 0, soundLead: 0) }

    /// The position that playback can reach without more media.
    private var playableEnd: Int64 {
        let hasBoth = tracks.count > 1 && ends.video != nil && ends.audio != nil
        return end(
            withoutVideoFor: hasBoth && !isLaggard.audio ? media(in: sound.alone) : 0,
            soundLead: media(in: sound.outputLead)
        )
    }

    private func end(withoutVideoFor tolerance: Int64, soundLead: Int64) -> Int64 {
        var longest = anchor.position
        var shortest: Int64?
        for track in tracks {
            let end = ends[track] ?? anchor.position
            longest = max(longest, end)
            if isLaggard[track] { continue }
            let counted =
                switch track {
                case .video: tolerance > 0 ? (latePictures.ranOutAt ?? end).saturatingAdd(tolerance) : end
                case .audio: end - soundLead
                }
            shortest = min(shortest ?? counted, counted)
        }
        return isEndKnown ? longest : max(anchor.position, shortest ?? longest)
    }

    /// The end of a track's media.
    func end(of track: Track) -> Int64 { ends[track] ?? anchor.position }

    /// The end of the pictures that are decoded; nil before the first one.
    func decodedEnd(at now: MonotonicInstant) -> Int64? {
        ends.video.map { latePictures.decodedEnd(playhead: position(at: now), known: $0) }
    }

    /// Adopts the frame rate of the pictures.
    mutating func setFrameRate(_ framesPerSecond: Double) {
        guard framesPerSecond.isFinite, framesPerSecond > 0 else { return }
        latePictures.pictureDuration = min(Int64(clamping: 1e9 / framesPerSecond), Self.longestPicture)
    }

    /// The instant at which the playhead reaches a position if the buffer suffices; nil while the playhead stands.
    func instant(ofPlaying position: Int64) -> MonotonicInstant? { isMoving ? instant(ofReaching: position) : nil }

    /// The media ahead of the playhead.
    func level(at now: MonotonicInstant) -> Int64 { max(0, bufferedEnd - position(at: now)) }

    /// Whether playback waits and could not move, even if no more media came.
    var isDry: Bool { isWaiting && playableEnd <= anchor.position }

    /// Whether more should be fetched.
    func wantsData(at now: MonotonicInstant) -> Bool { !isEndKnown && !hasEnded && level(at: now) < maximum }

    /// Whether playback waits and the buffer does not suffice.
    var isShort: Bool {
        guard case .waiting(let wait) = phase, !isEndKnown else { return false }
        return !hasEnough(threshold(of: wait), anchor.instant)
    }

    /// When the next transition is due: a stall, the end, another quality, or room in a buffer that was full.
    func nextDeadline(after now: MonotonicInstant) -> MonotonicInstant? {
        guard isMoving else { return readyAt }
        var next = min(playableEnd, cues.first?.position ?? .max, markers.first?.position ?? .max)
        let refill = bufferedEnd - (maximum - min(maximum / 5, 2_000_000_000))
        if !isEndKnown, refill > position(at: now) { next = min(next, refill) }
        return instant(ofReaching: next)
    }

    private var isMoving: Bool { phase == .playing && !isPaused && !isHeld }

    /// The media time that passes in `real` nanoseconds; exact at the normal rate.
    private func media(in real: Int64) -> Int64 {
        rate == 1 ? real : Int64(clamping: (Double(real) * rate).rounded(.down))
    }

    private func instant(ofReaching position: Int64) -> MonotonicInstant {
        let distance = max(0, position - anchor.position)
        let real = rate == 1 ? distance : Int64(clamping: (Double(distance) / rate).rounded(.up))
        return MonotonicInstant(nanoseconds: anchor.instant.nanoseconds.saturatingAdd(real))
    }
}

// MARK: Changes
extension PlaybackModel {
    /// Lets time pass, and returns the transitions until `now`, in order.
    mutating func advance(to now: MonotonicInstant) -> [Transition] {
        move(to: now)
        defer { transitions = [] }
        return transitions
    }

    /// Media of a track has arrived, up to `end`. The calls for one track are in the order of `now`; between two tracks
    /// they may not be.
    mutating func append(_ track: Track, end: Int64, now: MonotonicInstant) {
        move(to: now)
        let hasPictures = tracks.contains(.video) && !isEndKnown
        let keepsBack =
            track == .audio && hasPictures
            && sound.keepsBack(to: end, after: ends.audio, pictures: ends.video, now: now)
        if track == .video, let known = ends.video {
            latePictures.arrive(to: end, after: known, playhead: position(at: now), isMoving: isMoving)
        }
        if !keepsBack { extend(track, to: end, now) }
        if track == .video { takeSound(pictures: ends.video, now) }
        let furthest = max(ends.video ?? 0, ends.audio ?? 0)
        for other in tracks where canLag && furthest - (ends[other] ?? anchor.position) > maximum {
            isLaggard[other] = true
        }
        settle(now)
    }

    private mutating func extend(_ track: Track, to end: Int64, _ now: MonotonicInstant) {
        let before = ends[track] ?? anchor.position
        ends[track] = max(before, end)
        if let needed = neededEnd(of: track), before < needed, end >= needed { sufficientSince[track] = now }
    }

    /// Takes the sound that waited for its pictures.
    private mutating func takeSound(pictures: Int64?, _ now: MonotonicInstant) {
        while let next = sound.take(after: ends.audio, pictures: pictures, now: now) {
            extend(.audio, to: next.end, next.instant)
        }
    }

    /// From `position` on, media has another quality; earlier cues from there on are void.
    mutating func addCue(_ quality: Quality, at position: Int64, now: MonotonicInstant) {
        move(to: now)
        cues.removeAll { $0.position >= position }
        cues.append(Cue(position: position, quality: quality))
    }

    /// No more media follows.
    mutating func reachedEnd(now: MonotonicInstant) {
        move(to: now)
        takeSound(pictures: .max, now)
        isEndKnown = true
        settle(now)
    }

    /// Moves the playhead. Before the start this only chooses where to start; after the end it does nothing.
    ///
    /// - Returns: whether media has to be fetched from the target on, because it is not buffered. The buffer is then
    ///   empty.
    mutating func seek(to target: Int64, now: MonotonicInstant) -> Bool {
        move(to: now)
        if hasEnded { return false }
        let target = max(0, target)
        let position = position(at: now)
        leaveBehind(position)
        let isBuffered = isInBuffer(target)
        if phase == .waiting(.stall) { note(.filled(.stall), now, position) }
        if hasStarted || phase == .playing { phase = .waiting(.seek) }
        readyAt = nil
        latePictures.seek()
        sound.seek()
        if !isBuffered { flush(at: target) }
        anchor = Anchor(instant: now, position: target)
        markers.drop(before: target)
        moveCues(to: target, now)
        settle(now)
        return !isBuffered
    }

    /// Whether a position is buffered in all tracks.
    func isInBuffer(_ target: Int64) -> Bool {
        target >= bufferedStart && target <= bufferedEnd && tracks.allSatisfy { ends[$0] != nil }
    }

    /// The quality of media that arrived without a cue, before playback started.
    mutating func setFirstQuality(_ quality: Quality) { firstQuality = quality }

    /// Drops media that lies further behind a position of the playhead than the back buffer holds.
    mutating func leaveBehind(_ position: Int64) {
        if backBuffer < .max { bufferedStart = max(bufferedStart, position.saturatingSubtract(backBuffer)) }
        // A bound for streams that change their quality all the time: with the cue, the media before it is dropped.
        if passedCues.count > Self.maximumPassedCues { bufferedStart = max(bufferedStart, passedCues[0].position) }
        while let first = passedCues.first, first.position <= bufferedStart {
            firstQuality = first.quality
            passedCues.removeFirst()
        }
    }

    /// Passes the cues up to a position, or takes back those behind it.
    mutating func moveCues(to position: Int64, _ now: MonotonicInstant) {
        let ahead = cues.filter { $0.position <= position }
        let back = passedCues.filter { $0.position > position }
        if ahead.isEmpty, back.isEmpty { return }
        cues.removeAll { $0.position <= position }
        passedCues.removeAll { $0.position > position }
        passedCues += ahead
        cues = back + cues
        note(.reached(quality), now, position)
    }

    /// Undoes a seek that the source refused: restores `earlier`, a copy from before the seek, at the present instant.
    mutating func takeBack(seekFrom earlier: PlaybackModel, now: MonotonicInstant) {
        self = earlier
        anchor = Anchor(instant: now, position: anchor.position)
        settle(now)
    }

    /// Fixes the playhead's present position as the origin of later positions.
    mutating func stand(at now: MonotonicInstant) { anchor = Anchor(instant: now, position: position(at: now)) }

    /// Pauses.
    mutating func pause(now: MonotonicInstant) {
        move(to: now)
        anchor = Anchor(instant: now, position: position(at: now))
        isPaused = true
    }

    /// Continues after a pause.
    mutating func resume(now: MonotonicInstant) {
        move(to: now)
        if !isPaused { return }
        anchor = Anchor(instant: now, position: anchor.position)
        isPaused = false
        startIfPossible(now)
        move(to: now)
    }

    /// Sets the playback rate; a rate that is not finite or not above zero is ignored.
    mutating func setRate(_ rate: Double, now: MonotonicInstant) {
        move(to: now)
        guard rate.isFinite, rate > 0 else { return }
        anchor = Anchor(instant: now, position: position(at: now))
        self.rate = rate
    }

    /// The quality at the playhead.
    private var quality: Quality { passedCues.last?.quality ?? firstQuality }

    /// Empties the buffer; it starts again at `position`.
    mutating func flush(at position: Int64) {
        firstQuality = quality
        passedCues = []
        bufferedStart = position
        ends = PerTrack(video: nil, audio: nil)
        sufficientSince = PerTrack(video: nil, audio: nil)
        isLaggard = PerTrack(video: false, audio: false)
        soundRanOut = false
        latePictures.seek()
        sound.flush()
        cues = []
        isEndKnown = false
        readyAt = nil
    }

    mutating func move(to now: MonotonicInstant) {
        if let readyAt, readyAt <= now { endWait(at: readyAt) }
        while isMoving {
            let end = playableEnd
            let cue = cues.first.map { max($0.position, anchor.position) } ?? .max
            let marker = markers.first.map { max($0.position, anchor.position) } ?? .max
            let stop = min(end, cue, marker)
            let instant = max(instant(ofReaching: stop), anchor.instant)
            if instant > now { return }
            anchor = Anchor(instant: instant, position: stop)
            if let next = markers.first, marker == stop, cue > stop {
                pass(next, instant, stop)
            } else if cue <= end {
                let cue = cues.removeFirst()
                passedCues.append(cue)
                leaveBehind(stop)
                note(.reached(cue.quality), instant, stop)
            } else if isEndKnown, let next = markers.firstAtEnd {
                pass(next, instant, stop)
            } else {
                if !isEndKnown, hasNoSound(at: stop) {
                    sound.ranOut()
                    soundRanOut = true
                }
                phase = isEndKnown ? .ended : .waiting(.stall)
                note(isEndKnown ? .ended : .stalled, instant, stop)
            }
        }
    }

    /// Ends a wait if the buffer suffices, or if no more media follows.
    mutating func settle(_ now: MonotonicInstant) {
        guard case .waiting(let wait) = phase else { return }
        guard isEndKnown || hasEnough(threshold(of: wait), now) else { return }
        let sufficient = max(now, sufficientSince.video ?? now, sufficientSince.audio ?? now, anchor.instant)
        let ready = readyAt ?? sufficient.advanced(by: decodeDelay.delay(of: wait))
        readyAt = ready
        // Without a delay, the wait ends at once, also if the media arrived before the model's present instant.
        if ready <= sufficient { endWait(at: ready) }
        move(to: now)
    }

    /// The end that a track's media has to reach before the present wait ends; nil without a wait.
    private func neededEnd(of track: Track) -> Int64? {
        guard case .waiting(let wait) = phase else { return nil }
        let level = max(threshold(of: wait), track == .audio ? sound.needed(for: wait) : 0)
        let end = anchor.position.saturatingAdd(max(level - Self.timestampRounding, 1))
        return track == .video && needsNewPicture ? max(end, shownPictureEnd.saturatingAdd(1)) : end
    }

    private func threshold(of wait: Wait) -> Int64 {
        min(wait == .stall ? resumeThreshold : startThreshold, sufficientLevel)
    }

    /// At most `level` of media is needed from now on; false if that was so before. The caller settles the wait.
    mutating func limitThresholds(to level: Duration) -> Bool {
        guard max(0, level.nanoseconds) != sufficientLevel else { return false }
        sufficientLevel = max(0, level.nanoseconds)
        return true
    }

    private mutating func endWait(at instant: MonotonicInstant) {
        readyAt = nil
        guard case .waiting(let wait) = phase else { return }
        phase = .playing
        anchor = Anchor(instant: max(instant, anchor.instant), position: anchor.position)
        note(.filled(wait), anchor.instant, anchor.position)
        startIfPossible(instant)
    }

    /// Playback needs some media also where the threshold is zero.
    private func hasEnough(_ threshold: Int64, _ now: MonotonicInstant) -> Bool {
        tracks.allSatisfy { ends[$0] != nil || isLaggard[$0] }
            && level(at: now) >= max(threshold - Self.timestampRounding, 1) && hasNeededSound && hasNeededPictures
    }

    private var hasNeededPictures: Bool { !needsNewPicture || isLaggard.video || end(of: .video) > shownPictureEnd }

    /// Whether a stall ends only with a picture that is not shown yet, in players whose sound plays on alone.
    private var needsNewPicture: Bool { soundRanOut && sound.alone > 0 && ends.video != nil }

    /// The latest end of a picture that may be shown at the playhead.
    private var shownPictureEnd: Int64 { anchor.position.saturatingAdd(latePictures.pictureDuration) }

    private var hasNeededSound: Bool {
        guard case .waiting(let wait) = phase, tracks.contains(.audio), !isLaggard.audio else { return true }
        return end(of: .audio) - anchor.position >= sound.needed(for: wait) - Self.timestampRounding
    }

    /// Whether no sound is left for the sound card at a position.
    private func hasNoSound(at position: Int64) -> Bool {
        ends.audio.map { $0 - media(in: sound.outputLead) <= position } ?? false
    }

    mutating func startIfPossible(_ now: MonotonicInstant) {
        guard phase == .playing, !isPaused, !isHeld, !hasStarted else { return }
        hasStarted = true
        note(.started, anchor.instant, anchor.position)
    }

    mutating func note(_ kind: Transition.Kind, _ instant: MonotonicInstant, _ position: Int64) {
        transitions.append(Transition(kind: kind, instant: instant, position: position))
    }
}

extension PlayerProfile.DecodeDelay {
    fileprivate func delay(of wait: PlaybackModel.Wait) -> Duration {
        switch wait {
        case .start: start
        case .stall, .seek: resume
        case .hold: .zero
        }
    }
}

extension Int64 {
    init(clamping value: Double) {
        self = value >= 9.2e18 ? .max : value <= -9.2e18 ? .min : value.isNaN ? 0 : Int64(value)
    }
}
