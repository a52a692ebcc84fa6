internal import Instrument

/// What a viewer lives through while a stream is fetched: a pure value that knows no clock, no file and no network.
///
/// Data is appended as it arrives; the playhead moves while it plays. The instant of each change is computed, not
/// sampled: a stall begins when the playhead meets the end of what is buffered, however much later the model is asked.
/// Positions are nanoseconds of media time from its start, never negative.
struct PlaybackModel: Hashable, Sendable {
    /// What is rendered; both have to be there to play.
    enum Track: Hashable, Sendable, CaseIterable { case video, audio }

    /// Why playback waits for data.
    enum Wait: Hashable, Sendable { case start, stall, seek }

    /// Something that happened, and exactly when and where.
    struct Transition: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            /// The buffer ran dry.
            case stalled
            /// The wait is over.
            case filled(Wait)
            /// The first frame is shown.
            case started
            /// The playhead reached data of another quality.
            case reached(Quality)
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

    private enum Phase: Hashable { case waiting(Wait), playing, ended }
    private struct Cue: Hashable {
        var position: Int64
        var quality: Quality
    }
    /// The playhead was at `position` at `instant`.
    private struct Anchor: Hashable {
        var instant: MonotonicInstant
        var position: Int64
    }

    private let tracks: [Track]
    private let startThreshold: Int64
    private let resumeThreshold: Int64
    private let maximum: Int64
    private let canLag: Bool
    private var phase = Phase.waiting(.start)
    private var anchor: Anchor
    /// Until where each track is there; nil if nothing came yet.
    private var ends = PerTrack<Int64?>(video: nil, audio: nil)
    /// Tracks that fell further behind than a buffer may hold: sparse, or over. They count no more until the next flush.
    private var isLaggard = PerTrack(video: false, audio: false)
    private var cues: [Cue] = []
    private var transitions: [Transition] = []
    private(set) var rate = 1.0
    private(set) var isPaused = false
    private(set) var hasStarted = false
    private(set) var isEndKnown = false

    /// Creates a model that waits for its first data, at `position`.
    ///
    /// - Parameter canLag: whether a track may turn out to be sparse or over, because what brings the tracks brings them
    ///   together and is not to be asked for one of them.
    init(
        tracks: Set<Track>,
        policy: BufferPolicy,
        position: Int64 = 0,
        canLag: Bool = true,
        now: MonotonicInstant
    ) {
        self.canLag = canLag
        self.tracks = Track.allCases.filter(tracks.contains)
        startThreshold = policy.startThreshold.nanoseconds
        resumeThreshold = policy.resumeThreshold.nanoseconds
        maximum = policy.maximum.nanoseconds
        anchor = Anchor(instant: now, position: max(0, position))
    }
}

// MARK: What is true now
extension PlaybackModel {
    var isWaiting: Bool { if case .waiting = phase { true } else { false } }
    var isSeeking: Bool { phase == .waiting(.seek) }
    var hasEnded: Bool { phase == .ended }

    /// Where the playhead is.
    func position(at now: MonotonicInstant) -> Int64 {
        guard isMoving, now > anchor.instant else { return anchor.position }
        return min(bufferedEnd, anchor.position.saturatingAdd(media(in: anchor.instant.duration(to: now).nanoseconds)))
    }

    /// How far playback could go without more data.
    var bufferedEnd: Int64 {
        var longest = anchor.position
        var shortest: Int64?
        for track in tracks {
            let end = ends[track] ?? anchor.position
            longest = max(longest, end)
            if !isLaggard[track] { shortest = min(shortest ?? end, end) }
        }
        return isEndKnown ? longest : max(anchor.position, shortest ?? longest)
    }

    /// Until where a track is there.
    func end(of track: Track) -> Int64 { ends[track] ?? anchor.position }

    /// When the playhead will be at a position if nothing holds it up; nil while it stands.
    func instant(ofPlaying position: Int64) -> MonotonicInstant? { isMoving ? instant(ofReaching: position) : nil }

    /// What is buffered ahead of the playhead.
    func level(at now: MonotonicInstant) -> Int64 { bufferedEnd - position(at: now) }

    /// Whether more should be fetched.
    func wantsData(at now: MonotonicInstant) -> Bool { !isEndKnown && !hasEnded && level(at: now) < maximum }

    /// Whether it waits, and what is there does not suffice.
    var isShort: Bool {
        guard case .waiting(let wait) = phase, !isEndKnown else { return false }
        return !hasEnough(wait == .stall ? resumeThreshold : startThreshold, anchor.instant)
    }

    /// When something will happen by itself: a stall, the end, another quality, or room in a buffer that was full.
    func nextDeadline(after now: MonotonicInstant) -> MonotonicInstant? {
        guard isMoving else { return nil }
        var next = min(bufferedEnd, cues.first?.position ?? .max)
        let refill = bufferedEnd - (maximum - min(maximum / 5, 2_000_000_000))
        if !isEndKnown, refill > position(at: now) { next = min(next, refill) }
        return instant(ofReaching: next)
    }

    private var isMoving: Bool { phase == .playing && !isPaused }

    /// Media time that passes in some real time, and the other way round; whole numbers at the normal rate.
    private func media(in real: Int64) -> Int64 {
        rate == 1 ? real : Int64(clamping: (Double(real) * rate).rounded(.down))
    }

    private func instant(ofReaching position: Int64) -> MonotonicInstant {
        let distance = max(0, position - anchor.position)
        let real = rate == 1 ? distance : Int64(clamping: (Double(distance) / rate).rounded(.up))
        return MonotonicInstant(nanoseconds: anchor.instant.nanoseconds.saturatingAdd(real))
    }
}

// MARK: What happens to it
extension PlaybackModel {
    /// Lets time pass, and hands over what happened until `now`, in order.
    mutating func advance(to now: MonotonicInstant) -> [Transition] {
        move(to: now)
        defer { transitions = [] }
        return transitions
    }

    /// Data of a track has arrived, up to `end`.
    mutating func append(_ track: Track, end: Int64, now: MonotonicInstant) {
        move(to: now)
        ends[track] = max(ends[track] ?? anchor.position, end)
        let furthest = max(ends.video ?? 0, ends.audio ?? 0)
        for other in tracks where canLag && furthest - (ends[other] ?? anchor.position) > maximum {
            isLaggard[other] = true
        }
        settle(now)
    }

    /// From `position` on, data has another quality, whatever was said of what lies there before.
    mutating func addCue(_ quality: Quality, at position: Int64, now: MonotonicInstant) {
        move(to: now)
        cues.removeAll { $0.position >= position }
        cues.append(Cue(position: position, quality: quality))
    }

    /// There is no more data.
    mutating func reachedEnd(now: MonotonicInstant) {
        move(to: now)
        isEndKnown = true
        settle(now)
    }

    /// The person jumps. Before the start this only chooses where to start; after the end it does nothing.
    ///
    /// - Returns: whether data has to be fetched anew from there; what was buffered is then gone.
    mutating func seek(to target: Int64, now: MonotonicInstant) -> Bool {
        move(to: now)
        if hasEnded { return false }
        let target = max(0, target)
        let position = position(at: now)
        let isBuffered = target >= position && target <= bufferedEnd && tracks.allSatisfy { ends[$0] != nil }
        if phase == .waiting(.stall) { note(.filled(.stall), now, position) }
        if hasStarted || phase == .playing { phase = .waiting(.seek) }
        if !isBuffered { flush() }
        anchor = Anchor(instant: now, position: target)
        if let last = cues.last(where: { $0.position <= target }) {
            note(.reached(last.quality), now, target)
            cues.removeAll { $0.position <= target }
        }
        settle(now)
        return !isBuffered
    }

    /// A jump was not possible: all is as it was in `earlier`, a copy from before it, but for the time that has passed.
    mutating func takeBack(seekFrom earlier: PlaybackModel, now: MonotonicInstant) {
        self = earlier
        anchor = Anchor(instant: now, position: anchor.position)
        settle(now)
    }

    /// Counts from where it is now.
    mutating func stand(at now: MonotonicInstant) { anchor = Anchor(instant: now, position: position(at: now)) }

    /// The person pauses.
    mutating func pause(now: MonotonicInstant) {
        move(to: now)
        anchor = Anchor(instant: now, position: position(at: now))
        isPaused = true
    }

    /// The person goes on.
    mutating func resume(now: MonotonicInstant) {
        move(to: now)
        if !isPaused { return }
        anchor = Anchor(instant: now, position: anchor.position)
        isPaused = false
        startIfPossible(now)
        move(to: now)
    }

    /// The playhead moves faster or slower; a rate that is not finite or not above zero is ignored.
    mutating func setRate(_ rate: Double, now: MonotonicInstant) {
        move(to: now)
        guard rate.isFinite, rate > 0 else { return }
        anchor = Anchor(instant: now, position: position(at: now))
        self.rate = rate
    }

    private mutating func flush() {
        ends = PerTrack(video: nil, audio: nil)
        isLaggard = PerTrack(video: false, audio: false)
        cues = []
        isEndKnown = false
    }

    private mutating func move(to now: MonotonicInstant) {
        while isMoving {
            let end = bufferedEnd
            let cue = cues.first.map { max($0.position, anchor.position) } ?? .max
            let stop = min(end, cue)
            let instant = max(instant(ofReaching: stop), anchor.instant)
            if instant > now { return }
            anchor = Anchor(instant: instant, position: stop)
            if cue <= end {
                note(.reached(cues.removeFirst().quality), instant, stop)
            } else {
                phase = isEndKnown ? .ended : .waiting(.stall)
                note(isEndKnown ? .ended : .stalled, instant, stop)
            }
        }
    }

    /// Ends a wait if there is enough, or if there will not be more.
    private mutating func settle(_ now: MonotonicInstant) {
        guard case .waiting(let wait) = phase else { return }
        let threshold = wait == .stall ? resumeThreshold : startThreshold
        guard isEndKnown || hasEnough(threshold, now) else { return }
        phase = .playing
        anchor = Anchor(instant: max(now, anchor.instant), position: anchor.position)
        note(.filled(wait), anchor.instant, anchor.position)
        startIfPossible(now)
        move(to: now)
    }

    /// Something has to be there to go on with, also where no threshold is set.
    private func hasEnough(_ threshold: Int64, _ now: MonotonicInstant) -> Bool {
        tracks.allSatisfy { ends[$0] != nil || isLaggard[$0] } && level(at: now) >= max(threshold, 1)
    }

    private mutating func startIfPossible(_ now: MonotonicInstant) {
        guard phase == .playing, !isPaused, !hasStarted else { return }
        hasStarted = true
        note(.started, anchor.instant, anchor.position)
    }

    private mutating func note(_ kind: Transition.Kind, _ instant: MonotonicInstant, _ position: Int64) {
        transitions.append(Transition(kind: kind, instant: instant, position: position))
    }
}

extension Int64 {
    init(clamping value: Double) {
        self = value >= 9.2e18 ? .max : value <= -9.2e18 ? .min : value.isNaN ? 0 : Int64(value)
    }
}
