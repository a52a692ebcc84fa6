internal import Instrument

/// Translates what AVPlayer shows into playback signals: a value without a player and without a clock.
///
/// Observations of an item other than the current one change nothing. Instants of signals never decrease.
struct AVPlayerModel: ObservationModel {
    enum Phase: Hashable {
        /// No item.
        case idle
        /// `StreamLoad` was reported, `Start` was not.
        case loading
        case playing
        /// `End` was reported, and the item is still there: it may be played again.
        case finished
        /// A fatal error was reported. Playback that continues is a new playback.
        case failed
    }

    /// The playhead at an instant.
    struct Sample: Hashable {
        var position: Double
        var instant: MonotonicInstant
    }

    /// Why the rate became 0.
    struct HaltReason: Hashable {
        var name: String
        var instant: MonotonicInstant
    }

    /// An end that was reached while the player advances to its next item by itself.
    struct Ending: Hashable {
        var instant: MonotonicInstant
        var status: PlayerStatus
    }

    /// The media clock may differ from the wall clock by so much without a seek, in seconds.
    static let clockTolerance = 0.2
    /// The distance that the playhead may move while paused without a seek, in seconds.
    static let pausedTolerance = 0.5
    /// The distance from the end within which a rate of 0 is the end, in seconds.
    static let endTolerance = 0.6
    /// The shortest distance that counts as a jump, in seconds: AVPlayer also notifies of a jump when playback resumes.
    static let shortestJump = 0.05
    /// Two notices of one change may be this far apart, in seconds.
    static let noticeLag = 1.0
    /// The live edge grows by whole segments, so that an offset from it that is kept looks this much different, in
    /// seconds.
    static let offsetTolerance = 1.0

    var phase = Phase.idle
    var item: ItemFacts?
    var values = AVPlayerValues()
    var quality = RenditionQuality()
    var logs = AccessLogSums()
    var errorLogCount = 0
    var hasVariants = false
    var failures: Set<PlayerFailure.Code> = []

    /// Nil as long as the player has not said.
    var timeControl: TimeControl?
    var rate: Double?
    var isExternal = false
    var isLikelyToKeepUp = true
    var advancesAtEnd = false

    var sample: Sample?
    /// How far the clock can have run since the sample, until `reachInstant`, in seconds of the media.
    var reach = 0.0
    var reachInstant: MonotonicInstant?

    var isPaused = false
    /// Why the latest pause began, once it is known.
    var pauseReason: String?
    var pauseInstant: MonotonicInstant?
    /// The latest reason for which the rate became 0, until the pause that it explains.
    var haltReason: HaltReason?
    var isSeeking = false
    /// A seek that was complete before the jump was seen.
    var seekEnd: MonotonicInstant?
    var isBuffering = false
    /// The seekable part of a live stream.
    var window: SeekableWindow?
    /// Where a live stream was relative to its edge when the latest wait began.
    var wait = LiveWait()
    var isObscured = false
    /// Until playback was first likely to play through, in seconds.
    var keepUpTime: Double?
    /// The open wait is one that `AVPlayerItemPlaybackStalled` began: the player pauses itself then.
    var isStalledByNotice = false
    var isLate = false
    /// The instant at which a start was asked for, by playing or by a jump: no picture moved earlier. Nil: nothing
    /// asked for it.
    var earliestStart: MonotonicInstant?
    var ending: Ending?

    private var signals: [PlayerSignal] = []
    private var lastInstant: MonotonicInstant?

    /// Takes an observation that was made at `now`, and returns the signals that follow from it.
    mutating func observe(_ observation: AVPlayerObservation, at now: MonotonicInstant) -> [PlayerSignal] {
        if let subject = observation.subject, subject != item?.id { return [] }
        switch observation {
        case .item(let facts): itemChanged(to: facts, at: now)
        case .timeControl(let control): timeControlChanged(to: control, at: now)
        case .rate(let rate): rateChanged(to: rate, at: now)
        case .rateChangeReason(let reason, let rate): rateReasonGiven(reason, rate: rate, at: now)
        case .time(let seconds): if let position = MediaTime.position(seconds) { timeObserved(position, at: now) }
        case .timeJumped(_, let seconds): jumped(to: MediaTime.position(seconds), at: now)
        case .seekCompleted: seekCompleted(at: now)
        case .seekableWindow(_, let window): windowChanged(to: window)
        case .playedToEnd: playedToEnd(at: now)
        case .failedToPlayToEnd(_, let failure), .itemFailed(_, let failure), .playerFailed(let failure):
            fail(failure, at: now)
        case .stalled: stalled(at: now)
        case .duration(_, let seconds): values.duration = MediaTime.duration(seconds)
        case .presentationSize(_, let width, let height):
            report(quality.resize(width: width, height: height, at: now), at: now)
        case .variant(_, let variant): variantChanged(to: variant, at: now)
        case .firstLikelyToKeepUp(_, let seconds): keepUpTime = keepUpTime ?? seconds
        case .request(_, let request): requestEnded(request, at: now)
        case .accessLog(_, let entries): accessLogChanged(to: entries, at: now)
        case .errorLog(_, let entries): errorLogChanged(to: entries, at: now)
        case .likelyToKeepUp(_, let isLikely): likelihoodChanged(to: isLikely, at: now)
        case .mediaSelection(_, let language, let subtitles):
            (values.language, values.subtitles) = (language, subtitles)
        case .volume(let volume): soundChanged(at: now) { $0.volume = volume }
        case .muted(let isMuted): soundChanged(at: now) { $0.isMuted = isMuted }
        case .externalPlayback(let isExternal): self.isExternal = isExternal
        case .outputObscured(let isObscured): obscured(isObscured, at: now)
        case .advancesAtEnd(let advances): advancesAtEnd = advances
        case .interstitialEvent, .interstitialSkipped, .interstitialFailed: break
        }
        return takeSignals()
    }

    /// The app stopped the playback. The item may stay; playing it again is a new playback.
    mutating func stop(at now: MonotonicInstant) -> [PlayerSignal] {
        conclude(isFollowed: false)
        if phase == .playing { finish(.stop, at: now) }
        return takeSignals()
    }

    /// Reports something with the status of `instant`, and what else is known of the stream.
    mutating func emit(
        _ action: Action,
        at instant: MonotonicInstant,
        status: PlayerStatus? = nil,
        attributes: Attributes = Attributes()
    ) {
        // Notices of several threads and of reads that take a while can be late: no signal is earlier than the signal
        // before it.
        let instant = lastInstant.map { max($0, instant) } ?? instant
        lastInstant = instant
        var attributes = attributes
        if isLate, action == .streamLoad || action == .start { attributes[.joinedLate] = true }
        if action == .start { attributes[.timeToLikelyToKeepUp] = keepUpTime.flatMap(MediaTime.duration) }
        if let offset = liveOffset(at: instant) { attributes[.liveLatency] = MediaTime.duration(max(0, offset)) }
        if let window, isLive { attributes[.dvrWindow] = MediaTime.duration(max(0, window.end - window.start)) }
        attributes[.observedBitrate] = values.observedBitrate
        attributes[.averageBitrate] = values.averageBitrate
        attributes[.droppedFrames] = logs.droppedFrameCount
        signals.append(
            PlayerSignal(action, at: instant, status: status ?? self.status(at: instant), attributes: attributes)
        )
    }

    private mutating func takeSignals() -> [PlayerSignal] {
        defer { signals = [] }
        return signals
    }
}
