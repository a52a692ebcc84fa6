import Instrument
import Testing

/// Computes one metric for each event of an action: how many there were.
private struct CountingMetricalc: Metricalc {
    let name: String
    let action: Action
    let journal: ComponentJournal
    private var count = 0

    init(_ name: String, of action: Action, _ journal: ComponentJournal) {
        (self.name, self.action, self.journal) = (name, action, journal)
    }

    mutating func process(_ event: Event, into metrics: inout [Metric]) {
        guard event.action == action else { return }
        count += 1
        metrics.append(Metric(MetricName(name, .counter), .int(count), of: event))
    }

    mutating func forget(_ tracker: TrackerID) { journal.note(name, "forget \(tracker)") }
    mutating func ready() { journal.note(name, "ready") }
    mutating func end() { journal.note(name, "end") }
}

@Suite("Multiplex metricalc")
struct MultiplexMetricalcTests {
    let journal = ComponentJournal()

    private func metrics(of action: Action, by metricalc: inout MultiplexMetricalc) -> [String] {
        var metrics: [Metric] = []
        metricalc.process(Event(action, tracker: TrackerID(0), time: .zero), into: &metrics)
        return metrics.map { "\($0.name) \($0.value)" }
    }

    @Test("Each metricalc sees every event, and their metrics follow in their order")
    func order() {
        var metricalc = MultiplexMetricalc([
            CountingMetricalc("a", of: .ping, journal), CountingMetricalc("b", of: .start, journal),
            CountingMetricalc("c", of: .ping, journal),
        ])
        #expect(metrics(of: .ping, by: &metricalc) == ["a 1", "c 1"])
        #expect(metrics(of: .start, by: &metricalc) == ["b 1"])
        #expect(metrics(of: .end, by: &metricalc).isEmpty)
        #expect(metrics(of: .ping, by: &metricalc) == ["a 2", "c 2"])
    }

    @Test("Each metricalc appends its metrics to the existing ones")
    func appending() {
        var metricalc = MultiplexMetricalc([CountingMetricalc("a", of: .ping, journal), CoreMetricalc()])
        let event = Event(.start, tracker: TrackerID(0), time: .zero)
        let before = Metric(MetricName("before", .gauge), 1, of: event)
        var metrics = [before]
        metricalc.process(event, into: &metrics)
        #expect(metrics == [before, Metric(.numPlays, 1, of: event)])
    }

    @Test("Ready, end and forgotten trackers reach every metricalc, in order")
    func life() {
        var metricalc = MultiplexMetricalc([
            CountingMetricalc("a", of: .ping, journal), CountingMetricalc("b", of: .ping, journal),
        ])
        metricalc.ready()
        metricalc.forget(TrackerID(7))
        metricalc.end()
        journal.expectWholeLife()
    }

    @Test("A multiplex metricalc without metricalcs computes nothing; a nested one computes the same as alone")
    func nested() {
        var empty = MultiplexMetricalc([])
        #expect(metrics(of: .start, by: &empty).isEmpty)
        var nested = MultiplexMetricalc([MultiplexMetricalc([CoreMetricalc()]), empty])
        var alone = MultiplexMetricalc([CoreMetricalc()])
        for action in [Action.mediaRequest, .streamLoad, .start, .end] {
            #expect(metrics(of: action, by: &nested) == metrics(of: action, by: &alone))
        }
    }
}
