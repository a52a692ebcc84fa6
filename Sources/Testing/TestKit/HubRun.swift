internal import Instrument

/// A run of a hub through events, in a context that gives the same values each time.
struct HubRun {
    /// The result of an event.
    struct Step: Equatable {
        var verdict: Verdict
        /// The event as the hub left it, if it was accepted.
        var event: Event?
        var pings: [HubContext.PingChange] = []
    }

    var hub: any Hub
    private var identifierCount = 0

    init(_ hub: any Hub) { self.hub = hub }

    /// A copy of the run with the same next identifiers.
    func copy() -> HubRun { self }

    /// A copy of the run with identifiers from the beginning.
    func restarted() -> HubRun { HubRun(hub) }

    /// Processes one event.
    mutating func step(_ event: Event) -> Step {
        let environment = CountingEnvironment(identifierCount)
        var (event, context) = (
            event, HubContext(content: RandomEvents.content(of: event.tracker), environment: environment)
        )
        let verdict = hub.process(&event, in: &context)
        guard verdict == .accepted else { return Step(verdict: verdict) }
        identifierCount = environment.count
        return Step(verdict: verdict, event: event, pings: context.pingChanges)
    }

    /// Processes events after the instrument became ready.
    func steps(of events: [Event]) -> [Step] {
        var run = self
        run.hub.ready()
        return run.steps(of: events, continuing: true)
    }

    mutating func steps(of events: [Event], continuing: Bool) -> [Step] { events.map { step($0) } }

    /// Whether both give the same results for the same events.
    func behaves(like other: HubRun, in events: [Event]) -> Bool {
        var (mine, others) = (self, other)
        return events.allSatisfy { mine.step($0) == others.step($0) }
    }

    /// Whether both hubs are equal; nil if they cannot be compared.
    func isEqual(to other: HubRun) -> Bool? {
        func compare<Value: Equatable>(_ value: Value) -> Bool? { (other.hub as? Value).map { $0 == value } }
        guard let hub = hub as? any Equatable else { return nil }
        return compare(hub)
    }

    /// Numbers identifiers, and has a getter for the position alone.
    private final class CountingEnvironment: HubEnvironment {
        private let number: Lock<Int>
        init(_ number: Int) { self.number = Lock(number) }
        var count: Int { number.withLock { $0 } }
        func makeIdentifier() -> String {
            number.withLock { number in
                number += 1
                return "identifier-\(number)"
            }
        }
        func value(of name: AttributeName, from tracker: TrackerID) -> AttributeValue? {
            name == "position" ? .int(1000 &+ tracker.number) : nil
        }
    }
}
