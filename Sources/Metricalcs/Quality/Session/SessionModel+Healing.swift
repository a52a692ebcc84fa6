internal import Instrument

/// The healing of a session that misses events: the hub's blocks, sums and time attributes show what is missing.
extension SessionModel {
    /// Applies the events that are missing between the latest event and `event`, each at its time.
    mutating func heal(before event: Event, _ reading: HubReading?) {
        guard phase.outcome == nil else { return }
        healAds(before: event)
        guard let reading, let isInPlayback = reading.isInPlayback else { return }
        var lost: [LostEvent] = []
        if !phase.hasStarted, event.action != .mediaRequest { lost += missedOpening(before: event, isInPlayback) }
        // If nothing tells when playback started, the flags are adopted with the event.
        let isStartUnknown =
            !phase.hasStarted && isInPlayback && event.action != .start && lost.last?.action != .start
        if !isStartUnknown { addMissedSpans(before: event, reading, to: &lost) }
        guard !lost.isEmpty else { return }
        apply(lost: lost, before: event)
    }

    /// Applies the end of the playback that is missing before `event`, the first event of the tracker's next playback.
    mutating func healEnd(before event: Event) {
        guard phase.outcome == nil, phase.hasStarted, event[.inPlaybackBlock] != nil else { return }
        let ends = [Action.end, .stop, .next].compactMap { action in
            event.instant(of: action).map { LostEvent(action: action, milliseconds: $0) }
        }
        guard let end = ends.max(by: { $0.milliseconds < $1.milliseconds }),
            end.milliseconds > session.begin.instant.milliseconds,
            end.milliseconds >= session.end.instant.milliseconds
        else { return }
        let (wasPlaying, last) = (session.state == .playing, session.end.instant)
        apply(lost: [end], before: event)
        session.core.ends += 1
        if wasPlaying { session.core.playTime += last.milliseconds(to: session.end.instant) }
    }

    /// The beginning of the session before its first event, if the request or the load is missing; else the event's
    /// time.
    static func begin(before event: Event) -> Timestamp {
        guard
            event.action == .streamLoad || event.action == .start || event.action == .bufferBegin
                || event.action == .seekBegin, let isInPlayback = event[.inPlaybackBlock],
            !isInPlayback || event.action == .start
        else { return event.time }
        let instants = [Action.mediaRequest, .streamLoad].compactMap { event.instantOfPlayback(of: $0) }
        guard let first = instants.min(), first < event.time.instant.milliseconds else { return event.time }
        let (nanoseconds, overflow) = first.multipliedReportingOverflow(by: 1_000_000)
        if overflow { return event.time }
        let age = event.time.instant.milliseconds - first
        return Timestamp(
            instant: MonotonicInstant(nanoseconds: nanoseconds),
            wallTime: WallTime(milliseconds: event.time.wallTime.milliseconds.saturatingSubtract(age))
        )
    }

    /// The request, the load and the start, as far as they are missing.
    private func missedOpening(before event: Event, _ isInPlayback: Bool) -> [LostEvent] {
        let begin = session.begin.instant.milliseconds
        var lost: [LostEvent] = []
        let isLate = event.action == .start || isInPlayback
        if session.startup.requested == nil, isLate || event.action == .streamLoad,
            let instant = event.instantOfPlayback(of: .mediaRequest), instant >= begin
        {
            lost.append(LostEvent(action: .mediaRequest, milliseconds: instant))
        }
        if session.startup.loaded == nil, isLate, let instant = event.instantOfPlayback(of: .streamLoad),
            instant >= begin
        {
            lost.append(LostEvent(action: .streamLoad, milliseconds: instant))
        }
        if isInPlayback, event.action != .start, let instant = event.instant(of: .start),
            instant >= session.end.instant.milliseconds
        {
            lost.append(LostEvent(action: .start, milliseconds: instant))
        }
        return lost
    }

    /// Adds the pauses, seeks and stalls that are missing.
    ///
    /// Mutating, although it changes nothing: otherwise the compiler copies the model for each event.
    private mutating func addMissedSpans(before event: Event, _ reading: HubReading, to lost: inout [LostEvent]) {
        let isBufferFinish = event.action == .bufferFinish
        let pauses = HubSpan(
            begin: .pauseBegin,
            finish: .pauseFinish,
            block: isBufferFinish
                ? isOpen(.pauseBegin, .pauseFinish, phase.isPaused, before: event) : reading.isPaused,
            openSince: phase.isPaused ? hub.pausedSince ?? session.end.instant : nil,
            sumBefore: hub.reading?.pauseTime,
            sumAfter: reading.pauseTime
        )
        let seeks = HubSpan(
            begin: .seekBegin,
            finish: .seekFinish,
            block: isBufferFinish
                ? isOpen(.seekBegin, .seekFinish, phase.isSeeking, before: event) : reading.isSeeking,
            openSince: phase.isSeeking ? hub.seekingSince ?? session.end.instant : nil,
            sumBefore: hub.reading?.seekTime,
            sumAfter: reading.seekTime
        )
        let stalls = HubSpan(
            begin: .bufferBegin,
            finish: .bufferFinish,
            block: reading.isBuffering,
            openSince: phase.bufferingSince,
            sumBefore: hub.reading?.bufferTime,
            sumAfter: reading.bufferTime
        )
        let last = session.end.instant
        if !pauses.isComplete(before: event) { lost += pauses.lost(before: event, after: last) }
        if !seeks.isComplete(before: event) { lost += seeks.lost(before: event, after: last) }
        if !stalls.isComplete(before: event) { lost += stalls.lost(before: event, after: last) }
    }

    /// The block of a pause or a seek at the end of a stall: there the hub reports the one in which the stall began.
    private func isOpen(_ begin: Action, _ finish: Action, _ known: Bool, before event: Event) -> Bool {
        let (begun, finished) = (event.instant(of: begin) ?? .min, event.instant(of: finish) ?? .min)
        let isNew = max(begun, finished) >= session.end.instant.milliseconds
        return isNew && begun != finished ? begun > finished : known
    }

    private mutating func healAds(before event: Event) {
        var breaks: [LostEvent] = []
        if let block = event[.inAdBreakBlock], let known = hub.isInAdBreak {
            breaks = missedBreaks(before: event, block: block, isOpen: known)
        }
        var ads: [LostEvent] = []
        if let block = event[.inAdBlock], let known = hub.isInAd {
            let isOpen = known && !breaks.contains { $0.action == .adBreakFinish }
            let count = hub.missedAds(before: event)
            ads = missedAds(before: event, block: block, isOpen: isOpen, count: count)
            if let count { addUntimedAds(count, before: event, isOpen: isOpen, to: &ads) }
        }
        if breaks.isEmpty, ads.isEmpty { return }
        // Of simultaneous events, the ads are within the break that is missing with them.
        breaks.insert(contentsOf: ads, at: breaks.first?.action == .adBreakBegin ? 1 : 0)
        apply(lost: breaks, before: event)
    }

    private func missedBreaks(before event: Event, block: Bool, isOpen: Bool) -> [LostEvent] {
        let changes = missedChange(.adBreakBegin, .adBreakFinish, block, isOpen, before: event)
        return changes.isEmpty ? missedWhole(.adBreakBegin, .adBreakFinish, isOpen, before: event) : changes
    }

    /// - Parameter count: the number of ads that the hub has counted in between; nil if it does not count.
    private func missedAds(before event: Event, block: Bool, isOpen: Bool, count: Int?) -> [LostEvent] {
        let whole = count == 0 ? [] : missedWhole(.adBegin, .adFinish, isOpen, before: event)
        if event.action != .adBreakFinish {
            let changes = missedChange(.adBegin, .adFinish, block, isOpen, before: event)
            return changes.isEmpty ? whole : changes
        }
        // The end of a break closes an ad that is open, unless the ad finished before.
        let begun = whole.last?.milliseconds ?? session.end.instant.milliseconds
        guard isOpen, let instant = event.instant(of: .adFinish), instant > begun else { return whole }
        return whole + [LostEvent(action: .adFinish, milliseconds: instant)]
    }

    /// What began and finished between two events, neither of which reports a change: the attributes `timeSince…` say
    /// when the latest one did.
    private func missedWhole(_ begin: Action, _ finish: Action, _ isOpen: Bool, before event: Event) -> [LostEvent] {
        let (last, now) = (session.end.instant.milliseconds, event.time.instant.milliseconds)
        guard let begun = event.instant(of: begin), begun > last, begun <= now else { return [] }
        let begins = LostEvent(action: begin, milliseconds: begun)
        let finished = event.instant(of: finish)
        if isOpen {
            let end = finished.flatMap { (last...begun).contains($0) ? $0 : nil } ?? begun
            return [LostEvent(action: finish, milliseconds: end), begins]
        }
        guard let finished, finished >= begun else { return [] }
        return [begins, LostEvent(action: finish, milliseconds: finished)]
    }

    /// Adds the ads that the hub has counted and of which nothing tells the time: they count, and have no length.
    private func addUntimedAds(_ count: Int, before event: Event, isOpen: Bool, to lost: inout [LostEvent]) {
        guard count > 0 else { return }
        let untimed = count - lost.count { $0.action == .adBegin }
        guard untimed > 0 else { return }
        let place = isOpen ? lost.firstIndex { $0.action == .adFinish }.map { $0 + 1 } ?? 0 : 0
        let next = lost.indices.contains(place) ? lost[place].milliseconds : event.time.instant.milliseconds
        // An ad that stays open is followed by the next one.
        let isFollowed = isOpen && !lost.contains { $0.action == .adFinish }
        let actions: [Action] = isFollowed ? [.adFinish, .adBegin] : [.adBegin, .adFinish]
        let added = (0..<untimed).flatMap { _ in
            actions.map { LostEvent(action: $0, milliseconds: next) }
        }
        lost.insert(contentsOf: added, at: place)
    }

    private func missedChange(_ begin: Action, _ finish: Action, _ block: Bool, _ isOpen: Bool, before event: Event)
        -> [LostEvent]
    {
        let isOpenBefore = event.action == finish || (event.action != begin && block)
        guard isOpen != isOpenBefore else { return [] }
        let action = isOpen ? finish : begin
        let instant = event.instant(of: action).flatMap { $0 >= session.end.instant.milliseconds ? $0 : nil }
        // A hub may clear its blocks with the end of a playback.
        if isOpen, event.endsSession, instant == nil { return [] }
        return [LostEvent(action: action, milliseconds: instant ?? event.time.instant.milliseconds)]
    }

    private mutating func apply(lost: [LostEvent], before event: Event) {
        // The sort keeps the order of simultaneous events.
        for lost in lost.sorted(by: { $0.milliseconds < $1.milliseconds }) {
            let time = time(of: lost, before: event)
            pass(until: time.instant)
            session.end = time
            apply(Event(lost.action, tracker: event.tracker, time: time), isAdTracker: lost.action.isOfAds)
            countCore(lost)
            enter(phase.state)
            hub.noteSpans(phase, at: time.instant)
            if lost.action == .adBegin { hub.noteMissedAd() }
            session.lostEvents[lost.action, default: 0] += 1
        }
    }

    /// The time of a missing event, between the latest event and `event`.
    private func time(of lost: LostEvent, before event: Event) -> Timestamp {
        let (last, now) = (session.end, event.time)
        if lost.milliseconds >= now.instant.milliseconds, now.instant > last.instant { return now }
        guard lost.milliseconds > last.instant.milliseconds, now.instant > last.instant else { return last }
        let age = now.instant.milliseconds - lost.milliseconds
        return Timestamp(
            // Between two instants, so that the product does not overflow.
            instant: MonotonicInstant(nanoseconds: lost.milliseconds * 1_000_000),
            wallTime: WallTime(milliseconds: now.wallTime.milliseconds.saturatingSubtract(age))
        )
    }

    private mutating func countCore(_ lost: LostEvent) {
        let (instant, overflow) = lost.milliseconds.multipliedReportingOverflow(by: 1_000_000)
        switch lost.action {
        case .mediaRequest:
            session.core.requests += 1
            // The request can be older than the latest event that is known.
            if !overflow { session.startup.requested = MonotonicInstant(nanoseconds: instant) }
        case .streamLoad:
            session.core.loads += 1
            if !overflow { session.startup.loaded = MonotonicInstant(nanoseconds: instant) }
        case .start:
            session.core.plays += 1
            session.core.startTime = session.startup.elapsed
        default: break
        }
    }

    /// Adds the parts of the core metrics that belong to missing events.
    mutating func countCoreLosses(before event: Event, _ reading: HubReading) {
        let parts = hub.core.parts(before: event, hub: reading)
        session.core.rebuffers += parts.rebuffers
        session.core.rebufferTime = session.core.rebufferTime.saturatingAdd(parts.rebufferTime)
        session.core.playTime = session.core.playTime.saturatingAdd(parts.playTime)
    }
}

extension Event {
    /// When `action` happened; nil if that was in an earlier playback of the tracker.
    fileprivate func instantOfPlayback(of action: Action) -> Int64? {
        guard let instant = instant(of: action) else { return nil }
        let ends = [Action.end, .stop, .next, .error].compactMap { self.instant(of: $0) }
        return ends.allSatisfy { $0 < instant } ? instant : nil
    }
}

extension Action {
    /// Whether a missing event of this action changes the state of ads.
    fileprivate var isOfAds: Bool {
        self == .adBreakBegin || self == .adBreakFinish || self == .adBegin || self == .adFinish
    }
}
