import Dispatch
import Instrument
import InstrumentTestKit
import Testing

/// Records the calls of its components in order.
final class Journal: Sendable {
    private let notes = Lock<[String]>([])
    func note(_ text: String) { notes.withLock { $0.append(text) } }
    var all: [String] { notes.withLock { $0 } }
}

struct NotingHub: Hub {
    let name: String
    let journal: Journal
    mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
        event.attributes["hub"] = .string(name)
        return .accepted
    }
    mutating func forget(_ tracker: TrackerID) { journal.note("\(name) forgets \(tracker)") }
    mutating func ready() { journal.note("\(name) ready") }
    mutating func end() { journal.note("\(name) end") }
}

struct NotingMetricalc: Metricalc {
    let name: String
    let journal: Journal
    mutating func process(_ event: Event, into metrics: inout [Metric]) {
        metrics.append(Metric(MetricName(name, .counter), 1, of: event))
    }
    mutating func ready() { journal.note("\(name) ready") }
    mutating func end() { journal.note("\(name) end") }
}

struct NotingBackend: Backend {
    let name: BackendName
    let journal: Journal
    func deliver(_ batch: Batch) async -> DeliveryOutcome { .acknowledged }
    func ready() { journal.note("\(name) ready") }
    func end() async { journal.note("\(name) end") }
}

final class NotingTracker: Tracker {
    let name: String
    let journal: Journal
    init(name: String, journal: Journal) { (self.name, self.journal) = (name, journal) }
    func begin(in context: TrackerContext) { journal.note("\(name) begin") }
    func ready() { journal.note("\(name) ready") }
    func end() { journal.note("\(name) end") }
}

@Suite("Components")
struct ComponentsTests {
    let journal = Journal()
    let clock = VirtualClock()

    @Test("Ready reaches the backends first and the trackers last, once; a shutdown has the opposite order")
    func order() async {
        let instrument = Instrument(
            hub: NotingHub(name: "hub", journal: journal),
            metricalc: NotingMetricalc(name: "metricalc", journal: journal),
            backends: [NotingBackend(name: "backend", journal: journal)],
            clock: clock
        )
        instrument.add(NotingTracker(name: "first", journal: journal))
        instrument.ready()
        instrument.ready()
        instrument.add(NotingTracker(name: "late", journal: journal))
        await instrument.shutdown(timeout: .seconds(1800))
        #expect(
            journal.all == [
                "first begin", "backend ready", "metricalc ready", "hub ready", "first ready",
                "late begin", "late ready",
                "late end", "hub forgets 1", "first end", "hub forgets 0", "hub end", "metricalc end", "backend end",
            ]
        )
        instrument.add(NotingTracker(name: "too late", journal: journal))
        #expect(journal.all.last == "too late end")
    }

    @Test("Hub and metricalc are exchanged between two events; old and new ones are notified")
    func exchange() async {
        let backend = ScriptedBackend()
        let instrument = Instrument(
            hub: NotingHub(name: "old hub", journal: journal),
            metricalc: NotingMetricalc(name: "old", journal: journal),
            backends: [backend],
            clock: clock
        )
        let id = instrument.add(PlainTracker())
        instrument.ready()
        instrument.emit(.start, from: id)
        instrument.replace(hub: NotingHub(name: "new hub", journal: journal))
        instrument.replace(metricalc: NotingMetricalc(name: "new", journal: journal))
        instrument.emit(.ping, from: id)
        instrument.replace(metricalc: nil)
        instrument.emit(.end, from: id)
        await instrument.queue.flush(timeout: .seconds(1800))
        let names = backend.delivered.map { sample in
            switch sample {
            case .event(let event): "\(event.action) by \(event[AttributeKey<String>("hub")] ?? "?")"
            case .metric(let metric): metric.name.spelling
            }
        }
        #expect(names == ["old", "Start by old hub", "new", "Ping by new hub", "End by new hub"])
        #expect(
            journal.all == [
                "old ready", "old hub ready", "old hub end", "new hub ready", "old end", "new ready", "new end",
            ]
        )
    }

    @Test("A hub that is replaced from inside the chain applies after the event")
    func exchangeInside() async {
        let instrument = Lock<Instrument?>(nil)
        let journal = journal
        let hub = OpenHub(onProcess: { event in
            if event.action == .start {
                instrument.withLock { $0 }?.replace(hub: NotingHub(name: "new", journal: journal))
            }
        })
        let made = Instrument(hub: hub, metricalc: nil, clock: clock)
        instrument.withLock { $0 = made }
        let id = made.add(PlainTracker())
        made.emit(.start, from: id)
        made.remove(id)
        #expect(journal.all == ["new forgets 0"])
    }

    @Test("An exchanged hub's pings stop")
    func pingsOfOldHub() {
        let said = Journal()
        let instrument = Instrument(hub: OpenHub(pingsAt: .start), metricalc: nil, clock: clock)
        let id = instrument.add(PlainTracker())
        instrument.emit(.start, from: id)
        #expect(clock.pendingCount == 1)
        instrument.replace(hub: NotingHub(name: "new", journal: said))
        #expect(clock.pendingCount == 0)
    }

    @Test("Backends are added and removed during emits")
    func backends() async {
        let (first, second) = (ScriptedBackend("first"), ScriptedBackend("second"))
        let instrument = Instrument(hub: OpenHub(), metricalc: nil, backends: [first], clock: clock)
        let id = instrument.add(PlainTracker())
        instrument.emit(.start, from: id)
        #expect(instrument.add(second))
        #expect(!instrument.add(ScriptedBackend("second")))
        instrument.emit(.ping, from: id)
        #expect(await instrument.remove("first", timeout: .seconds(1800)))
        instrument.emit(.end, from: id)
        await instrument.queue.flush(timeout: .seconds(1800))
        let actions = { (backend: ScriptedBackend) in
            backend.delivered.compactMap { if case .event(let event) = $0 { event.action } else { nil } }
        }
        #expect(actions(first) == [.start, .ping])
        #expect(actions(second) == [.ping, .end])
    }

    @Test("The stream of diagnostics ends with the instrument's service")
    func stream() async {
        let instrument = Instrument(hub: OpenHub(rejected: .stop), metricalc: nil, clock: clock)
        let id = instrument.add(PlainTracker())
        let diagnostics = instrument.diagnostics()
        instrument.emit(.stop, from: id)
        instrument.emit(.ping, from: TrackerID(9))
        await instrument.shutdown(timeout: .seconds(1800))
        var seen: [Diagnostic] = []
        for await diagnostic in diagnostics { seen.append(diagnostic) }
        #expect(seen == [.rejected(.stop, id, .alreadyDone), .unknownTracker(TrackerID(9), .ping)])
    }

    @Test("App events and emits after a shutdown are ignored")
    func afterShutdown() async {
        let backend = ScriptedBackend()
        let instrument = Instrument(hub: OpenHub(), metricalc: nil, backends: [backend], clock: clock)
        await instrument.shutdown(timeout: .seconds(1800))
        struct View: AnalyticsEvent { let name = "view" }
        instrument.didLog(View(), values: AnalyticsValues())
        #expect(instrument.queue.ledger["scripted"]?.emitted == 0)
    }

    @Test("When emit returns on any thread, its event is in the store")
    func stored() async {
        let store = InMemoryStore()
        let instrument = Instrument(
            hub: OpenHub(),
            metricalc: nil,
            backends: [ScriptedBackend(policy: DeliveryPolicy(maxAge: .seconds(3600)))],
            store: store,
            clock: clock
        )
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                let id = instrument.add(PlainTracker())
                let reader = BackendName("reader of \(id)")
                store.attach(reader)
                group.addTask {
                    var count = 0
                    for number in 1...500 {
                        instrument.emit(.ping, from: id)
                        let records = store.next(for: reader, maxCount: .max, maxBytes: .max)
                        if let last = records.last { store.settle(reader, through: last.sequence, dead: [:]) }
                        count += records.filter { $0.sample.tracker == id }.count
                        #expect(count == number)
                        if count != number { return }
                    }
                }
            }
        }
    }

    @Test("A component that waits for an emitting thread causes no deadlock")
    func crossThread() async {
        let backend = ScriptedBackend()
        let context = Lock<TrackerContext?>(nil)
        let hub = OpenHub(onProcess: { event in
            guard event.action == .start, let context = context.withLock({ $0 }) else { return }
            let done = DispatchSemaphore(value: 0)
            DispatchQueue(label: "another").async {
                context.emit(.ping)
                done.signal()
            }
            done.wait()
        })
        let instrument = Instrument(hub: hub, metricalc: nil, backends: [backend], clock: clock)
        let id = instrument.add(PlainTracker { new in context.withLock { $0 = new } })
        instrument.emit(.start, from: id)
        await instrument.queue.flush(timeout: .seconds(1800))
        #expect(backend.delivered.count == 2)
    }

    @Test("A getter's filter sees times and the attributes of the emit, which override the getter")
    func filters() async {
        let backend = ScriptedBackend()
        let instrument = Instrument(hub: OpenHub(), metricalc: nil, backends: [backend], clock: clock)
        let id = instrument.add(
            PlainTracker { context in
                context.register(.title, when: { $0[Action.start.timeKey] == 7 }) { "seven" }
                context.register(.language, when: { $0[.bitrate] == 5 }) { "de" }
                context.register(.bitrate) { 4 }
            }
        )
        instrument.set(.subtitles, to: "common")
        instrument.set(.subtitles, to: "narrow", in: .trackerAction(id, .end))
        instrument.emit(.start, from: id)
        clock.advance(by: .milliseconds(7))
        instrument.emit(.end, from: id, attributes: ["bitrate": 5])
        await instrument.queue.flush(timeout: .seconds(1800))
        guard case .event(let start) = backend.delivered[0], case .event(let end) = backend.delivered[1] else {
            Issue.record("two events expected")
            return
        }
        #expect((start[.title], start[.language], start[.bitrate], start[.subtitles]) == (nil, nil, 4, "common"))
        #expect((end[.title], end[.language], end[.bitrate], end[.subtitles]) == ("seven", "de", 5, "narrow"))
    }

    @Test("The same seed gives the same identifiers")
    func randomness() {
        let sender = { (seed: UInt64) -> String? in
            let seen = Lock<String?>(nil)
            let hub = OpenHub(onProcess: { event in seen.withLock { $0 = event[.senderId] } })
            let instrument = Instrument(
                hub: hub,
                metricalc: nil,
                clock: VirtualClock(),
                randomness: RandomSource(SeededGenerator(seed: seed))
            )
            instrument.emit(.start, from: instrument.add(PlainTracker()))
            return seen.withLock { $0 }
        }
        #expect(sender(1) == sender(1))
        #expect(sender(1) != sender(2))
        let pattern = /[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}-0/
        #expect(sender(1)?.wholeMatch(of: pattern) != nil)
    }
}
