public import Instrument

/// Divides events into sessions: one for each playback of each sender.
///
/// Events of one sender are in order; events of different senders may be mixed in any way, so that a reader takes the
/// log of one device or the merged logs of many. A playback begins with `MediaRequest`, `StreamLoad`, `BufferBegin`,
/// `SeekBegin` or `Start`, or with an event of another `playbackId`, and ends with `End`, `Stop`, `Next`, a fatal
/// `Error`, or the beginning of the next. Events outside of a playback belong to no session. Events of a tracker of ads
/// belong to the session of their content (`contentSenderId`).
///
/// ```swift
/// var reader = SessionReader()
/// for event in events {
///     for session in reader.observe(event).closed { use(session) }
/// }
/// for session in reader.finish() { use(session) }
/// ```
///
/// Each event costs constant time on average. Memory is bounded: above ``senderLimit`` senders, those without an event
/// for the longest time are dropped, and their open sessions close as stopped.
public struct SessionReader: Sendable {
    /// The number of senders that the reader remembers.
    public let senderLimit: Int
    /// The number of open sessions that have started.
    public private(set) var concurrentPlays = 0
    private let recording: SessionModel.Recording
    private var senders = SenderTable()
    /// The sender of each instrument that opened a session last: the content of ads that do not name theirs.
    private var contents: [Substring: String] = [:]
    /// The senders of each tracker's number: one in an instrument, several in a log of many.
    private var trackers: [TrackerID: Owner] = [:]
    /// The number of the latest event with which the app of each instrument left its viewer.
    private var absences: [Substring: Int] = [:]
    private var eventCount = 0

    private enum Owner: Hashable, Sendable {
        case one(String)
        case several
    }

    /// Creates a reader without sessions.
    public init(recording: SessionModel.Recording = .sums, senderLimit: Int = 100_000) {
        self.recording = recording
        self.senderLimit = max(1, senderLimit)
    }

    /// The effect of an event on sessions.
    public struct Step: Sendable {
        /// The session that the event belongs to; nil if it belongs to none.
        public var session: SessionKey?
        /// Sessions that ended with this event or before it, in the order of their ends; usually none or one.
        public var closed: [QualitySession] = []
    }

    /// Adds an event to its session.
    public mutating func observe(_ event: Event) -> Step {
        var step = Step()
        observe(event) { model, visit in
            if visit.isClosing { step.closed.append(model.session) }
            if visit.isOfEvent { step.session = model.session.key }
        }
        return step
    }

    /// The sums of a session so far; nil if the session is not open.
    public func session(_ key: SessionKey) -> QualitySession? {
        guard let slot = senders.slot(of: key.sender), senders.entries[slot].isOpen,
            senders.entries[slot].model.session.key == key
        else {
            return nil
        }
        return senders.entries[slot].model.session
    }

    /// Closes all open sessions as stopped and returns them, sorted by key.
    public mutating func finish() -> [QualitySession] {
        var closed: [QualitySession] = []
        for slot in senders.slots { close(slot) { model, _ in closed.append(model.session) } }
        return closed.sorted { $0.key < $1.key }
    }

    /// Drops everything about a tracker; an open session of the tracker is not reported.
    public mutating func forget(_ tracker: TrackerID) { forget(tracker) { _, _ in } }
}

extension SessionReader {
    /// The reason for which a visitor sees a session.
    enum Visit {
        /// The session ended before the event, which belongs to another session.
        case earlier
        /// The event belongs to the session, which remains open.
        case event
        /// The event ended its session.
        case end
        /// The event failed its session, whose core metrics remain open.
        case failure
        /// The event belongs to a session that has failed.
        case afterFailure
        /// No further event belongs to a session that has failed.
        case release

        /// Whether the session is complete.
        var isClosing: Bool { self == .earlier || self == .end || self == .release }
        /// Whether the visit shows the effect of the event.
        var isOfEvent: Bool { self == .event || self == .end || self == .failure || self == .afterFailure }
        /// Whether the session ended just now.
        var isEnd: Bool { self == .earlier || self == .end || self == .failure }
    }

    /// Adds an event to its session, and shows each session that the event changed.
    mutating func observe(_ event: Event, _ visit: (inout SessionModel, Visit) -> Void) {
        eventCount &+= 1
        if event[.isAdsTracker] == true { return observeAd(event, visit) }
        if event.action == QualityAction.appBackground || event.action == QualityAction.systemResumed {
            noteAbsence(of: Self.instrument(of: event.sender))
        }
        let slot = senders.slot(ofSenderOf: event)
        if let slot, senders.entries[slot].isOpen {
            let belongs = senders.matches(slot, event)
            if belongs, !senders.isOver(slot) { return add(event, to: slot, visit) }
            if belongs, !event.action.opensPlayback { return addAfterFailure(event, to: slot, visit) }
            close(slot, before: event, visit)
        }
        guard opensSession(event, in: slot) else { return }
        open(event, slot ?? makeSlot(for: event.sender, event.tracker, visit), visit)
    }

    private func opensSession(_ event: Event, in slot: SenderTable.Slot?) -> Bool {
        if event.action.opensPlayback { return true }
        // The beginning of the log is missing. Events that follow the end of a playback belong to none.
        guard event[.inPlaybackBlock] == true, !event.action.endsPlayback else { return false }
        guard let slot else { return true }
        let playbackId = event[.playbackId]
        return playbackId != nil && playbackId != senders.entries[slot].lastPlaybackId
    }

    /// Makes room for a sender that the reader does not know.
    private mutating func makeSlot(
        for name: String,
        _ tracker: TrackerID,
        _ visit: (inout SessionModel, Visit) -> Void
    ) -> SenderTable.Slot {
        if senders.count >= senderLimit { dropOldest(visit) }
        return senders.add(name, tracker: tracker)
    }

    private mutating func open(
        _ event: Event,
        _ slot: SenderTable.Slot,
        _ visit: (inout SessionModel, Visit) -> Void
    ) {
        let name = senders.entries[slot].name
        let key = SessionKey(sender: name, number: senders.entries[slot].sessionCount)
        senders.entries[slot].tracker = event.tracker
        senders.entries[slot].sessionCount += 1
        senders.entries[slot].touched = eventCount
        senders.entries[slot].opened = eventCount
        senders.entries[slot].open(SessionModel(opening: event, key: key, recording: recording))
        contents[Self.instrument(of: name)] = name
        if let known = trackers[event.tracker] {
            if known != .one(name) { trackers[event.tracker] = .several }
        } else {
            trackers[event.tracker] = .one(name)
        }
        conclude(slot, hadStarted: false, visit)
    }

    private mutating func add(
        _ event: Event,
        to slot: SenderTable.Slot,
        _ visit: (inout SessionModel, Visit) -> Void
    ) {
        let hadStarted = senders.hasStarted(slot)
        senders.entries[slot].touched = eventCount
        if event.action == .start, !hadStarted, wasAbsent(slot) {
            senders.entries[slot].model.session.startup.wasInBackground = true
        }
        senders.entries[slot].model.observe(event)
        conclude(slot, hadStarted: hadStarted, visit)
    }

    /// Remembers that an app went to the background, or that its machine slept: another tracker reports it than the
    /// content's.
    private mutating func noteAbsence(of instrument: Substring) {
        absences[instrument] = eventCount
        guard absences.count > senderLimit else { return }
        let middle = absences.values.sorted()[absences.count / 2]
        absences = absences.filter { $0.value >= middle }
    }

    /// Whether the app has left its viewer since the sender's session was opened.
    private func wasAbsent(_ slot: SenderTable.Slot) -> Bool {
        guard let absence = absences[Self.instrument(of: senders.entries[slot].name)] else { return false }
        return absence > senders.entries[slot].opened
    }

    private mutating func observeAd(_ event: Event, _ visit: (inout SessionModel, Visit) -> Void) {
        guard let content = event[QualityField.contentSenderId] ?? contents[Self.instrument(of: event.sender)],
            let slot = senders.slot(of: content), senders.entries[slot].isOpen, !senders.isOver(slot)
        else { return }
        add(event, to: slot, visit)
    }

    /// Adds an event of a playback that has failed: only the core metrics continue until its end (`End`, `Stop`,
    /// `Next`), as the core hub and the core metricalc count.
    private mutating func addAfterFailure(
        _ event: Event,
        to slot: SenderTable.Slot,
        _ visit: (inout SessionModel, Visit) -> Void
    ) {
        senders.entries[slot].touched = eventCount
        senders.entries[slot].model.observeAfterFailure(event)
        visit(&senders.entries[slot].model, .afterFailure)
        if event.action.endsPlayback { close(slot, visit) }
    }

    /// Shows a session after an event, and releases it if the event ended it.
    private mutating func conclude(
        _ slot: SenderTable.Slot,
        hadStarted: Bool,
        _ visit: (inout SessionModel, Visit) -> Void
    ) {
        let hasStarted = senders.hasStarted(slot)
        let isOver = senders.isOver(slot)
        if hasStarted, !hadStarted { concurrentPlays += 1 }
        if hasStarted, isOver { concurrentPlays -= 1 }
        senders.entries[slot].model.observation.concurrentPlays = concurrentPlays
        // A playback that has failed can still end; the person cannot end one that never started.
        let isOpenEnd = isOver && hasStarted && senders.hasFailed(slot)
        visit(&senders.entries[slot].model, isOpenEnd ? .failure : isOver ? .end : .event)
        if isOver, !isOpenEnd { senders.entries[slot].release() }
    }

    /// Closes the open session of a sender as stopped; a session that has failed remains so.
    ///
    /// The end of a playback that is missing is healed by the first event of the next one.
    private mutating func close(
        _ slot: SenderTable.Slot,
        before next: Event? = nil,
        _ visit: (inout SessionModel, Visit) -> Void
    ) {
        guard senders.entries[slot].isOpen else { return }
        if senders.isOver(slot) {
            visit(&senders.entries[slot].model, .release)
            return senders.entries[slot].release()
        }
        if senders.hasStarted(slot) { concurrentPlays -= 1 }
        if let next { senders.entries[slot].model.healEnd(before: next) }
        senders.entries[slot].model.close()
        visit(&senders.entries[slot].model, .earlier)
        senders.entries[slot].release()
    }

    /// Drops everything about a tracker, and shows its open session as stopped.
    mutating func forget(_ tracker: TrackerID, _ visit: (inout SessionModel, Visit) -> Void) {
        switch trackers.removeValue(forKey: tracker) {
        case nil: return
        case .one(let name)?: if let slot = senders.slot(of: name) { drop(slot, visit) }
        case .several?:
            let slots = senders.slots.filter { senders.entries[$0].tracker == tracker }
            for slot in slots.sorted() { drop(slot, visit) }
        }
    }

    /// Drops the tenth of all senders that had no event for the longest time.
    private mutating func dropOldest(_ visit: (inout SessionModel, Visit) -> Void) {
        let order = senders.slots.map { (slot: $0, touched: senders.entries[$0].touched) }
        let oldest = order.sorted { $0.touched < $1.touched }.prefix(max(1, senderLimit / 10))
        let names = Set(oldest.map { senders.entries[$0.slot].name })
        for (slot, _) in oldest { drop(slot, visit) }
        forgetTrackers(of: names)
    }

    /// Numbers that belong to several senders are remembered until they would take more memory than the senders.
    private mutating func forgetTrackers(of names: Set<String>) {
        let keepsShared = trackers.count <= 2 * senderLimit
        trackers = trackers.filter { _, owner in
            switch owner {
            case .one(let name): !names.contains(name)
            case .several: keepsShared
            }
        }
    }

    /// Drops a sender, and closes its open session as stopped.
    private mutating func drop(_ slot: SenderTable.Slot, _ visit: (inout SessionModel, Visit) -> Void) {
        close(slot, visit)
        let name = senders.entries[slot].name
        senders.remove(slot)
        let instrument = Self.instrument(of: name)
        if contents[instrument] == name { contents[instrument] = nil }
    }

    /// The instrument's part of `<instrument UUID>-<tracker number>`.
    private static func instrument(of sender: String) -> Substring {
        sender.lastIndex(of: "-").map { sender[..<$0] } ?? sender[...]
    }
}

extension Event {
    /// The name of the sender; without one, the tracker's number.
    var sender: String { self[.senderId] ?? tracker.description }
}

extension Action {
    /// Whether the action ends a playback that has started.
    var endsPlayback: Bool { self == .end || self == .stop || self == .next }
}
