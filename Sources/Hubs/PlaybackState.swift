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
    var buffering: (since: MonotonicInstant, inPause: Bool, inSeek: Bool)? {
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
        let before = self
        let isNewPlayback = (didFinish || didFail) && Self.opensPlayback(event.action)
        if isNewPlayback { beginNewPlayback() }
        if let rejection = apply(event) {
            self = before
            return .rejected(rejection)
        }
        if before.isPlaying, let last = before.lastAccepted {
            let played = last.milliseconds(to: event.time.instant)
            accumPlayTime += played
            event[milliseconds: .deltaPlayTime] = played
        } else {
            // The parts must add up to `accumPlayTime`, so a value of the caller's does not stand here.
            event.attributes.remove(AttributeKey<Duration>.deltaPlayTime.name)
        }
        lastAccepted = event.time.instant
        assignIdentifiers(at: event.action, isNewPlayback: isNewPlayback, in: context)
        changePings(at: event, in: &context)
        write(to: &event, before: before)
        return .accepted
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

    /// Applies the core table's row; returns why the event is illegal, in which case nothing may be kept.
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

    /// Adds what holds after the event; a finished stall tells the pause and seek in which it began.
    func write(to event: inout Event, before: PlaybackState) {
        let stall = event.action == .bufferFinish ? before.buffering : nil
        event[.countErrors] = countErrors
        event[.countStarts] = countStarts
        event[milliseconds: .accumPauseTime] = accumPauseTime
        event[milliseconds: .accumBufferTime] = accumBufferTime
        event[milliseconds: .accumSeekTime] = accumSeekTime
        event[milliseconds: .accumPlayTime] = accumPlayTime
        event[.inPlaybackBlock] = isInPlayback
        event[.inPauseBlock] = stall?.inPause ?? (pausedSince != nil)
        event[.inSeekBlock] = stall?.inSeek ?? (seekingSince != nil)
        event[.inBufferBlock] = buffering != nil
        event[.streamId] = streamId
        event[.playbackId] = playbackId
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
