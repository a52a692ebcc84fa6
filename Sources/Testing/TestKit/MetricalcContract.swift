public import Instrument

/// The promises of every metricalc; run the contract on a custom one.
///
/// The metricalc receives random events of three trackers, with the attributes that a hub and an instrument add:
///
/// - The same events give the same metrics, in every new metricalc.
/// - A copy of a metricalc is independent of the original: a metricalc is a value.
/// - Metrics are appended: existing metrics in the list stay unchanged.
/// - A metric has the tracker and the time of the event that it was computed from, and a finite value.
/// - All metrics of one name have one kind and one unit.
/// - A metricalc that has forgotten all trackers behaves like a new one; forgetting an unknown tracker has no effect.
/// - The last metrics of a forgotten tracker are appended, once; they have this tracker and the time of its latest
///   event, and do not depend on the events of other trackers.
/// - A metricalc never traps, with any order of events, any type of attributes and any distance of instants, before it
///   is ready and after its end.
public enum MetricalcContract {
    /// Checks the promises.
    ///
    /// - Parameters:
    ///   - seed: chooses the events.
    ///   - count: the number of events.
    ///   - makeMetricalc: makes a metricalc that has seen nothing.
    /// - Throws: ``ContractViolation``, which names the promise.
    public static func check(
        seed: UInt64 = 1,
        count: Int = 5000,
        _ makeMetricalc: () -> any Metricalc
    ) throws(ContractViolation) {
        var generator = SeededGenerator(seed: seed)
        let events = RandomEvents.events(count, &generator).map { completed($0, &generator) }
        let metrics = try checkDeterminism(events, makeMetricalc)
        try checkMetrics(metrics, of: events)
        try checkCopies(events, makeMetricalc)
        try checkAppending(events, makeMetricalc)
        try checkForgetting(events, makeMetricalc)
        checkExtremes(makeMetricalc)
    }

    /// The event with the attributes of a hub and an instrument, in any combination.
    private static func completed(_ event: Event, _ generator: inout SeededGenerator) -> Event {
        var event = event
        event[.senderId] = "sender-\(event.tracker)"
        event[.playbackId] = ["a", "b", nil].randomElement(using: &generator) ?? nil
        event[.streamId] = ["c", "d", nil].randomElement(using: &generator) ?? nil
        for key in [AttributeKey<Bool>.inPlaybackBlock, .inPauseBlock, .inSeekBlock, .inBufferBlock] {
            event[key] = Bool.random(using: &generator)
        }
        for action in RandomEvents.actions where Bool.random(using: &generator) {
            event[action.timeKey] = Int.random(in: 0...100_000, using: &generator)
        }
        if Bool.random(using: &generator) {
            event[milliseconds: .deltaPlayTime] = Int.random(in: 0...30_000, using: &generator)
        }
        return event
    }

    private static func metrics(of event: Event, by metricalc: inout any Metricalc) -> [Metric] {
        var metrics: [Metric] = []
        metricalc.process(event, into: &metrics)
        return metrics
    }

    /// Compares bits, because 0.0 == -0.0.
    private static func difference(_ found: [Metric], _ expected: [Metric]) -> String? {
        ExactDifference.between(found.map(Sample.metric), expected.map(Sample.metric))
    }

    private static func checkDeterminism(
        _ events: [Event],
        _ makeMetricalc: () -> any Metricalc
    ) throws(ContractViolation) -> [[Metric]] {
        var (first, second) = (makeMetricalc(), makeMetricalc())
        first.ready()
        second.ready()
        let once = events.map { metrics(of: $0, by: &first) }
        for (index, event) in events.enumerated() {
            let again = metrics(of: event, by: &second)
            if let difference = difference(again, once[index]) {
                throw ContractViolation(
                    "the same events give the same metrics",
                    "event \(index), \(event.action): \(difference)"
                )
            }
        }
        return once
    }

    private static func checkMetrics(_ metrics: [[Metric]], of events: [Event]) throws(ContractViolation) {
        var names: [String: MetricName] = [:]
        for (event, metrics) in zip(events, metrics) {
            for metric in metrics {
                try require(
                    metric.tracker == event.tracker && metric.time == event.time,
                    "a metric has the tracker and the time of its event",
                    "\(metric.name) of tracker \(metric.tracker), of an event of tracker \(event.tracker)"
                )
                try require(metric.isFinite, "a metric's value is finite", "\(metric.name) is \(metric.value)")
                let name = names[metric.name.spelling] ?? metric.name
                names[metric.name.spelling] = name
                try require(
                    name == metric.name,
                    "all metrics of one name have one kind and one unit",
                    "\(name) is a \(name.kind) in \(name.unit) and a \(metric.name.kind) in \(metric.name.unit)"
                )
            }
        }
    }

    private static func checkCopies(
        _ events: [Event],
        _ makeMetricalc: () -> any Metricalc
    ) throws(ContractViolation) {
        var (alone, copied) = (makeMetricalc(), makeMetricalc())
        for (index, event) in events.prefix(1000).enumerated() {
            var copy = copied
            for other in events[index...].prefix(4).reversed() { _ = metrics(of: other, by: &copy) }
            copy.forget(event.tracker)
            if let difference = difference(metrics(of: event, by: &copied), metrics(of: event, by: &alone)) {
                throw ContractViolation(
                    "a copy of a metricalc is independent of the original",
                    "event \(index), \(event.action), after a copy had processed events: \(difference)"
                )
            }
        }
    }

    private static func checkAppending(
        _ events: [Event],
        _ makeMetricalc: () -> any Metricalc
    ) throws(ContractViolation) {
        var (alone, appending) = (makeMetricalc(), makeMetricalc())
        guard let first = events.first else { return }
        let name = MetricName("ThereBefore", .gauge)
        let before = [Metric(name, 1, of: first), Metric(.startTime, -1, of: first), Metric(.playTime, -2, of: first)]
        for event in events.prefix(1000) {
            var list = before
            appending.process(event, into: &list)
            if let difference = difference(list, before + metrics(of: event, by: &alone)) {
                throw ContractViolation(
                    "metrics are appended to the existing ones",
                    "\(event.action): \(difference)"
                )
            }
        }
    }

    private static func checkForgetting(
        _ events: [Event],
        _ makeMetricalc: () -> any Metricalc
    ) throws(ContractViolation) {
        var metricalc = makeMetricalc()
        let length = max(1, events.count / 40)
        for start in stride(from: 0, to: events.count, by: length) {
            let end = min(events.count, start + length)
            for event in events[start..<end] { _ = metrics(of: event, by: &metricalc) }
            let following = events[end...].prefix(100)
            var (same, stranger) = (metricalc, metricalc)
            stranger.forget(TrackerID(99))
            try checkLastMetrics(metricalc, after: events[..<end])
            for tracker in RandomEvents.trackers { metricalc.forget(tracker) }
            var (fresh, forgetful) = (makeMetricalc(), metricalc)
            for event in following {
                if let difference = difference(metrics(of: event, by: &stranger), metrics(of: event, by: &same)) {
                    throw ContractViolation(
                        "forgetting an unknown tracker changes nothing",
                        "\(event.action): \(difference)"
                    )
                }
                if let difference = difference(metrics(of: event, by: &forgetful), metrics(of: event, by: &fresh)) {
                    throw ContractViolation(
                        "a metricalc that has forgotten all trackers behaves like a new one",
                        "\(event.action): \(difference)"
                    )
                }
            }
        }
    }

    private static func checkLastMetrics(
        _ metricalc: any Metricalc,
        after events: ArraySlice<Event>
    ) throws(ContractViolation) {
        let kept = MetricName("ThereBefore", .gauge)
        for tracker in RandomEvents.trackers {
            guard let latest = events.last(where: { $0.tracker == tracker }) else { continue }
            var (once, again) = (metricalc, metricalc)
            for other in RandomEvents.trackers where other != tracker { again.forget(other) }
            let before = [Metric(kept, 1, of: latest)]
            var (last, repeated, second): ([Metric], [Metric], [Metric]) = (before, before, [])
            once.forget(tracker, into: &last)
            again.forget(tracker, into: &repeated)
            once.forget(tracker, into: &second)
            try require(last.first == before[0], "last metrics are appended to the existing ones", "tracker \(tracker)")
            try require(
                second.isEmpty,
                "the last metrics of a tracker are appended once",
                "\(second.map(\.name)) of tracker \(tracker), which is forgotten already"
            )
            if let difference = difference(repeated, last) {
                throw ContractViolation(
                    "the last metrics of a tracker do not depend on other trackers",
                    "tracker \(tracker): \(difference)"
                )
            }
            for metric in last.dropFirst() {
                try require(
                    metric.tracker == tracker && metric.time == latest.time && metric.isFinite,
                    "a last metric has its tracker, the time of the tracker's latest event and a finite value",
                    "\(metric.name) \(metric.value) of tracker \(metric.tracker), after the last event of \(tracker)"
                )
            }
        }
    }

    /// Requires only that the run ends.
    private static func checkExtremes(_ makeMetricalc: () -> any Metricalc) {
        var metricalc = makeMetricalc()
        for event in RandomEvents.extremes { _ = metrics(of: event, by: &metricalc) }
        metricalc.ready()
        for event in RandomEvents.extremes {
            _ = metrics(of: event, by: &metricalc)
            metricalc.forget(event.tracker)
            metricalc.forget(event.tracker)
            var last: [Metric] = []
            _ = metrics(of: event, by: &metricalc)
            metricalc.forget(event.tracker, into: &last)
        }
        metricalc.end()
        for event in RandomEvents.extremes { _ = metrics(of: event, by: &metricalc) }
        metricalc.end()
    }
}
