/// A tracker's place in an instrument: who it is, what it registered, and what is remembered of its events.
///
/// A class, so that an emit takes a reference instead of copying what a tracker registered.
final class TrackerSlot: Sendable {
    private struct State {
        var getters: [Getter] = []
        /// Getters of fields that are not declared: asked by name alone, never for an event.
        var undeclared: [Getter] = []
        var memory = ActionMemory()
        var ping: ScheduledAction?
        /// The most attributes that one of its events has had; the next is given room for as many at once.
        var attributeCount: Int
        var isRemoved = false
    }

    let id: TrackerID
    let tracker: any Tracker
    /// The content tracker that it serves ads for; itself if it serves none.
    let content: TrackerID
    /// What all of its events carry.
    let identity: Attributes
    /// What it may collect.
    let fields: CollectedFields
    private let state: Lock<State>

    init(id: TrackerID, tracker: any Tracker, content: TrackerID, identity: Attributes, fields: CollectedFields) {
        self.id = id
        self.tracker = tracker
        self.content = content
        self.identity = identity
        self.fields = fields
        state = Lock(State(attributeCount: identity.count + 32))
    }

    /// Puts an event together from what is known of it, the tracker's time attributes, `common` and its identity; where
    /// several have a name, the first of these counts.
    ///
    /// - Returns: the event, the getters to ask, and the version of the memory that the time attributes are of.
    func makeEvent(
        _ action: Action,
        at time: Timestamp,
        known: consuming Attributes,
        given givenCount: Int,
        common: InstrumentAttributes
    ) -> (pending: PendingEvent, getters: [Getter]) {
        var event = Event(action, tracker: id, time: time, attributes: known)
        let (getters, version) = state.withLock { state in
            event.attributes.reserveCapacity(state.attributeCount)
            state.memory.addTimes(to: &event)
            return (state.getters, state.memory.version)
        }
        common.addMissing(to: &event.attributes, of: action, from: id)
        event.attributes.addMissing(identity)
        let pending = PendingEvent(
            event: consume event,
            slot: self,
            memoryVersion: version,
            givenCount: givenCount
        )
        return (consume pending, getters)
    }

    /// Whether the event may enter the chain. Brings its time and time attributes up to date if other events of the
    /// tracker were accepted since it was made.
    ///
    /// The first `givenCount` attributes, and those that a getter reads, keep their values.
    func admit(_ event: inout Event, madeAt version: UInt64, given givenCount: Int) -> Bool {
        state.withLock { state in
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

    /// Remembers an accepted event.
    func remember(_ event: Event) {
        state.withLock { state in
            state.memory.remember(event)
            state.attributeCount = max(state.attributeCount, min(event.attributes.count, 256))
        }
    }

    /// The tracker's own look at an event. What it adds and may not collect is taken out again.
    func runHook(on event: inout Event) -> Verdict {
        if fields.isOpen { return tracker.process(&event) }
        // No copy: as long as the hook changes nothing, this is one more reference.
        let before = event.attributes
        let verdict = tracker.process(&event)
        if !event.attributes.isSameStorage(as: before) { fields.filter(&event.attributes, addedTo: before) }
        return verdict
    }

    /// Adds a getter; it replaces one of the same name. One of a field that is not declared is only asked by name.
    func register(_ getter: Getter) {
        let isDeclared = fields.admits(getter.name)
        state.withLock { state in
            state.getters.removeAll { $0.name == getter.name }
            state.undeclared.removeAll { $0.name == getter.name }
            if isDeclared { state.getters.append(getter) } else { state.undeclared.append(getter) }
        }
    }

    /// Looks again at getters of fields that were not declared.
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

    /// Replaces the ping that is due; a removed tracker takes none.
    func setPing(_ ping: ScheduledAction?) {
        let cancelled = state.withLock { state in
            if state.isRemoved { return ping }
            defer { state.ping = ping }
            return state.ping
        }
        cancelled?.cancel()
    }

    /// Its pings stop, and its events go no further.
    func remove() {
        let ping = state.withLock { state in
            state.isRemoved = true
            defer { state.ping = nil }
            return state.ping
        }
        ping?.cancel()
    }
}
