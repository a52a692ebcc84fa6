internal import Instrument
internal import InstrumentHTTP
internal import InstrumentWatch

/// The streams that the monitor watches, by slot and by name, and the sums of those that were removed.
package struct StreamRegister: Sendable {
    private var states: [Int: StreamState] = [:]
    /// The slots by name, without streams that were removed.
    private(set) var slots: [String: Int] = [:]
    /// The slots in the order of the configuration.
    package private(set) var order: [Int] = []
    /// The sums of streams that were removed: a stream that returns counts on.
    private var retired = RetiredTotals()
    private var nextSlot = 0

    /// The state of a stream; nil for an unknown slot.
    package subscript(slot: Int) -> StreamState? { states[slot] }

    /// The state of a stream; nil for an unknown name.
    package subscript(named name: String) -> StreamState? { slots[name].flatMap { states[$0] } }

    /// The streams, with those that were removed and whose session has not ended.
    var all: some Collection<StreamState> { states.values }
    package var count: Int { states.count }
    /// The hosts of all streams that an alert looks at, by the place of the monitor that plays them; empty for this
    /// monitor.
    var alertedHosts: [String: Set<String>] {
        states.values.lazy.filter { !$0.alerts.isEmpty }.reduce(into: [:]) { hosts, state in
            hosts[state.stream.origin?.place ?? "", default: []].insert(state.stream.url.host)
        }
    }

    /// The revision of each stream, by slot.
    package var revisions: [Int: Int] { states.mapValues(\.revision) }

    // MARK: Changes

    /// Changes a stream in place.
    mutating func change(_ slot: Int, _ body: (inout StreamState) -> Void) {
        guard let index = states.index(forKey: slot) else { return }
        body(&states.values[index])
    }

    /// Brings the cause and the state of a stream up to date; nil for an unknown slot.
    mutating func settle(_ slot: Int, at now: Timestamp) -> StreamState.Settlement? {
        guard let index = states.index(forKey: slot) else { return nil }
        return states.values[index].settle(at: now)
    }

    /// Changes all streams in place, in their order.
    mutating func changeAll(_ body: (inout StreamState) -> Void) { for slot in order { change(slot, body) } }

    /// Adds a stream behind the others; returns its slot.
    mutating func add(
        _ stream: WatchedStream,
        offset: Duration = .zero,
        start: MonotonicInstant,
        prepare: (inout StreamState) -> Void
    ) -> Int {
        let slot = nextSlot
        nextSlot += 1
        let totals = retired.take(stream.name)
        var state = StreamState(slot: slot, stream, offset: offset, start: start, continuing: totals)
        prepare(&state)
        (states[slot], slots[stream.name]) = (state, slot)
        order.append(slot)
        return slot
    }

    /// Puts the streams of a configuration in its order, before those of other monitors.
    mutating func arrange(by names: [String]) {
        order = names.compactMap { slots[$0] } + order.filter { states[$0]?.stream.origin != nil }
    }

    /// Removes a stream; one whose session runs stays until the session has ended.
    /// - Parameter isOver: whether nothing more comes of a session that runs.
    mutating func remove(_ slot: Int, isOver: Bool = false, at now: Timestamp) {
        guard let state = states[slot] else { return }
        let totals = state.totals(at: now.instant)
        slots[state.stream.name] = nil
        order.removeAll { $0 == slot }
        retired.put(totals, state.stream.name)
        guard state.run != nil, !isOver else {
            states[slot] = nil
            return
        }
        change(slot) { state in
            state.isRemoved = true
            state.counters.handOver(totals)
        }
    }

    /// Forgets a stream that was removed. The rest of its last session counts for the stream that has its name now.
    mutating func forget(_ slot: Int, at now: Timestamp) {
        guard let state = states.removeValue(forKey: slot) else { return }
        let totals = state.totals(at: now.instant)
        let earlier = state.counters.handedOver ?? totals
        if let heir = slots[state.stream.name] {
            change(heir) { $0.counters.add(totals, since: earlier) }
        } else if var kept = retired.take(state.stream.name) {
            kept.add(totals, since: earlier)
            retired.put(kept, state.stream.name)
        }
    }
}

/// The sums of streams that were removed from the configuration, by name; bounded.
private struct RetiredTotals: Sendable {
    /// The number of names that are kept. The counters of a stream whose name was forgotten begin at zero again.
    static let mostNames = 10_000

    private var totals: [String: (number: Int, totals: StreamTotals)] = [:]
    private var next = 0

    /// Keeps the sums of a stream.
    mutating func put(_ sums: StreamTotals, _ name: String) {
        totals[name] = (next, sums)
        next += 1
        // Half at once, so that a name costs constant time.
        guard totals.count > 2 * Self.mostNames else { return }
        totals = totals.filter { $0.value.number >= next - Self.mostNames }
    }

    /// Returns and removes the sums of a stream; nil for a name that is not known.
    mutating func take(_ name: String) -> StreamTotals? { totals.removeValue(forKey: name)?.totals }
}
