public import Instrument

/// What every hub promises; run it on yours.
///
/// Random actions of two trackers, one of them serving ads for the other, are thrown at a hub:
/// - a rejected event leaves the hub equal to what it was,
/// - the same events give the same verdicts, attributes and pings,
/// - a forgotten tracker leaves nothing behind that keeps the hub from starting anew.
public enum HubContract {
    /// Checks the promises.
    ///
    /// - Parameters:
    ///   - seed: chooses the actions.
    ///   - count: how many events are thrown.
    ///   - makeHub: makes a hub that has seen nothing.
    public static func check<H: Hub & Equatable>(
        seed: UInt64 = 1,
        count: Int = 5000,
        _ makeHub: () -> H
    ) throws(ContractViolation) {
        var generator = SeededGenerator(seed: seed)
        let events = randomEvents(count, &generator)
        let first = try run(events, through: makeHub(), seed)
        let second = try run(events, through: makeHub(), seed)
        if first != second { throw ContractViolation("the same events gave another result (seed \(seed))") }
    }

    private struct Outcome: Equatable {
        var verdicts: [Verdict] = []
        var events: [Event] = []
        var pings: [HubContext.PingChange] = []
    }

    private static func run<H: Hub & Equatable>(
        _ events: [Event],
        through hub: H,
        _ seed: UInt64
    ) throws(ContractViolation) -> Outcome {
        var hub = hub
        hub.ready()
        let environment = CountingEnvironment()
        var outcome = Outcome()
        for (index, event) in events.enumerated() {
            let before = hub
            var event = event
            var context = HubContext(content: TrackerID(0), environment: environment)
            let verdict = hub.process(&event, in: &context)
            outcome.verdicts.append(verdict)
            if verdict == .accepted {
                outcome.events.append(event)
                outcome.pings += context.pingChanges
            } else if hub != before {
                throw ContractViolation(
                    "event \(index), \(event.action), was rejected and changed the hub (seed \(seed))"
                )
            }
        }
        hub.forget(TrackerID(0))
        hub.forget(TrackerID(1))
        hub.end()
        return outcome
    }

    private static func randomEvents(_ count: Int, _ generator: inout SeededGenerator) -> [Event] {
        let actions = Action.playerActions + Action.adActions + [Action("Custom")]
        var instant = MonotonicInstant(nanoseconds: 0)
        var events: [Event] = []
        for _ in 0..<count {
            instant = instant.advanced(by: .microseconds(Int.random(in: 0...3_000_000, using: &generator)))
            let time = Timestamp(instant: instant, wallTime: WallTime(milliseconds: instant.milliseconds))
            let action = actions[Int.random(in: 0..<actions.count, using: &generator)]
            let tracker = TrackerID(Int.random(in: 0...1, using: &generator))
            events.append(Event(action, tracker: tracker, time: time))
        }
        return events
    }

    /// Numbers identifiers; knows no getters.
    private final class CountingEnvironment: HubEnvironment {
        private let count = Lock(0)
        func makeIdentifier() -> String {
            count.withLock { count in
                count += 1
                return "identifier-\(count)"
            }
        }
        func value(of name: AttributeName, from tracker: TrackerID) -> AttributeValue? { nil }
    }
}
