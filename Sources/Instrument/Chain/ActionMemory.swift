/// When each action of one tracker was last accepted.
struct ActionMemory: Hashable, Sendable {
    private struct Entry: Hashable {
        var name: AttributeName
        /// When, in whole milliseconds: what the wire's differences are made of.
        var milliseconds: Int64
    }

    private var entries: ContiguousArray<Entry> = []
    private var last: MonotonicInstant?
    /// Changes with each remembered event.
    private(set) var version: UInt64 = 0

    /// Adds one time attribute per remembered action where the event has none of that name, and lets the event be no
    /// earlier than the last remembered one.
    func addTimes(to event: inout Event) {
        if let last, event.time.instant < last { event.time.instant = last }
        let now = event.time.instant.milliseconds
        for entry in entries { event.attributes.addMissing(.int(Int(now - entry.milliseconds)), for: entry.name) }
    }

    /// Sets all times again, except where the event has an attribute that `isGiven` accepts.
    func refreshTimes(of event: inout Event, except isGiven: (AttributeName, Attributes) -> Bool) {
        if let last, event.time.instant < last { event.time.instant = last }
        let now = event.time.instant.milliseconds
        for entry in entries where !isGiven(entry.name, event.attributes) {
            event.attributes.set(.int(Int(now - entry.milliseconds)), for: entry.name)
        }
    }

    /// Remembers that the event was accepted.
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
