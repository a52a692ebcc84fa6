public import Instrument

/// The promises of every hub; run the contract on a custom one.
///
/// The hub receives random actions of three trackers: a content tracker, one that serves ads for it, and
/// another content tracker. The hub need not be `Equatable`: the contract compares the hubs' results.
///
/// - The same events give the same verdicts, attributes and pings, in every new hub.
/// - A copy of a hub is independent of the original: a hub is a value.
/// - A rejected event leaves the hub as it was.
/// - An accepted event keeps its action, its tracker and its time.
/// - A hub that has forgotten all trackers behaves like a new one; forgetting a tracker does not affect the trackers of
///   other content, and forgetting an unknown tracker has no effect.
/// - A hub never traps, with any order of events, any type of attributes and any distance of instants, before it is
///   ready and after its end.
public enum HubContract {
    /// Checks the promises.
    ///
    /// - Parameters:
    ///   - seed: chooses the events.
    ///   - count: the number of events.
    ///   - makeHub: makes a hub that has seen nothing.
    /// - Throws: ``ContractViolation``, which names the promise.
    public static func check(
        seed: UInt64 = 1,
        count: Int = 5000,
        _ makeHub: () -> any Hub
    ) throws(ContractViolation) {
        var generator = SeededGenerator(seed: seed)
        let events = RandomEvents.events(count, &generator)
        try checkDeterminism(events, makeHub)
        try checkCopies(Array(events.prefix(500)), makeHub)
        try checkRejections(events, makeHub)
        try checkForgetting(events, makeHub)
        checkExtremes(makeHub)
    }

    private static func checkDeterminism(
        _ events: [Event],
        _ makeHub: () -> any Hub
    ) throws(ContractViolation) {
        let promise = "the same events give the same verdicts, attributes and pings"
        let first = try keepingIdentity(HubRun(makeHub()).steps(of: events), events)
        let second = HubRun(makeHub()).steps(of: events)
        for (index, pair) in zip(first, second).enumerated() where pair.0 != pair.1 {
            throw ContractViolation(promise, "another result of event \(index), \(events[index].action)")
        }
    }

    private static func keepingIdentity(
        _ steps: [HubRun.Step],
        _ events: [Event]
    ) throws(ContractViolation) -> [HubRun.Step] {
        for (step, event) in zip(steps, events) {
            guard let accepted = step.event else { continue }
            try require(
                accepted.action == event.action && accepted.tracker == event.tracker && accepted.time == event.time,
                "an accepted event keeps its action, its tracker and its time",
                "\(accepted.action) of tracker \(accepted.tracker) instead of \(event.action) of tracker \(event.tracker)"
            )
        }
        return steps
    }

    /// Runs events through copies in between; a hub that shares state with its copies then has other results.
    private static func checkCopies(_ events: [Event], _ makeHub: () -> any Hub) throws(ContractViolation) {
        let alone = HubRun(makeHub()).steps(of: events)
        var run = HubRun(makeHub())
        for (index, event) in events.enumerated() {
            var copy = run.copy()
            for other in events[index...].prefix(4).reversed() { _ = copy.step(other) }
            copy.hub.forget(event.tracker)
            try require(
                run.step(event) == alone[index],
                "a copy of a hub is independent of the original",
                "another result of event \(index), \(event.action), after a copy had processed events"
            )
        }
    }

    private static func checkRejections(_ events: [Event], _ makeHub: () -> any Hub) throws(ContractViolation) {
        var run = HubRun(makeHub())
        run.hub.ready()
        var seen: [String: Int] = [:]
        for (index, event) in events.enumerated() {
            let before = run.copy()
            guard case .rejected(let reason) = run.step(event).verdict else { continue }
            let kind = "\(event.action) \(reason)"
            seen[kind, default: 0] += 1
            let following = Array(events[(index + 1)...].prefix(6))
            // Only the first rejections are checked completely, because the check tries each action.
            let trials = seen[kind, default: 0] <= 4 ? [following] + RandomEvents.each(after: event) : [following]
            for trial in trials where !before.behaves(like: run, in: trial) {
                throw ContractViolation(
                    "a rejected event leaves the hub as it was",
                    "event \(index), \(event.action), was rejected (\(reason)), and \(trial.map(\.action)) had another result after it"
                )
            }
            try require(
                before.isEqual(to: run) != false,
                "a rejected event leaves the hub as it was",
                "event \(index), \(event.action), was rejected (\(reason)), and the hub is not equal to what it was"
            )
        }
    }

    private static func checkForgetting(_ events: [Event], _ makeHub: () -> any Hub) throws(ContractViolation) {
        let length = max(1, events.count / 40)
        var run = HubRun(makeHub())
        for start in stride(from: 0, to: events.count, by: length) {
            let part = Array(events[start...].prefix(length))
            _ = run.steps(of: part, continuing: true)
            let following = Array(events[(start + part.count)...].prefix(60))
            try checkForgettingOne(run, following)
            for tracker in RandomEvents.trackers { run.hub.forget(tracker) }
            let fresh = HubRun(makeHub())
            try require(
                fresh.behaves(like: run.restarted(), in: following),
                "a hub that has forgotten all trackers behaves like a new one",
                "another result of \(following.count) events after \(start + part.count) others"
            )
        }
    }

    private static func checkForgettingOne(_ run: HubRun, _ following: [Event]) throws(ContractViolation) {
        var stranger = run.copy()
        stranger.hub.forget(TrackerID(99))
        try require(
            run.behaves(like: stranger, in: following),
            "forgetting an unknown tracker changes nothing",
            "another result of \(following.count) events"
        )
        var other = run.copy()
        other.hub.forget(RandomEvents.other)
        let rest = following.filter { $0.tracker != RandomEvents.other }
        try require(
            run.behaves(like: other, in: rest),
            "forgetting a tracker changes nothing for the trackers of other content",
            "another result of \(rest.count) events"
        )
    }

    /// Requires only that the run ends.
    private static func checkExtremes(_ makeHub: () -> any Hub) {
        var run = HubRun(makeHub())
        let events = RandomEvents.extremes
        _ = run.steps(of: events, continuing: true)
        run.hub.ready()
        for tracker in RandomEvents.trackers + [TrackerID(.min), TrackerID(.max)] {
            run.hub.forget(tracker)
            run.hub.forget(tracker)
        }
        _ = run.steps(of: events, continuing: true)
        run.hub.end()
        _ = run.steps(of: events, continuing: true)
        run.hub.end()
    }
}
