/// When each action of one tracker was last accepted.
struct ActionMemory: Hashable, Sendable {
    private struct Entry: Hashable {
        var name: AttributeName
        var instant: MonotonicInstant
    }

    private var entries: ContiguousArray<Entry> = []
    private var last: MonotonicInstant?
    /// Changes with each remembered event.
    private(set) var version: UInt64 = 0

    /// Adds one time attribute per remembered action, and lets the event be no earlier than the last remembered one.
    func addTimes(to event: inout Event) {
        if let last, event.time.instant < last { event.time.instant = last }
        for entry in entries {
            event.attributes.set(.int(entry.instant.milliseconds(to: event.time.instant)), for: entry.name)
        }
    }

    /// Remembers that the event was accepted.
    mutating func remember(_ event: Event) {
        version &+= 1
        last = event.time.instant
        let name = event.action.timeAttribute
        if let index = entries.firstIndex(where: { $0.name == name }) {
            entries[index].instant = event.time.instant
        } else {
            entries.append(Entry(name: name, instant: event.time.instant))
        }
    }
}
