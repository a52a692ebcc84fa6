import Instrument
import InstrumentTestKit
import Testing

@Suite("Combinators of metricalcs")
struct CombinatorTests {
    private static let menuOpen = Action("MenuOpen")
    private static let menuClose = Action("MenuClose")
    private static let opens = MetricName("MenuOpens", .counter)
    private static let depth = MetricName("MenuDepth", .gauge)
    private static let time = MetricName("MenuTime", .gauge, unit: .milliseconds)

    private func metrics(_ metricalc: any Metricalc) -> [Metric] {
        var session = Session(CoreHub())
        let script: [(Action, Attributes)] = [
            (.mediaRequest, [:]), (.start, ["title": "film"]), (Self.menuOpen, ["depth": 3]),
            (Self.menuClose, ["depth": "x"]), (.end, [:]),
        ]
        for (action, attributes) in script {
            session.emit(action, after: 1000, attributes)
        }
        var metricalc = metricalc
        var metrics: [Metric] = []
        for event in session.events { metricalc.process(event, into: &metrics) }
        return metrics
    }

    @Test("FilterMetricalc keeps only the metrics that it is given")
    func metricFilter() {
        let all = metrics(CoreMetricalc())
        let kept = metrics(FilterMetricalc(CoreMetricalc(), metrics: [.startTime, .numEnds]))
        #expect(kept == all.filter { $0.name == .startTime || $0.name == .numEnds })
        #expect(kept.count == 2)
        #expect(metrics(FilterMetricalc(CoreMetricalc(), metrics: { $0.value != 1 })) == all.filter { $0.value != 1 })
        #expect(metrics(FilterMetricalc(CoreMetricalc())) == all)
    }

    @Test("FilterMetricalc shows its base only the events that it is given")
    func eventFilter() {
        #expect(metrics(FilterMetricalc(CoreMetricalc(), actions: [.start])).map(\.name) == [.numPlays])
        let named = metrics(FilterMetricalc(CoreMetricalc()) { $0[.title] != nil })
        #expect(named.map(\.name) == [.numPlays])
    }

    @Test("RenamingMetricalc changes the spelling and nothing else")
    func renaming() {
        let all = metrics(CoreMetricalc())
        let renamed = metrics(RenamingMetricalc(CoreMetricalc(), [.startTime: "startup"]))
        #expect(renamed.count == all.count)
        for (found, original) in zip(renamed, all) {
            let isRenamed = original.name == .startTime
            #expect(found.name == (isRenamed ? MetricName("startup", .gauge, unit: .milliseconds) : original.name))
            #expect(
                found.value == original.value && found.time == original.time && found.attributes == original.attributes
            )
        }
        #expect(renamed.contains { $0.name.spelling == "startup" })
    }

    @Test("CarryingMetricalc adds attributes of the event that its metrics do not have")
    func carrying() {
        let found = metrics(CarryingMetricalc(CoreMetricalc(), ["title", "playbackId", "absent"]))
        let plain = metrics(CoreMetricalc())
        for (metric, original) in zip(found, plain) {
            #expect(metric.attributes["playbackId"] == original.attributes["playbackId"])
            #expect(metric.attributes["absent"] == nil)
        }
        #expect(found.filter { $0.attributes["title"] == "film" }.map(\.name) == plain[1...2].map(\.name))
    }

    @Test("EventMetricalc counts custom events, and reads numbers and times from them")
    func events() {
        let rules: [EventMetricalc.Rule] = [
            .count(Self.menuOpen, as: Self.opens), .value(of: "depth", at: Self.menuOpen, as: Self.depth),
            .value(of: "depth", at: Self.menuClose, as: Self.depth),
            .time(since: Self.menuOpen, at: Self.menuClose, as: Self.time),
            .metric(Self.depth, at: .end) { $0.action == .end ? 0.5 : nil },
        ]
        let found = metrics(EventMetricalc(rules))
        #expect(found.map(\.name) == [Self.opens, Self.depth, Self.time, Self.depth])
        #expect(found.map(\.value) == [1, 3, 1000, 0.5])
    }

    @Test("Combinators keep the promises of every metricalc")
    func contracts() throws {
        try MetricalcContract.check { FilterMetricalc(CoreMetricalc(), metrics: [.playTime, .numPlays]) }
        try MetricalcContract.check { FilterMetricalc(CoreMetricalc(), actions: [.start, .end]) }
        try MetricalcContract.check { RenamingMetricalc(CoreMetricalc(), [.startTime: "startup"]) }
        try MetricalcContract.check { CarryingMetricalc(CoreMetricalc(), ["number", "title"]) }
        try MetricalcContract.check {
            EventMetricalc([.count(.ping, as: Self.opens), .value(of: "number", at: .error, as: Self.depth)])
        }
        try MetricalcContract.check {
            let filter = FilterMetricalc(CoreMetricalc(), metrics: { $0.name != .playTime })
            return MultiplexMetricalc([
                RenamingMetricalc(filter, [.numPlays: "plays"]), EventMetricalc([.count(.ping, as: Self.opens)]),
            ])
        }
    }

    @Test("A combinator treats the last metrics of a removed tracker as its other metrics")
    func lastMetrics() throws {
        func last(_ metricalc: any Metricalc) -> [Metric] {
            var (metricalc, metrics): (any Metricalc, [Metric]) = (metricalc, [])
            var session = Session(CoreHub())
            session.emit(.start, after: 1000, ["title": "film"])
            for event in session.events { metricalc.process(event, into: &metrics) }
            metrics = []
            for event in session.events { metricalc.forget(event.tracker, into: &metrics) }
            return metrics
        }
        let base = LastWords()
        #expect(last(base).map(\.name) == [LastWords.name, .numEnds])
        #expect(last(FilterMetricalc(base, metrics: [.numEnds])).map(\.name) == [.numEnds])
        #expect(last(RenamingMetricalc(base, [.numEnds: "ends"])).map(\.name.spelling) == ["LastWords", "ends"])
        #expect(last(CarryingMetricalc(base, ["title"])).map { $0.attributes["title"] } == ["film", "film"])
        let both = MultiplexMetricalc([base, CoreMetricalc(), base])
        #expect(last(both).map(\.name) == [LastWords.name, .numEnds, LastWords.name, .numEnds])
        for metricalc in [base, FilterMetricalc(base), CarryingMetricalc(base, ["title"]), both] as [any Metricalc] {
            try MetricalcContract.check { metricalc }
        }
    }

    @Test("A combinator passes ready, end and forget on to its base")
    func lifecycle() {
        let journal = Lock<[String]>([])
        func run(_ metricalc: any Metricalc) {
            var metricalc = metricalc
            metricalc.ready()
            metricalc.forget(TrackerID(7))
            metricalc.end()
        }
        run(FilterMetricalc(Listener(journal: journal)))
        run(RenamingMetricalc(Listener(journal: journal), [:]))
        run(CarryingMetricalc(Listener(journal: journal), []))
        #expect(journal.withLock { $0 } == Array(repeating: ["ready", "forget 7", "end"], count: 3).flatMap { $0 })
    }
}

/// Reports two metrics when a tracker is removed.
private struct LastWords: Metricalc {
    static let name = MetricName("LastWords", .gauge)
    private var latest: [TrackerID: Event] = [:]

    mutating func process(_ event: Event, into metrics: inout [Metric]) { latest[event.tracker] = event }

    mutating func forget(_ tracker: TrackerID) { latest[tracker] = nil }

    mutating func forget(_ tracker: TrackerID, into metrics: inout [Metric]) {
        guard let event = latest.removeValue(forKey: tracker) else { return }
        metrics += [Metric(Self.name, 5, of: event), Metric(.numEnds, 1, of: event)]
    }
}

/// Records its notifications.
private struct Listener: Metricalc {
    let journal: Lock<[String]>
    func process(_ event: Event, into metrics: inout [Metric]) {}
    func forget(_ tracker: TrackerID) { journal.withLock { $0.append("forget \(tracker)") } }
    func ready() { journal.withLock { $0.append("ready") } }
    func end() { journal.withLock { $0.append("end") } }
}
