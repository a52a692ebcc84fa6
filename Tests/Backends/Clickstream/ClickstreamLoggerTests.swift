import Instrument
import InstrumentClickstream
import InstrumentTestKit
import Testing

@Suite("The clickstream logger")
struct ClickstreamLoggerTests {
    private let backend = CollectingBackend()
    private let clock = VirtualClock()

    private func queue() -> BatchQueue { BatchQueue(backends: [backend], clock: clock) }

    @Test("Metadata keeps the values of the moment of logging; a variable of the same name wins")
    func metadata() async throws {
        let queue = queue()
        let delegate = try TestDelegate("http://h/", metadata: ["language": "de", "screen": "home"])
        let logger = Clickstream(delegate: delegate, queue: queue, clock: clock)
        logger.logEvent("Tap", variables: ["screen": "search", "n": 1])
        delegate.metadata = ["language": "fr"]
        logger.logEvent()
        delegate.metadata = [:]
        logger.logEvent("Bare")
        #expect(await queue.flush(timeout: .seconds(1800)))
        let records = backend.batches.flatMap(\.records)
        let actions = records.compactMap { ClickstreamMapping.all($0) }
        #expect(actions.map(\.name) == ["Tap", "Event", "Bare"])
        #expect(actions.map(\.variables) == [["screen": "search", "n": 1], [:], [:]])
        #expect(actions.map(\.metadata) == [["language": "de"], ["language": "fr"], [:]])
        #expect(actions.map(\.timestamp) == [clock.wallTime, clock.wallTime, clock.wallTime])
        #expect(Set(actions.map(\.id)).count == 3)
    }

    @Test("Every event is in the queue when the call returns, whether or not anything is sent")
    func saved() throws {
        let store = InMemoryStore()
        let backend = CollectingBackend(policy: DeliveryPolicy(maxAge: .seconds(60)))
        let queue = BatchQueue(store: store, backends: [backend], clock: clock)
        let logger = Clickstream(delegate: try TestDelegate("http://h/"), queue: queue, clock: clock)
        for number in 1...5 {
            logger.logEvent(variables: ["n": .int(number)])
            #expect(store.ledger(of: backend.name).emitted == number)
        }
        #expect(backend.attempts.isEmpty)
    }

    @Test("A value that is not finite is left out and reported")
    func notFinite() async throws {
        let diagnostics = Lock([Diagnostic]())
        let delegate = try TestDelegate("http://h/", metadata: ["heat": .double(.infinity)])
        let queue = queue()
        let logger = Clickstream(delegate: delegate, queue: queue, tracker: TrackerID(4), clock: clock) { diagnostic in
            diagnostics.withLock { $0.append(diagnostic) }
        }
        logger.logEvent("Odd", variables: ["rate": .double(.nan), "n": 1])
        #expect(diagnostics.withLock { $0 } == [.notFinite(["rate", "heat"], Action("Odd"), TrackerID(4))])
        #expect(await queue.flush(timeout: .seconds(1800)))
        #expect(backend.events.map(\.attributes.hasRefused) == [false])
        #expect(backend.events.first?.attributes["n"] == 1)
    }

    @Test("Threads that log at once lose nothing")
    func threads() async throws {
        let queue = queue()
        let logger = Clickstream(delegate: try TestDelegate("http://h/"), queue: queue, clock: clock)
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<8 {
                group.addTask { for number in 0..<100 { logger.logEvent(variables: ["n": .int(part * 100 + number)]) } }
            }
        }
        #expect(await queue.flush(timeout: .seconds(1800)))
        #expect(Set(backend.events.compactMap { $0.attributes["n"] }).count == 800)
    }

    @Test("The shared logger takes events once it is configured, and not before")
    func shared() async throws {
        #expect(Clickstream.shared == nil)
        #expect(!Clickstream.logEvent("Early"))
        let transport = RecordingTransport()
        let instrument = Instrument(hub: NoOpHub(), metricalc: nil, backends: [backend], clock: clock)
        let delegate = try TestDelegate("http://h/")
        try Clickstream.configure(with: delegate, on: instrument, transport: transport, clock: clock)
        #expect(Clickstream.logEvent("Late", variables: ["n": 1]))
        #expect(await instrument.shutdown(timeout: .seconds(1800)))
        #expect(transport.requests.count == 1)
        #expect(backend.events.map(\.action.name) == ["Late"])
    }
}
