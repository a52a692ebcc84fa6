package import Instrument
internal import InstrumentJSON

/// Translates mpv's events into playback signals: a value without socket and clock.
///
/// Properties are reported after the events that change them, and not at all if they are the same again by then. So the
/// model asks for what a signal needs, and holds it, with all that follow, until the answer is there.
package struct MPVModel: Sendable {
    /// An effect that the session applies.
    package enum Effect: Sendable {
        case signal(PlayerSignal)
        case ask(Question)
    }

    /// Properties to be asked for; ``answered(_:at:)`` takes what was answered in time.
    package struct Question: Hashable, Sendable {
        package var number: Int
        package var properties: [MPVProperty]
    }

    package enum Phase: Hashable, Sendable {
        /// No player is connected.
        case away
        /// Connected; nothing is played.
        case idle
        /// `StreamLoad` was reported, `Start` was not.
        case loading
        case playing
        /// `End` was reported and mpv keeps the last picture (`keep-open`); it may play on from there.
        case finished
    }

    /// A playback that has ended; the next message decides whether by `Next`.
    struct Ending: Sendable {
        var isEndOfFile: Bool
        var instant: MonotonicInstant
        var status: PlayerStatus
    }

    /// The maximum of held signals; more are reported with what is known.
    static let maxHeldCount = 64

    private(set) var values = MPVValues()
    package internal(set) var phase = Phase.away
    var ending: Ending?
    var interruptions = PlayerInterruptions()
    /// The playback had begun before we came.
    var isLate = false
    /// No end was reported since we came into the middle of a playback; then a beginning can only be that one's.
    var isInJoinedPlayback = false
    /// Media are missing behind what was read of this playback.
    var isIncomplete = false
    /// A playlist was opened: what follows belongs to the load that was reported.
    var isRedirected = false
    /// mpv has said that it goes.
    var isLeaving = false
    /// The instant at which mpv was first ready to play.
    var restart: MonotonicInstant?
    /// The picture's size that changes are measured by.
    var area: Int?
    /// The sound that changes are measured by.
    var sound: MPVValues.Sound?
    private var effects: [Effect] = []
    private var held: [PlayerSignal] = []
    private var questionCount = 0
    private var openQuestion: Int?
    private var joining: (question: Int, wasUnderWay: Bool)?

    var isPaused: Bool { interruptions.isPaused }
    package var status: PlayerStatus { values.status }

    /// Creates a model without a player.
    package init() {}

    /// A connection stands; what mpv is at is asked for.
    package mutating func connected() -> [Effect] {
        let count = questionCount
        self = MPVModel()
        questionCount = count
        phase = .idle
        askWhatIsPlayed(wasUnderWay: false)
        return takeEffects()
    }

    private mutating func askWhatIsPlayed(wasUnderWay: Bool) {
        ask(MPVProperty.allCases)
        joining = openQuestion.map { ($0, wasUnderWay) }
    }

    /// Whether mpv plays a file whose start it did not report to us.
    private var isUnderWay: Bool {
        phase == .idle && ending == nil && values[.idleActive] == false && values[.path] != nil
    }

    /// Takes an event.
    package mutating func handle(_ event: MPVEvent, at now: MonotonicInstant) -> [Effect] {
        if phase == .away { return [] }
        switch event {
        case .startFile: startFile(at: now)
        // Before a load is known, what is asked on joining is enough, and not to be replaced.
        case .fileLoaded: if phase != .idle { ask(MPVProperty.ofMedia) }
        case .seek: seekBegan(at: now)
        case .playbackRestart: playbackRestarted(at: now)
        case .endFile(let reason): endFile(reason, at: now)
        case .idle: conclude(isFollowed: false)
        case .shutdown: isLeaving = true
        case .property(let property, let value): take(property, value, at: now)
        case .mediaIncomplete: isIncomplete = true
        case .other: break
        }
        return takeEffects()
    }

    /// Takes the replies to a request, all or some of them.
    package mutating func answered(_ answers: MPVRequests.Answers, at now: MonotonicInstant) -> [Effect] {
        // An older question's answers may be of the playback before.
        guard phase != .away, answers.question == openQuestion else { return [] }
        for property in MPVProperty.allCases {
            if let value = answers.values[property] { take(property, value, at: now) }
        }
        if let joining, joining.question == openQuestion {
            // mpv's answers overtake its events. A playback that an answer shows may still be reported as an event,
            // which then comes before the answer after it.
            if isUnderWay, !joining.wasUnderWay {
                askWhatIsPlayed(wasUnderWay: true)
                return takeEffects()
            }
            if isUnderWay { join(at: now) }
        }
        release()
        return takeEffects()
    }

    /// The connection ended. Without a farewell the player went away in the middle of what it did.
    package mutating func disconnected(at now: MonotonicInstant) -> [Effect] {
        conclude(isFollowed: false)
        if phase == .loading || phase == .playing {
            closeBlocks(at: now)
            if isLeaving, phase == .playing { emit(.stop, at: now) }
            if !isLeaving { fail("player went away", at: now) }
        }
        release()
        phase = .away
        values = MPVValues()
        return takeEffects()
    }

    /// Detaches: the playback does not end, but the time played until now is reported.
    package mutating func detached(at now: MonotonicInstant) -> [Effect] {
        conclude(isFollowed: false)
        if phase == .playing { emit(.detach, at: now) }
        release()
        phase = .away
        return takeEffects()
    }

    /// Remembers a value and lets happen what follows from it.
    private mutating func take(_ property: MPVProperty, _ value: JSONValue?, at now: MonotonicInstant) {
        if value == nil, property.keepsItsValue { return }
        values[property] = value
        changed(property, value, at: now)
    }

    mutating func forgetMedia() { values.forgetMedia() }

    mutating func fail(_ description: String, at now: MonotonicInstant) {
        var attributes = Attributes()
        attributes[.errorDescription] = description
        attributes[.isFatal] = true
        emit(.error, at: now, attributes: attributes)
    }

    /// Asks, and holds signals until the answer is there.
    mutating func ask(_ properties: [MPVProperty]) {
        questionCount &+= 1
        openQuestion = questionCount
        effects.append(.ask(Question(number: questionCount, properties: properties)))
    }

    mutating func emit(_ actions: [Action], at instant: MonotonicInstant) {
        for action in actions { emit(action, at: instant) }
    }

    /// Reports a signal or delays it. Without a status, a delayed signal gets the status of its report.
    mutating func emit(
        _ action: Action,
        at instant: MonotonicInstant,
        status: PlayerStatus? = nil,
        attributes: Attributes = Attributes()
    ) {
        var attributes = attributes
        if isLate, action == .streamLoad || action == .start { attributes[.joinedLate] = true }
        held.append(PlayerSignal(action, at: instant, status: status, attributes: attributes))
        if openQuestion == nil || held.count > Self.maxHeldCount { release() }
    }

    /// Reports the held signals.
    private mutating func release() {
        openQuestion = nil
        for var signal in held {
            signal.status = signal.status ?? values.status
            effects.append(.signal(signal))
        }
        held = []
    }

    private mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }
}
