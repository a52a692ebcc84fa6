internal import Instrument

/// A sender that a reader remembers, and its open session.
struct Sender: Sendable {
    let name: String
    var model: SessionModel?
    var tracker: TrackerID
    var sessionCount = 0
    var lastPlaybackId: String?
    /// The number of the latest event, for the order of closing.
    var touched = 0
    /// The number of the event that opened the session.
    var opened = 0

    // A pattern looks at the case alone; `!= nil` copies the model.
    var isOpen: Bool { if case .some = model { true } else { false } }
    var hasStarted: Bool { model?.session.startup.hasStarted == true }
    var hasFailed: Bool { model?.session.state == .failed }
    /// Whether the session has ended; a session that stays open after its end has failed.
    var isOver: Bool { model?.session.state.isTerminal == true }

    /// Whether an event with this `playbackId` belongs to the open session.
    func matches(_ playbackId: String?) -> Bool {
        guard let playbackId, let known = model?.session.playbackId else { return true }
        return playbackId == known
    }

    /// Drops the session, and keeps the identifier of its playback.
    mutating func release() {
        lastPlaybackId = model?.session.playbackId
        model = nil
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
