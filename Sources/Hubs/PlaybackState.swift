/// The core hub's state of one tracker.
struct PlaybackState: Hashable {
    var didMediaRequest = false
    var didPlayerSet = false
    var didStreamLoad = false
    var didStart = false
    var didFinish = false
    /// An error ended the playback (`isFatal`): it is played no more, and what opens a playback opens a new one.
    var didFail = false

    /// Since when it buffers, and whether it was paused or seeking when that began.
    var buffering: Stall? {
        get { bufferingSince.map { ($0, wasPausedAtBufferBegin, wasSeekingAtBufferBegin) } }
        set {
            bufferingSince = newValue?.since
            wasPausedAtBufferBegin = newValue?.inPause ?? false
            wasSeekingAtBufferBegin = newValue?.inSeek ?? false
        }
    }
    private var bufferingSince: MonotonicInstant?
    private var wasPausedAtBufferBegin = false
    private var wasSeekingAtBufferBegin = false
    var pausedSince: MonotonicInstant?
    var seekingSince: MonotonicInstant?

    var countErrors = 0
    var countStarts = 0
    /// Sums in milliseconds.
    var accumPauseTime = 0
    var accumBufferTime = 0
    var accumSeekTime = 0
    var accumPlayTime = 0

    var streamId: String?
    var playbackId: String?
    var lastAccepted: MonotonicInstant?

    var isInPlayback: Bool { didStart && !didFinish }
    var isPlaying: Bool {
        isInPlayback && !didFail && pausedSince == nil && seekingSince == nil && bufferingSince == nil
    }

    /// Judges an event; a rejected one leaves the state as it was.
    mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
        let (wasPlaying, before) = (isPlaying, lastAccepted)
        // A finished stall tells the pause and seek in which it began.
        let stall = event.action == .bufferFinish ? buffering : nil
        let isNewPlayback = (didFinish || didFail) && Self.opensPlayback(event.action)
        if let rejection = isNewPlayback ? applyToNewPlayback(event) : apply(event) { return .rejected(rejection) }
        let played = wasPlaying ? before?.milliseconds(to: event.time.instant) : nil
        accumPlayTime += played ?? 0
        lastAccepted = event.time.instant
        assignIdentifiers(at: event.action, isNewPlayback: isNewPlayback, in: context)
        changePings(at: event, in: &context)
        write(to: &event, finished: stall, played: played)
        return .accepted
    }

    /// Applies the core table's row to the first event of a new playback.
    private mutating func applyToNewPlayback(_ event: Event) -> Rejection? {
        let before = self
        beginNewPlayback()
        let rejection = apply(event)
        if rejection != nil { self = before }
        return rejection
    }

    /// Flags and sums are reset; the player, the counts of errors and starts, and the identifiers stay.
    mutating func beginNewPlayback() {
        var fresh = PlaybackState()
        fresh.didPlayerSet = didPlayerSet
        fresh.countErrors = countErrors
        fresh.countStarts = countStarts
        fresh.streamId = streamId
        fresh.playbackId = playbackId
        fresh.lastAccepted = lastAccepted
        self = fresh
    }

    /// Applies the core table's row; returns why the event is illegal, in which case the state is unchanged.
    mutating func apply(_ event: Event) -> Rejection? {
        let now = event.time.instant
        switch event.action {
        case .mediaRequest: return once(\.didMediaRequest)
        case .playerSet: return once(\.didPlayerSet)
        case .streamLoad: return once(\.didStreamLoad)
        case .start:
            if let rejection = once(\.didStart) { return rejection }
            countStarts += 1
        case .pauseBegin:
            guard isInPlayback else { return .notInPlayback }
            return begin(\.pausedSince, at: now)
        case .pauseFinish:
            guard isInPlayback else { return .notInPlayback }
            return finish(\.pausedSince, at: now, addingTo: \.accumPauseTime)
        case .bufferBegin:
            let (inPause, inSeek) = (pausedSince != nil, seekingSince != nil)
            guard buffering == nil else { return .alreadyDone }
            buffering = (now, inPause, inSeek)
        case .bufferFinish:
            guard let since = buffering?.since else { return .notBegun }
            accumBufferTime += since.milliseconds(to: now)
            buffering = nil
        case .seekBegin: return begin(\.seekingSince, at: now)
        case .seekFinish: return finish(\.seekingSince, at: now, addingTo: \.accumSeekTime)
        case .end, .stop, .next:
            guard didStart else { return .notInPlayback }
            return once(\.didFinish)
        case .error:
            countErrors += 1
            if event[.isFatal] == true { didFail = true }
        default: break
        }
        return nil
    }

    /// `streamId` is new at each load; `playbackId` is made at the first request or load, and new with each playback.
    mutating func assignIdentifiers(at action: Action, isNewPlayback: Bool, in context: HubContext) {
        if action == .streamLoad { streamId = context.makeIdentifier() }
        let makesFirst = playbackId == nil && (action == .mediaRequest || action == .streamLoad)
        if makesFirst || (isNewPlayback && playbackId != nil) { playbackId = context.makeIdentifier() }
    }

    /// A stall: since when, and whether it began while paused or seeking.
    typealias Stall = (since: MonotonicInstant, inPause: Bool, inSeek: Bool)

    /// Adds the attributes that hold after the event, the pause and seek in which a finished stall began, and the
    /// milliseconds played since the event before.
    func write(to event: inout Event, finished stall: Stall?, played: Int?) {
        event.attributes.setFinite(13) { attributes in
            if let played { attributes.set(milliseconds: played, for: .deltaPlayTime) }
            attributes.set(countErrors, for: .countErrors)
            attributes.set(countStarts, for: .countStarts)
            attributes.set(milliseconds: accumPauseTime, for: .accumPauseTime)
            attributes.set(milliseconds: accumBufferTime, for: .accumBufferTime)
            attributes.set(milliseconds: accumSeekTime, for: .accumSeekTime)
            attributes.set(milliseconds: accumPlayTime, for: .accumPlayTime)
            attributes.set(isInPlayback, for: .inPlaybackBlock)
            attributes.set(stall?.inPause ?? (pausedSince != nil), for: .inPauseBlock)
            attributes.set(stall?.inSeek ?? (seekingSince != nil), for: .inSeekBlock)
            attributes.set(bufferingSince != nil, for: .inBufferBlock)
            if let streamId { attributes.set(streamId, for: .streamId) }
            if let playbackId { attributes.set(playbackId, for: .playbackId) }
        }
        // The parts must add up to `accumPlayTime`, and identifiers are the hub's: values of the caller's do not stand.
        if played == nil { event.attributes.remove(AttributeKey<Duration>.deltaPlayTime.name) }
        if streamId == nil { event.attributes.remove(AttributeKey<String>.streamId.name) }
        if playbackId == nil { event.attributes.remove(AttributeKey<String>.playbackId.name) }
    }

    private mutating func once(_ flag: WritableKeyPath<Self, Bool>) -> Rejection? {
        if self[keyPath: flag] { return .alreadyDone }
        self[keyPath: flag] = true
        return nil
    }

    private mutating func begin(_ since: WritableKeyPath<Self, MonotonicInstant?>, at now: MonotonicInstant)
        -> Rejection?
    {
        if self[keyPath: since] != nil { return .alreadyDone }
        self[keyPath: since] = now
        return nil
    }

    private mutating func finish(
        _ since: WritableKeyPath<Self, MonotonicInstant?>,
        at now: MonotonicInstant,
        addingTo sum: WritableKeyPath<Self, Int>
    ) -> Rejection? {
        guard let begun = self[keyPath: since] else { return .notBegun }
        self[keyPath: sum] += begun.milliseconds(to: now)
        self[keyPath: since] = nil
        return nil
    }

    private static func opensPlayback(_ action: Action) -> Bool {
        switch action {
        case .mediaRequest, .streamLoad, .bufferBegin, .seekBegin, .start: true
        default: false
        }
    }

    private func changePings(at event: Event, in context: inout HubContext) {
        switch event.action {
        case .start: context.startPings(of: event.tracker)
        case .end, .stop, .next: context.stopPings(of: event.tracker)
        case .error where event[.isFatal] == true: context.stopPings(of: event.tracker)
        default: break
        }
    }
}
