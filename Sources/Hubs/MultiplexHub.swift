/// Several hubs in a row: an event has to be accepted by each, and carries what each adds.
///
/// An event that one hub rejects changes no hub, including those before it.
public struct MultiplexHub: Hub {
    private var hubs: [any Hub]

    /// Creates a hub of `hubs`, asked in this order.
    public init(_ hubs: [any Hub]) { self.hubs = hubs }

    /// Asks each hub in turn; the first rejection counts.
    public mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
        var (changed, changedEvent, changedContext) = (hubs, event, context)
        for index in changed.indices {
            let verdict = changed[index].process(&changedEvent, in: &changedContext)
            if verdict != .accepted { return verdict }
        }
        (hubs, event, context) = (changed, changedEvent, changedContext)
        return .accepted
    }

    /// Passes it on.
    public mutating func forget(_ tracker: TrackerID) {
        for index in hubs.indices { hubs[index].forget(tracker) }
    }

    /// Passes it on.
    public mutating func ready() { for index in hubs.indices { hubs[index].ready() } }

    /// Passes it on.
    public mutating func end() { for index in hubs.indices { hubs[index].end() } }
}
