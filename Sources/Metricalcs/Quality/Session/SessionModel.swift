public import Instrument

/// The state machine of one session: a pure function of the events of one playback, second by second.
///
/// The model consumes events in order, in constant time each, and keeps the sums of ``QualitySession``. It trusts
/// nothing: an event that makes no sense in its state changes no state, time that goes back counts as no time, and sums
/// saturate.
///
/// ```swift
/// var model = SessionModel(opening: events[0])
/// for event in events.dropFirst() { model.observe(event) }
/// let ratio = Dialect.instrument.metric("RebufferRatio")?.value(of: model.session)
/// ```
///
/// A ``SessionReader`` divides a log of many playbacks into sessions, and has a model for each.
public struct SessionModel: Hashable, Sendable {
    /// The data that a model keeps in addition to sums.
    public enum Recording: Hashable, Sendable {
        /// Nothing: memory is constant however long the session is.
        case sums
        /// The intervals and the trace, each up to `limit` entries.
        case trace(limit: Int)

        /// Everything, up to 100,000 entries.
        public static let trace = Recording.trace(limit: 100_000)
    }

    /// The sums up to the latest event.
    public internal(set) var session: QualitySession
    let recording: Recording
    var phase = SessionPhase()
    var picture = CurrentPicture()
    var hub = HubReport()
    /// The sums that a metricalc has reported of the session.
    var reported = ReportedSums()
    /// The measurements of the latest event.
    var observation = Observation()

    /// Creates a model of the session that begins with `event`.
    ///
    /// - Parameters:
    ///   - event: the first event of the session. If it shows that playback has begun before, the start counts as not
    ///     observed.
    ///   - key: identifies the session; by default from the event's sender.
    ///   - recording: what the model keeps in addition to sums.
    public init(opening event: Event, key: SessionKey? = nil, recording: Recording = .sums) {
        let key = key ?? SessionKey(sender: event[.senderId] ?? event.tracker.description, number: 0)
        session = QualitySession(key: key, begin: Self.begin(before: event))
        session.senderId = event[.senderId]
        session.weight = min(max(1, event[QualityField.sampleWeight] ?? 1), QualitySession.largestWeight)
        self.recording = recording
        observe(event)
    }

    /// Stands where no session is open.
    static let none = SessionModel()

    private init() {
        let begin = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 0))
        session = QualitySession(key: SessionKey(sender: "", number: 0), begin: begin)
        recording = .sums
    }

    /// The state after the latest event.
    package var state: SessionState { session.state }

    /// Lets the time until `event` pass, and applies the event. Events of a tracker of ads apply to the content's
    /// session.
    public mutating func observe(_ event: Event) {
        observation = Observation()
        let isAdTracker = event[.isAdsTracker] == true
        let reading = isAdTracker ? nil : event.hubReading
        heal(before: event, reading)
        let now = max(session.end.instant, event.time.instant)
        pass(until: now)
        if session.end.instant < now { session.end.wallTime = event.time.wallTime }
        session.end.instant = now
        if let reading {
            if session.playbackId == nil { session.playbackId = event[.playbackId] }
            if event.action == .streamLoad || session.streamId == nil { session.streamId = event[.streamId] }
            adoptMissedStart(event)
            countCoreLosses(before: event, reading)
            countCore(event)
        }
        apply(event, isAdTracker: isAdTracker)
        if !isAdTracker { notice(event) }
        enter(phase.state)
        hub.note(event, reading: reading, phase: phase, at: now)
    }

    /// Counts an event of a playback that has failed, for the core metrics alone: the session itself is over.
    mutating func observeAfterFailure(_ event: Event) {
        observation = Observation()
        countCoreLosses(before: event, event.hubReading)
        countCore(event)
    }

    /// Ends a session whose events stop without an end: it counts as stopped. A session that has ended does not
    /// change.
    package mutating func close() {
        if phase.outcome == nil { leave(as: .stopped) }
        enter(phase.state)
    }

    /// Ends the session because the viewer left; a stall that has not finished is then the last that the
    /// viewer saw.
    mutating func leave(as outcome: SessionState) {
        session.interruptions.isExitDuringRebuffer = session.state == .rebuffering
        phase.outcome = outcome
    }
}

/// The flags from which the state follows.
struct SessionPhase: Hashable, Sendable {
    var isAsked = false
    var hasStarted = false
    var isPaused = false
    /// The beginning of the pause or, if an ad played during the pause, the end of the ad.
    var pausedSince: MonotonicInstant?
    /// The longest time in milliseconds between the pause of the content and its ad, and between the ends of both: a
    /// longer pause is the person's.
    static let adPauseLimit = 1000
    /// Whether the pause is the content's for an ad, and not the person's.
    var isPauseOfAds = false
    var isSeeking = false
    /// The instant since which the player waits for data.
    var bufferingSince: MonotonicInstant?
    /// Whether a seek is the reason for that wait: the picture is back only when the wait is over.
    var bufferingIsOfSeek = false
    /// Whether that wait began before the start.
    var bufferingIsInitial = false
    /// Whether that wait has counted as a stall in `NumRebuffers`.
    var isRebufferCounted = false
    /// Whether a wait for data may be a stall; the part of a wait that follows a seek belongs to the seek.
    var isStalled: Bool { bufferingSince != nil && !bufferingIsOfSeek }
    var isInAdBreak = false
    var isInAd = false
    /// Whether an ad is on the screen, or its break is open.
    var hasAds: Bool { isInAdBreak || isInAd }
    /// The time with an ad on the screen before the start, since the request.
    var prerollTime = 0
    var outcome: SessionState?
    /// Whether the player reports each request, so that sums of requests do not count.
    var reportsRequests = false
    /// When the current visit of a rebuffering state began, for the longest one.
    var stallSince: MonotonicInstant?
    /// Whether this visit has counted as a stall: a pause and a resume during a stall do not make a second one.
    var isStallCounted = false

    /// The one place that ranks states.
    var state: SessionState {
        if let outcome { return outcome }
        if isInAd { return .ad }
        // Only time with an ad on the screen is ad time. In the rest of a break the viewer waits for the start, or the
        // content is held.
        if isInAdBreak { return hasStarted ? .paused : isAsked ? .joining : .idle }
        if isSeeking || hasStarted && bufferingSince != nil && bufferingIsOfSeek { return .seeking }
        if bufferingSince != nil {
            if !hasStarted { return .joining }
            return isPaused ? .pausedBuffering : .rebuffering
        }
        if isPaused { return .paused }
        if hasStarted { return .playing }
        return isAsked ? .joining : .idle
    }
}

/// The shown quality, which applies until an event changes it.
struct CurrentPicture: Hashable, Sendable {
    var bitrate: Int?
    var width: Int?
    var height: Int?
    var displayWidth: Int?
    var displayHeight: Int?
    /// In thousandths.
    var rate = 1000
    var latency: Int?
    var level: Int?
    /// The position at the latest event, in milliseconds.
    var position: Int?
    /// The name of the rendition; kept, because it is needed for every interval.
    var rendition: String?
    /// The greatest upscaling of width and height, in millionths.
    var upscaling: Int?
    /// Sums of requests that the probe reports with each event.
    var requestCount: Int?
    var failedRequestCount: Int?
    /// The throughput of the latest segment that was counted.
    var throughput: Int?
}

/// The measurements of one event, for a metricalc that reports them at once.
struct Observation: Hashable, Sendable {
    /// Bit/s of a request.
    var throughput: Int?
    /// Milliseconds.
    var timeToFirstByte: Int?
    /// The sessions that play at the same time, this one included.
    var concurrentPlays = 0
}

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
