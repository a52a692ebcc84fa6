internal import Instrument

/// A sender that a reader remembers, and its open session.
struct Sender: Sendable {
    let name: String
    /// The open session; ``SessionModel/none`` while none is open. Not an optional, which is moved out and back for a
    /// change.
    var model = SessionModel.none
    private(set) var isOpen = false
    var tracker: TrackerID
    var sessionCount = 0
    var lastPlaybackId: String?
    /// The number of the latest event, for the order of closing.
    var touched = 0
    /// The number of the event that opened the session.
    var opened = 0

    init(name: String, tracker: TrackerID) { (self.name, self.tracker) = (name, tracker) }

    /// Opens a session.
    mutating func open(_ session: consuming SessionModel) { (model, isOpen) = (session, true) }

    /// Drops the session, and keeps the identifier of its playback.
    mutating func release() {
        lastPlaybackId = model.session.playbackId
        (model, isOpen) = (.none, false)
    }
}

/// Senders by name.
///
/// A sender is large. It stays at its place in an array, where an event reads and changes it in place: a dictionary
/// copies a value with each read.
struct SenderTable: Sendable {
    /// The place of a sender, valid until the sender is removed.
    typealias Slot = Int

    /// The senders; a free place holds a sender without a name.
    var entries: [Sender] = []
    private var places: [String: Slot] = [:]
    private var free: [Slot] = []
    /// The place of the latest sender of each tracker's number modulo 16: tried before the name is hashed.
    private var hints = [Slot](repeating: 0, count: 16)

    var count: Int { places.count }

    /// The places of all senders.
    var slots: [Slot] { Array(places.values) }

    // Questions of each event, about stored properties alone: a property or a method of a sender would copy the sender.

    func hasStarted(_ slot: Slot) -> Bool { entries[slot].model.session.startup.hasStarted }
    func hasFailed(_ slot: Slot) -> Bool { entries[slot].model.session.state == .failed }
    /// Whether the session has ended; a session that stays open after its end has failed.
    func isOver(_ slot: Slot) -> Bool { entries[slot].model.session.state.isTerminal }

    /// Whether an event belongs to the open session by its `playbackId`; true if one of both has none.
    func matches(_ slot: Slot, _ event: Event) -> Bool {
        let name = AttributeKey<String>.playbackId.name
        if event.attributes.hasText(entries[slot].model.session.playbackId, for: name) { return true }
        return entries[slot].model.session.playbackId == nil || event[.playbackId] == nil
    }

    /// The place of a sender; nil for a sender that the table does not have.
    func slot(of name: String) -> Slot? { places[name] }

    /// The place of an event's sender; nil for a sender that the table does not have. Copies no text of an event whose
    /// sender is the latest one with the tracker's number.
    mutating func slot(ofSenderOf event: Event) -> Slot? {
        let hint = hints[event.tracker.number & 15]
        if hint < entries.count, !entries[hint].name.isEmpty,
            event.attributes.hasText(entries[hint].name, for: AttributeKey<String>.senderId.name)
        {
            return hint
        }
        guard let slot = places[event.sender] else { return nil }
        hints[event.tracker.number & 15] = slot
        return slot
    }

    /// Adds a sender that the table does not have.
    mutating func add(_ name: String, tracker: TrackerID) -> Slot {
        let sender = Sender(name: name, tracker: tracker)
        let slot: Slot
        if let reused = free.popLast() {
            slot = reused
            entries[slot] = sender
        } else {
            slot = entries.count
            entries.append(sender)
        }
        places[name] = slot
        return slot
    }

    /// Removes a sender.
    mutating func remove(_ slot: Slot) {
        guard places.removeValue(forKey: entries[slot].name) != nil else { return }
        entries[slot] = Sender(name: "", tracker: entries[slot].tracker)
        free.append(slot)
    }
}
