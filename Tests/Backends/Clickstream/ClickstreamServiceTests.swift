import Instrument
import InstrumentClickstream
import InstrumentDurableQueue
import InstrumentJSON
import InstrumentTestKit
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@Suite("Clickstream from the logger to the service", .ownThread, .timeLimit(.minutes(30)))
struct ClickstreamServiceTests {
    /// A queue with its backend over the real transport, and a logger in front of it.
    private func chain(
        _ service: ClickstreamService,
        size: Int = 10,
        configuration: ClickstreamConfiguration = ClickstreamConfiguration(maxDelay: .seconds(3600)),
        store: any SampleStore = InMemoryStore()
    ) throws -> (queue: BatchQueue, logger: Clickstream, backend: ClickstreamBackend) {
        let delegate = try TestDelegate(service.url, size: size, metadata: ["language": "de"])
        let backend = try ClickstreamBackend(
            delegate: delegate,
            transport: SystemTransport(),
            configuration: configuration
        )
        let queue = BatchQueue(store: store, backends: [backend], randomness: RandomSource(NoJitter()))
        return (queue, Clickstream(delegate: delegate, queue: queue), backend)
    }

    @Test("Events arrive in batches of ten, the last one smaller, in order")
    func batches() async throws {
        let service = try ClickstreamService()
        let store = InMemoryStore()
        let first = try chain(service, store: store)
        for number in 0..<8 { first.logger.logEvent("Tap", variables: ["n": .int(number)]) }
        for number in 8..<25 { first.logger.logEvent("Tap", variables: ["n": .int(number)]) }
        #expect(await first.queue.flush(timeout: .seconds(1800)))
        #expect(service.numbers == Array(0..<25))
        #expect(service.requests.map(\.actions.count) == [10, 10, 5])
        #expect(service.complaints.isEmpty)
        #expect(service.taken.allSatisfy { $0["metadata"] == ["language": "de"] })
        #expect(await first.queue.shutdown(timeout: .seconds(1800)))
    }

    @Test("The whole backlog is sent in batches at the threshold; the count survives a restart")
    func thresholdOfMany() async throws {
        let service = try ClickstreamService()
        let configuration = ClickstreamConfiguration(threshold: 25)
        let store = InMemoryStore()
        do {
            let first = try chain(service, configuration: configuration, store: store)
            for number in 0..<24 { first.logger.logEvent("Tap", variables: ["n": .int(number)]) }
        }
        let second = try chain(service, configuration: configuration, store: store)
        #expect(service.requests.isEmpty)
        #expect(second.queue.ledger["clickstream"]?.queued == 24)
        second.logger.logEvent("Tap", variables: ["n": 24])
        await second.queue.waitUntilIdle()
        #expect(second.queue.ledger["clickstream"]?.queued == 0)
        #expect(service.requests.map(\.actions.count) == [10, 10, 5])
        #expect(service.numbers == Array(0..<25))
        // The next round counts from nothing again.
        second.logger.logEvent("Tap", variables: ["n": 25])
        #expect(second.queue.ledger["clickstream"]?.queued == 1)
        #expect(await second.queue.shutdown(timeout: .seconds(1800)))
    }

    @Test("One event triggers delivery when the threshold is one")
    func threshold() async throws {
        let arrived = AsyncStream.makeStream(of: Void.self)
        let server = try TestServer { _ in
            arrived.continuation.yield()
            return [.respond("200 OK")]
        }
        let delegate = try TestDelegate(server.url())
        let backend = try ClickstreamBackend(delegate: delegate, transport: SystemTransport())
        let queue = BatchQueue(backends: [backend])
        Clickstream(delegate: delegate, queue: queue).logEvent("Tap")
        for await _ in arrived.stream { break }
        #expect(await queue.shutdown(timeout: .seconds(1800)))
        #expect(server.requests.count == 1)
    }

    @Test(
        "Every event arrives in order when the network fails, and duplicates have the same id",
        arguments: [
            [ClickstreamService.Mood.reset, .reset], [.takeAndReset, .take, .takeAndReset],
            [.refuse("500 Oops"), .refuse("503 Busy"), .refuse("429 Slow down"), .refuse("408 Timeout")],
            [.refuse("413 Too large"), .take, .reset, .refuse("413 Too large")],
        ]
    )
    func mishaps(moods: [ClickstreamService.Mood]) async throws {
        let service = try ClickstreamService(moods)
        let (queue, logger, backend) = try chain(service)
        for number in 0..<30 { logger.logEvent("Tap", variables: ["n": .int(number)]) }
        #expect(await queue.flush(timeout: .seconds(1800)))
        #expect(service.complaints.isEmpty)
        #expect(service.numbers == Array(0..<30))
        let distinct = Set(service.taken.compactMap { $0["id"]?.string })
        #expect(distinct.count == 30)
        let ledger = try #require(queue.ledger[backend.name])
        #expect(ledger.acknowledged == 30 && ledger.dead == 0 && ledger.queued == 0)
    }

    @Test("A batch is resent with the same key and the same bytes when its response was lost")
    func lostAnswer() async throws {
        let service = try ClickstreamService([.takeAndReset, .takeAndReset])
        let (queue, logger, _) = try chain(service)
        for number in 0..<10 { logger.logEvent("Tap", variables: ["n": .int(number)]) }
        #expect(await queue.flush(timeout: .seconds(1800)))
        #expect(service.requests.count == 3)
        #expect(Set(service.requests.map(\.key)).count == 1)
        #expect(Set(service.requests.map(\.body)).count == 1)
    }

    @Test("A batch keeps its key when its response was lost and more events were queued")
    func lostAnswerAndMore() async throws {
        let service = try ClickstreamService([.takeAndReset])
        let delegate = try TestDelegate(service.url)
        let backend = try ClickstreamBackend(delegate: delegate, transport: SystemTransport())
        let clock = VirtualClock()
        let retries = AsyncStream.makeStream(of: Void.self)
        let queue = BatchQueue(backends: [backend], clock: clock) { diagnostic in
            if diagnostic.kind == .retrying { retries.continuation.yield() }
        }
        let logger = Clickstream(delegate: delegate, queue: queue, clock: clock)
        logger.logEvent("Tap", variables: ["n": 0])
        for await _ in retries.stream { break }
        logger.logEvent("Tap", variables: ["n": 1])
        clock.advance(by: .seconds(1))
        #expect(await queue.flush(timeout: .seconds(1800)))
        #expect(service.numbers == [0, 1])
        #expect(Set(service.requests.prefix(2).map(\.key)).count == 1)
    }

    @Test("The backend fulfils the contract for backends")
    func contract() async throws {
        let service = try ClickstreamService()
        try await BackendContract.check {
            try ClickstreamBackend(delegate: TestDelegate(service.url), transport: SystemTransport())
        } arrived: {
            #expect(service.complaints.isEmpty)
            return service.taken.compactMap { $0["id"]?.string.flatMap { SampleID($0) } }
        }
    }

    @Test("An action that the service refuses becomes the only dead letter")
    func culprit() async throws {
        let service = try ClickstreamService(then: .refuseAction("Bad"))
        let (queue, logger, backend) = try chain(service)
        for number in 0..<20 { logger.logEvent(number == 7 ? "Bad" : "Tap", variables: ["n": .int(number)]) }
        #expect(await queue.flush(timeout: .seconds(1800)))
        #expect(service.numbers == Array(0..<20).filter { $0 != 7 })
        #expect(Set(service.taken.compactMap { $0["id"]?.string }).count == service.taken.count)
        let letters = queue.deadLetters(of: backend.name)
        #expect(letters.map(\.reason) == ["HTTP 400"])
        #expect(letters.first?.record.sample.attributes["n"] == 7)
    }

    @Test("Saved events are sent after the next start, with the same ids, when the service was down")
    func restart() async throws {
        let scratch = try Scratch()
        let away = try ClickstreamService(then: .reset)
        do {
            let store = try DurableStore(directory: scratch.path)
            let (queue, logger, _) = try chain(away, store: store)
            for number in 0..<15 { logger.logEvent("Tap", variables: ["n": .int(number)]) }
            #expect(!(await queue.shutdown(timeout: .milliseconds(100))))
            store.close()
        }
        let service = try ClickstreamService()
        let store = try DurableStore(directory: scratch.path)
        let (queue, logger, _) = try chain(service, store: store)
        logger.logEvent("Tap", variables: ["n": 15])
        #expect(await queue.flush(timeout: .seconds(1800)))
        #expect(service.numbers == Array(0..<16))
        #expect(service.complaints.isEmpty && away.complaints.isEmpty)
        let ids = service.requests.flatMap(\.ids)
        #expect(away.requests.allSatisfy { $0.ids.allSatisfy(ids.contains) })
        #expect(await queue.shutdown(timeout: .seconds(1800)))
        store.close()
    }

    @Test("Player events arrive through the chain, with their metrics")
    func players() async throws {
        let service = try ClickstreamService()
        let delegate = try TestDelegate(service.url)
        let backend = try ClickstreamBackend(delegate: delegate, transport: SystemTransport())
        let clock = VirtualClock()
        let instrument = Instrument(
            hub: CoreHub(),
            metricalc: CoreMetricalc(),
            backends: [backend],
            clock: clock,
            deliveryClock: SystemClock()
        )
        let player = instrument.add(SilentTracker())
        instrument.ready()
        instrument.emit(.mediaRequest, from: player)
        clock.advance(by: .milliseconds(250))
        instrument.emit(.start, from: player, attributes: ["title": "Film"])
        #expect(await instrument.shutdown(timeout: .seconds(1800)))
        #expect(service.complaints.isEmpty)
        let byName = Dictionary(grouping: service.taken) { $0["name"]?.string ?? "" }
        #expect(byName["StartTime"]?.first?["variables"]?["metricValue"] == 250)
        #expect(byName["Start"]?.first?["variables"]?["title"] == "Film")
        #expect(byName["Start"]?.first?["variables"]?["timeSinceMediaRequest"] == 250)
        #expect(byName["Start"]?.first?["timestamp"] == "2026-01-01T00:00:00.250Z")
    }
}

private final class SilentTracker: Tracker {
    func begin(in context: TrackerContext) {}
}
