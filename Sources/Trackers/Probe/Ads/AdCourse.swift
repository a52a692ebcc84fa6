internal import Instrument
internal import InstrumentAds
internal import InstrumentHTTP

/// The course of a playback with ads: when content pauses, which ad plays, what is reported, and where content resumes.
///
/// A value without clock, network or player: inputs come in with the instant and the state of the content, effects go
/// out. ``AdEngine`` carries effects out, in their order.
struct AdCourse: Sendable {
    /// An action of the viewer on an ad.
    enum Viewer: Hashable, Sendable { case skip, click }

    /// An input of the course.
    enum Input: Sendable {
        case command(PlaybackCommand)
        case viewer(Viewer)
        case content(PlaybackNews)
        /// News of the ad's player; news of an earlier player is ignored.
        case ad(number: Int, PlaybackNews)
        case answer(AdRequest, AdAnswer, key: String)
        /// The content's player was stopped.
        case stopped
        case alarm
    }

    /// An effect for the engine.
    enum Effect: Sendable {
        case content(PlaybackCommand)
        case load(AdRequest, key: String)
        /// A player for an ad, with the position at which it begins.
        case play(number: Int, url: HTTPURL, isStream: Bool, from: Int64)
        case ad(PlaybackCommand)
        /// The player of the ad is not needed any more.
        case endAd
        case report(PlayerSignal)
        case reportAd(AdPlayerSignal)
        case call(AdBeaconCall)
    }

    /// The state of the players at the instant of an input.
    struct Situation: Sendable {
        var now: MonotonicInstant
        /// The position of the content.
        var position: Int64
        var duration: Int64?
        /// Whether the content has ended, failed or been stopped.
        var isContentOver = false
        var ad = PlayerStatus()
        var adPosition: Int64 = 0
        var adBuffered: Int64 = 0
    }

    enum Phase: Sendable {
        case idle
        /// The document and the stream are awaited.
        case preparing
        case content
        case breaking(CurrentBreak)
        case over
    }

    /// Identifies the markers of the content.
    enum Mark: Hashable, Sendable {
        case adBreak
        case request
        case signal(AdSignal)
        case callback(StreamAds.Callback)
        case period(StreamAds.StitchedAd)
        case periodMilestone(StreamAds.StitchedAd)
        case periodEnd(StreamAds.StitchedAd)
    }

    let configuration: AdConfiguration
    let randomness: RandomSource
    /// Identifies the playback to the servers of interstitials (`_HLS_primary_id`).
    let primaryID: String
    var plan: AdPlan
    var phase = Phase.idle
    var effects: [Effect] = []
    /// When an ad, or the content at its start, has waited too long; nil without a wait.
    var deadline: MonotonicInstant?
    var isHeld = false
    /// Whether the document was read, or none is wanted.
    var isDocumentKnown: Bool
    /// Whether the stream has said what it knows of ads, or is ready to play.
    var isContentKnown = false
    var hasStarted = false
    /// The markers of the content by their identifiers: the latest, and those before, of which news may be under way.
    var marks: [Int: Mark] = [:]
    var markCount = 0
    var isPausedByViewer = false
    /// The next break, for which the content has a marker.
    var next: AdPlan.Break?
    var loading: Set<String> = []
    /// The signals and callbacks that were reported: a seek back reports none again.
    var reported: Set<Mark> = []
    /// How many are remembered before those are forgotten that the stream no longer has.
    private static let mostReported = 5_000
    var adCount = 0
    /// The ad of a period in which the playhead is.
    var period: CurrentPeriod?
    /// The break of ads in periods that is open: periods that follow each other are one break.
    var periodBreak: AdRoll?

    init(_ configuration: AdConfiguration, randomness: RandomSource) {
        (self.configuration, self.randomness) = (configuration, randomness)
        primaryID = randomness.identifier()
        plan = AdPlan(playsInterstitials: configuration.playsInterstitials, id: primaryID)
        isDocumentKnown = configuration.tag == nil
    }

    /// Whether the last break is over, and the content as well.
    var isOver: Bool { if case .over = phase { true } else { false } }

    /// Handles an input; returns what follows, in order.
    mutating func handle(_ input: Input, _ situation: Situation) -> [Effect] {
        switch input {
        case .command(let command): perform(command, situation)
        case .viewer(let act): perform(act, situation)
        case .content(let news): content(news, situation)
        case .ad(let number, let news): ad(number, news, situation)
        case .answer(let request, let answer, let key): take(answer, to: request, key, situation)
        case .stopped: if !hasStarted { close(situation) }
        case .alarm: alarm(situation)
        }
        defer { effects = [] }
        return effects
    }
}

// MARK: Commands
extension AdCourse {
    private mutating func perform(_ command: PlaybackCommand, _ situation: Situation) {
        switch command {
        case .play: begin()
        case .pause, .resume: pause(command == .pause, situation)
        case .seek(let target): seek(to: target, situation)
        case .setRate: effects.append(.content(command))
        case .stop: effects.append(.content(.stop))
        case .hold, .release, .relocate, .noteAd, .mark: break
        }
    }

    private mutating func begin() {
        guard case .idle = phase else { return }
        phase = .preparing
        isHeld = true
        effects += [.content(.hold), .content(.play)]
        if let tag = configuration.tag { effects.append(.load(.document(tag), key: "")) }
    }

    /// The person pauses the ad that plays, else the content.
    private mutating func pause(_ isPaused: Bool, _ situation: Situation) {
        let wasPaused = isPausedByViewer
        isPausedByViewer = isPaused
        guard case .breaking(let current) = phase, current.isPlaying else {
            return effects.append(.content(isPaused ? .pause : .resume))
        }
        effects.append(.ad(isPaused ? .pause : .resume))
        // The content may have been paused before its break had an ad.
        if !isPaused { effects.append(.content(.resume)) }
        // An ad that the person has paused is not late.
        if isPaused { deadline = nil }
        if !isPaused, wasPaused, current.playback == nil {
            deadline = situation.now.advanced(by: configuration.startTimeout)
        }
    }

    mutating func seek(to target: Int64, _ situation: Situation) {
        if case .breaking(var current) = phase {
            // The break comes first; the person's wish is carried out behind it.
            current.wish = target
            phase = .breaking(current)
            return
        }
        effects.append(.content(.seek(to: target)))
        guard case .content = phase else { return }
        let forced = plan.restricted(after: situation.position, upTo: target, duration: situation.duration)
        if target < situation.position { plan.seek(to: target, duration: situation.duration) }
        guard let first = forced.first else { return proceed(from: target, situation) }
        let group = forced.filter { $0.start == first.start }
        plan.finish(forced.filter { $0.start < first.start })
        let adBreak = AdPlan.Break(roll: .mid, opportunities: group, position: first.start, joinOffset: 0)
        hold()
        enter(adBreak, at: situation.now, situation)
        if case .breaking(var current) = phase {
            current.wish = max(target, current.wish ?? 0)
            current.isSnappedBack = true
            phase = .breaking(current)
        }
    }

    mutating func hold() {
        guard !isHeld else { return }
        isHeld = true
        effects.append(.content(.hold))
    }
}

// MARK: Content
extension AdCourse {
    private mutating func content(_ news: PlaybackNews, _ situation: Situation) {
        switch news {
        case .signal(let signal): content(signal, situation)
        case .held(let signal): effects.append(.report(signal))
        case .ads(let ads):
            plan.take(ads)
            if !ads.addsSignals { isContentKnown = true }
            replan(situation)
        case .reached(let marker, let instant, let position):
            guard let mark = marks[marker.id] else { return }
            reached(mark, marker, at: instant, position, situation)
        }
    }

    private mutating func content(_ signal: PlayerSignal, _ situation: Situation) {
        if signal.action == .end, situation.isContentOver {
            for missed in plan.takeBreaksWithoutMark() { report(missed: missed, situation) }
        }
        effects.append(.report(signal))
        switch signal.action {
        case .start:
            hasStarted = true
            followPeriods(at: situation.position, situation)
            if period != nil { mark(from: situation.position, situation) }
        case .bufferFinish where !isContentKnown:
            isContentKnown = true
            replan(situation)
        case .seekFinish:
            // A seek may have gone elsewhere: to the live edge, or to the start of the window.
            guard case .content = phase else { return }
            followPeriods(at: situation.position, situation)
            proceed(from: situation.position, situation)
        case .end, .stop, .error: if situation.isContentOver { close(situation) }
        default: break
        }
    }

    private mutating func replan(_ situation: Situation) {
        switch phase {
        case .preparing:
            guard isDocumentKnown, isContentKnown else { return }
            phase = .content
            proceed(from: situation.position, situation, isJoining: true)
        case .content: proceed(from: situation.position, situation)
        default: break
        }
    }

    /// Plays content from a position up to the next break, or the break that is due.
    mutating func proceed(from position: Int64, _ situation: Situation, isJoining: Bool = false) {
        guard !situation.isContentOver else { return }
        phase = .content
        if isJoining { plan.join(at: position) }
        fail(plan.takeBreaksWithoutPlace(), situation)
        for missed in plan.takeBreaksBehindEnd(of: situation.duration) { report(missed: missed, situation) }
        next = plan.next(from: position, duration: situation.duration, isJoining: isJoining)
        if let due = next, due.roll == .pre || due.roll == .mid && due.position <= position {
            hold()
            return enter(due, at: situation.now, situation)
        }
        mark(from: position, situation)
        if isHeld {
            isHeld = false
            effects.append(.content(.release))
        }
    }

    /// Gives the content its markers.
    private mutating func mark(from position: Int64, _ situation: Situation) {
        var positions: [(Mark, Int64, holds: Bool)] = []
        if let next {
            positions.append((.adBreak, next.position, true))
            let end = situation.duration ?? .max
            let lead = min(next.position, end).saturatingSubtract(configuration.requestLead.nanoseconds)
            if lead > position { positions.append((.request, lead, false)) } else { request(next) }
        }
        forgetReported()
        for signal in plan.stream.signals where !reported.contains(.signal(signal)) {
            if let place = signal.position, place >= position { positions.append((.signal(signal), place, false)) }
        }
        for callback in plan.stream.callbacks where !reported.contains(.callback(callback)) {
            if callback.position >= position { positions.append((.callback(callback), callback.position, false)) }
        }
        positions += periodMarks(from: position, situation).map { ($0.0, $0.1, false) }
        // Signals at the position of a break are reported before the break.
        positions.sort { ($0.1, $0.holds ? 1 : 0) < ($1.1, $1.holds ? 1 : 0) }
        marks = marks.filter { $0.key >= markCount }
        let first = markCount + marks.count
        let markers = positions.enumerated().map { number, mark in
            PlaybackMarker(id: first + number, at: mark.1, holds: mark.holds)
        }
        markCount = first
        for (number, mark) in positions.enumerated() { marks[first + number] = mark.0 }
        effects.append(.content(.mark(markers, from: position)))
    }

    /// A stream that plays for months has any number of signals.
    private mutating func forgetReported() {
        let present = plan.stream.signals.count + plan.stream.callbacks.count
        guard reported.count > Self.mostReported.saturatingAdd(2 * present) else { return }
        let marks = plan.stream.signals.map(Mark.signal) + plan.stream.callbacks.map(Mark.callback)
        reported.formIntersection(marks)
    }

    private mutating func reached(
        _ mark: Mark,
        _ marker: PlaybackMarker,
        at instant: MonotonicInstant,
        _ position: Int64,
        _ situation: Situation
    ) {
        switch mark {
        case .adBreak:
            guard case .content = phase else { return }
            isHeld = true
            // The break may have another place by now.
            let isAtEnd = marker.position == PlaybackMarker.endPosition
            guard let due = next, due.position <= (isAtEnd ? .max : position) else {
                return proceed(from: position, situation)
            }
            var adBreak = due
            if due.roll == .mid { adBreak.position = position }
            enter(adBreak, at: instant, situation)
        case .request: if let next { request(next) }
        case .signal(let signal):
            guard reported.insert(mark).inserted else { return }
            report(signal, at: instant)
        case .period(let ad):
            beginPeriod(ad, at: instant, position, situation)
            self.mark(from: position, situation)
        case .periodMilestone(let ad):
            guard period?.ad == ad else { return }
            handlePeriod(.moved(to: position.saturatingSubtract(ad.start)), at: instant, situation)
        case .periodEnd(let ad):
            guard period?.ad == ad else { return }
            endPeriod(.ended, at: instant, situation)
        case .callback(let callback):
            guard reported.insert(mark).inserted else { return }
            let beacon = AdBeacon(kind: .event(TrackingEventName("callback")), url: callback.url, playhead: 0)
            call([beacon], of: "callback-\(callback.id)", nil, nil, position)
        }
    }

    /// Reports an action of ads, with the position of the content.
    mutating func report(
        _ action: Action,
        at instant: MonotonicInstant,
        _ status: AdStatus = AdStatus(),
        _ attributes: Attributes = Attributes(),
        _ situation: Situation
    ) {
        var all = attributes
        all[.position] = .nanoseconds(situation.position)
        effects.append(.reportAd(AdPlayerSignal(action, at: instant, status: status, attributes: all)))
    }

    private mutating func report(missed: AdBreak, _ situation: Situation) {
        var attributes = Attributes()
        attributes[.adRoll] = .mid
        attributes[.adBreakId] = missed.id
        attributes[.adBreakTime] = missed.time.text
        report(.adBreakMissed, at: situation.now, AdStatus(), attributes, situation)
    }

    private mutating func report(_ signal: AdSignal, at instant: MonotonicInstant) {
        var attributes = Attributes()
        attributes[.adSignalKind] = signal.kind.name
        attributes[.adSignalSource] = signal.source.rawValue
        attributes[.adSignalId] = signal.id
        attributes[.adSignalDuration] = signal.duration.map { .nanoseconds($0) }
        attributes[.position] = signal.position.map { .nanoseconds($0) }
        effects.append(.reportAd(AdPlayerSignal(.adSignal, at: instant, attributes: attributes)))
    }

    /// The content is over: a break that is open ends with it.
    private mutating func close(_ situation: Situation) {
        if case .over = phase { return }
        if case .breaking(let current) = phase { abandon(current, situation) }
        endPeriod(.closed, at: situation.now, situation)
        endPeriodBreak(at: situation.now, situation)
        (phase, deadline, next) = (.over, nil, nil)
    }

    private mutating func alarm(_ situation: Situation) {
        guard let due = deadline, situation.now >= due else { return }
        deadline = nil
        guard case .breaking(let current) = phase else { return }
        current.isResolved ? lateAd(situation) : lateAnswers(situation)
    }
}
