internal import Synchronization

/// A tracker's entry in an instrument: its identity, its getters, and the state of its events.
///
/// A class, so that an emit takes a reference instead of a copy of the getters.
final class TrackerSlot: Sendable {
    private struct State {
        var getters: [Getter] = []
        /// Getters of undeclared fields, which are read only by name, never for an event.
        var undeclared: [Getter] = []
        var memory = ActionMemory()
        var ping: ScheduledAction?
        /// The largest number of attributes of its events so far, which is the capacity of the next event.
        var attributeCount: Int
        var isRemoved = false

        /// What an emit compares without the lock: changes with each recorded event, and with the removal.
        var stamp: UInt64 { memory.version << 1 | (isRemoved ? 1 : 0) }
    }

    let id: TrackerID
    let tracker: any Tracker
    /// The content tracker whose ads it reports; otherwise itself.
    let content: TrackerID
    /// The attributes of all its events.
    let identity: Attributes
    /// The fields that it may collect.
    let fields: CollectedFields
    private let state: Lock<State>
    /// The stamp of `state`, written under its lock.
    private let stamp = Atomic<UInt64>(0)

    init(id: TrackerID, tracker: any Tracker, content: TrackerID, identity: Attributes, fields: CollectedFields) {
        self.id = id
        self.tracker = tracker
        self.content = content
        self.identity = identity
        self.fields = fields
        state = Lock(State(attributeCount: identity.count + 32))
    }

    /// Creates an event from its known attributes, the tracker's time attributes, `common` and its identity; the
    /// first source of a name wins.
    ///
    /// - Returns: the event, the getters to read, and the version of the time attributes.
    func makeEvent(
        _ action: Action,
        at time: Timestamp,
        known: consuming Attributes,
        given givenCount: Int,
        common: InstrumentAttributes?
    ) -> (pending: PendingEvent, getters: [Getter]) {
        var event = Event(action, tracker: id, time: time, attributes: known)
        let (getters, version) = state.withLock { state in
            event.attributes.reserveCapacity(state.attributeCount)
            state.memory.addTimes(to: &event)
            return (state.getters, state.memory.version)
        }
        common?.addMissing(to: &event.attributes, of: action, from: id)
        event.attributes.addMissing(identity)
        let pending = PendingEvent(
            event: consume event,
            slot: self,
            memoryVersion: version,
            givenCount: givenCount
        )
        return (consume pending, getters)
    }

    /// Whether the event may enter the chain. Updates its time and time attributes if other events of the tracker
    /// were accepted since its creation.
    ///
    /// The first `givenCount` attributes, and those that a getter reads, keep their values.
    func admit(_ event: inout Event, madeAt version: UInt64, given givenCount: Int) -> Bool {
        // Most events: nothing was recorded or removed since the event was made.
        if stamp.load(ordering: .acquiring) == version << 1 { return true }
        return state.withLock { state in
            if state.memory.version != version {
                let getters = state.getters
                state.memory.refreshTimes(of: &event) { name, attributes in
                    attributes.has(name, amongFirst: givenCount)
                        || getters.contains { $0.name == name } && attributes[name] != nil
                }
            }
            return !state.isRemoved
        }
    }

    /// Records an accepted event.
    func remember(_ event: Event) {
        state.withLock { state in
            state.memory.remember(event)
            state.attributeCount = max(state.attributeCount, min(event.attributes.count, 256))
            stamp.store(state.stamp, ordering: .releasing)
        }
    }

    /// Runs the tracker's hook on an event, and removes attributes that the hook adds and the tracker may not
    /// collect.
    func runHook(on event: inout Event) -> Verdict {
        if fields.isOpen { return tracker.process(&event) }
        // Not a copy: only a second reference, unless the hook changes the attributes.
        let before = event.attributes
        let verdict = tracker.process(&event)
        if !event.attributes.isSameStorage(as: before) { fields.filter(&event.attributes, addedTo: before) }
        return verdict
    }

    /// Adds a getter, which replaces a getter with the same name. The getter of an undeclared field is read only by
    /// name.
    func register(_ getter: Getter) {
        let isDeclared = fields.admits(getter.name)
        state.withLock { state in
            state.getters.removeAll { $0.name == getter.name }
            state.undeclared.removeAll { $0.name == getter.name }
            if isDeclared { state.getters.append(getter) } else { state.undeclared.append(getter) }
        }
    }

    /// Enables the getters of fields that have been declared since their registration.
    func admitDeclaredGetters() {
        state.withLock { state in
            state.getters += state.undeclared.filter { fields.contains($0.name) }
            state.undeclared.removeAll { fields.contains($0.name) }
        }
    }

    /// The current value of an attribute, as its getter gives it.
    func read(_ name: AttributeName) -> AttributeValue? {
        let getter = state.withLock { state in
            state.getters.first { $0.name == name } ?? state.undeclared.first { $0.name == name }
        }
        return getter?.read()
    }

    /// Replaces the scheduled ping; a removed tracker has none.
    func setPing(_ ping: ScheduledAction?) {
        let cancelled = state.withLock { state in
            if state.isRemoved { return ping }
            defer { state.ping = ping }
            return state.ping
        }
        cancelled?.cancel()
    }

    /// Stops the pings, and the processing of later events.
    func remove() {
        let ping = state.withLock { state in
            state.isRemoved = true
            stamp.store(state.stamp, ordering: .releasing)
            defer { state.ping = nil }
            return state.ping
        }
        ping?.cancel()
    }
}
