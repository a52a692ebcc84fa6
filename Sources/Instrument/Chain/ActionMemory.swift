/// When each action of one tracker was last accepted.
struct ActionMemory: Hashable, Sendable {
    private var names: [AttributeName] = []
    private var instants: [MonotonicInstant] = []
    private var last: MonotonicInstant?

    /// The event with one time attribute per remembered action, and no earlier than the last remembered one.
    func complete(_ event: Event) -> Event {
        var time = event.time
        if let last, time.instant < last { time.instant = last }
        var completed = Event(event.action, tracker: event.tracker, time: time, attributes: event.attributes)
        for (name, instant) in zip(names, instants) {
            completed.attributes.set(.int(instant.milliseconds(to: time.instant)), for: name)
        }
        return completed
    }

    /// Remembers that the event was accepted.
    mutating func remember(_ event: Event) {
        last = event.time.instant
        let name = event.action.timeAttribute
        if let index = names.firstIndex(of: name) {
            instants[index] = event.time.instant
        } else {
            names.append(name)
            instants.append(event.time.instant)
        }
    }
}
