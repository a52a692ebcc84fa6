/// The time of the last accepted event of each action, for one tracker.
struct ActionMemory: Hashable, Sendable {
    private struct Entry: Hashable {
        var name: AttributeName
        /// The time in whole milliseconds, from which the differences on the wire are computed.
        var milliseconds: Int64
    }

    private var entries: ContiguousArray<Entry> = []
    private var last: MonotonicInstant?
    /// A version that changes with each recorded event.
    private(set) var version: UInt64 = 0

    /// Adds one time attribute per recorded action where the event has no such attribute, and moves the event to the
    /// time of the last recorded event if it is earlier.
    func addTimes(to event: inout Event) {
        if let last, event.time.instant < last { event.time.instant = last }
        let now = event.time.instant.milliseconds
        event.attributes.setFinite(entries.count) { attributes in
            for entry in entries { attributes.addMissing(Int(now - entry.milliseconds), for: entry.name) }
        }
    }

    /// Updates all time attributes, except those that `isGiven` accepts.
    func refreshTimes(of event: inout Event, except isGiven: (AttributeName, Attributes) -> Bool) {
        if let last, event.time.instant < last { event.time.instant = last }
        let now = event.time.instant.milliseconds
        for entry in entries where !isGiven(entry.name, event.attributes) {
            event.attributes.set(.int(Int(now - entry.milliseconds)), for: entry.name)
        }
    }

    /// Records an accepted event.
    mutating func remember(_ event: Event) {
        version &+= 1
        last = event.time.instant
        let name = event.action.timeAttribute
        if let index = entries.firstIndex(where: { $0.name == name }) {
            entries[index].milliseconds = event.time.instant.milliseconds
        } else {
            entries.append(Entry(name: name, milliseconds: event.time.instant.milliseconds))
        }
    }
}
