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

    /// Whether an event with this `playbackId` belongs to the open session.
    func matches(_ slot: Slot, _ playbackId: String?) -> Bool {
        guard let playbackId, let known = entries[slot].model.session.playbackId else { return true }
        return playbackId == known
    }

    /// The place of a sender; nil for a sender that the table does not have.
    func slot(of name: String) -> Slot? { places[name] }

    /// The place of a sender whose events come from a tracker with this number; nil for a sender that the table does
    /// not have.
    mutating func slot(of name: String, tracker: TrackerID) -> Slot? {
        let hint = hints[tracker.number & 15]
        if hint < entries.count, entries[hint].name == name, !name.isEmpty { return hint }
        guard let slot = places[name] else { return nil }
        hints[tracker.number & 15] = slot
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
