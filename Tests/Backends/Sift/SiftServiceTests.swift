import Foundation
import Instrument
import InstrumentDurableQueue
import InstrumentJSON
import InstrumentTestKit
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentSift

/// An instrument with a logger for Sift over the real transport, and its diagnostics.
struct SiftChain {
    let instrument: Instrument
    let sift: Sift
    let diagnostics = Lock([Diagnostic]())

    init(
        _ service: SiftService,
        _ change: (inout SiftConfiguration) -> Void = { _ in },
        store: any SampleStore = InMemoryStore(),
        settings: any SiftSettingsStore = SiftSettingsMemory(),
        credentials: SiftCredentials? = try? Make.credentials(),
        metricalc: (any Metricalc)? = nil,
        hub: some Hub = NoOpHub(),
        clock: any SchedulingClock = SystemClock()
    ) throws {
        var configuration = SiftConfiguration(endpoint: try SiftEndpoint(origin: service.origin))
        change(&configuration)
        instrument = Instrument(
            hub: hub,
            metricalc: metricalc,
            store: store,
            clock: clock,
            randomness: RandomSource(NoJitter()),
            onDiagnostic: { [diagnostics] diagnostic in diagnostics.withLock { $0.append(diagnostic) } }
        )
        sift = Sift(
            on: instrument,
            configuration,
            credentials: credentials,
            transport: try SystemTransport(),
            settings: settings,
            clock: clock
        )
    }

    func flush() async -> Bool { await instrument.queue.flush(timeout: .seconds(1800)) }
    var ledger: Ledger? { instrument.queue.ledger["sift-default"] }
}

@Suite("Sift from the logger to the service", .ownThread, .timeLimit(.minutes(30)))
struct SiftServiceTests {
    @Test("The backend fulfils the contract for backends")
    func contract() async throws {
        let service = try SiftService()
        let configuration = SiftConfiguration(endpoint: try SiftEndpoint(origin: service.origin))
        // Metrics are left out unless a mapping says otherwise.
        let events = { (generator: inout SeededGenerator) in
            while true {
                let sample = RandomSamples.sample(&generator)
                if case .event = sample { return sample }
            }
        }
        try await BackendContract.check(samples: events) {
            SiftBackend(
                configuration,
                credentials: try Make.credentials(),
                transport: try SystemTransport(),
                settings: SiftSettingsMemory(SiftSettings(installationID: "I").bytes)
            )
        } arrived: {
            #expect(service.complaints.isEmpty)
            return service.taken.compactMap { $0["fields"]?["sampleId"]?.string.flatMap { SampleID($0) } }
        }
    }

    @Test(
        "Every event arrives in order when the network fails; duplicates are equal, and no text contains a key",
        arguments: [
            [SiftService.Mood.reset, .reset], [.takeAndReset, .take, .takeAndReset],
            [.refuse("500 Oops"), .refuse("503 Busy"), .refuse("429 Slow down"), .refuse("408 Timeout")],
            [.refuse("429 Slow", #"{"status":60}"#), .refuse("400 Slow", #"{"status":60,"error_message":"acc/1"}"#)],
            [.refuse("413 Too large"), .take, .reset, .refuse("413 Too large")],
        ]
    )
    func mishaps(moods: [SiftService.Mood]) async throws {
        let service = try SiftService(moods)
        let chain = try SiftChain(service)
        // The first event would go out at once, and a batch of one event that is too large is a dead letter.
        chain.sift.pause()
        for number in 0..<100 { chain.sift.append(Make.event(number)) }
        chain.sift.resume()
        #expect(await chain.flush())
        #expect(service.complaints.isEmpty)
        #expect(service.numbers == (0..<100).map(String.init))
        #expect(Set(service.taken).count == 100)
        #expect(chain.ledger?.acknowledged == 100 && chain.ledger?.dead == 0)
        let reported = chain.diagnostics.withLock { $0.map(\.description).joined() }
        for secret in ["acc/1", "acc%2F1", "beacon-key", "YmVhY29u"] { #expect(!reported.contains(secret)) }
    }

    @Test("A batch is resent with the same bytes when its response was lost")
    func lostAnswer() async throws {
        let service = try SiftService([.takeAndReset, .takeAndReset])
        let chain = try SiftChain(service)
        chain.sift.pause()
        for number in 0..<5 { chain.sift.append(Make.event(number)) }
        chain.sift.resume()
        #expect(await chain.flush())
        #expect(service.requests.count == 3)
        #expect(Set(service.requests.map(\.body)).count == 1)
    }

    @Test("An event that Sift refuses becomes the only dead letter, with Sift's message and without the keys")
    func culprit() async throws {
        let service = try SiftService(then: .refuseType("Bad"))
        let chain = try SiftChain(service)
        for number in 0..<20 { chain.sift.append(Make.event(number, type: number == 7 ? "Bad" : "Tap")) }
        #expect(await chain.flush())
        #expect(service.numbers == (0..<20).filter { $0 != 7 }.map(String.init))
        #expect(service.taken.count == 19)
        let letters = chain.instrument.queue.deadLetters(of: "sift-default")
        #expect(letters.map(\.reason) == ["HTTP 400, status 53: Invalid field of … with key …"])
        #expect(letters.first?.record.sample.attributes["sift.event"] != nil)
    }

    @Test("Saved events are sent after the next start when Sift was down; no file contains a key")
    func restart() async throws {
        let scratch = try Scratch()
        let settings = SiftSettingsFile(path: scratch.file("sift.json"))
        let away = try SiftService(then: .reset)
        do {
            let store = try DurableStore(directory: scratch.file("queue"))
            let chain = try SiftChain(away, store: store, settings: settings)
            chain.sift.userID = "person-17"
            for number in 0..<15 { chain.sift.append(Make.event(number)) }
            #expect(!(await chain.instrument.shutdown(timeout: .milliseconds(100))))
            store.close()
        }
        try Self.expectNoSecrets(in: scratch.path)
        let service = try SiftService()
        let store = try DurableStore(directory: scratch.file("queue"))
        let chain = try SiftChain(service, store: store, settings: settings)
        chain.sift.userID = "person-18"
        chain.sift.append(Make.event(15))
        #expect(await chain.flush())
        #expect(service.numbers == (0..<16).map(String.init))
        #expect(service.complaints.isEmpty && away.complaints.isEmpty)
        #expect(service.taken.map { $0["user_id"] } == Array(repeating: "person-17", count: 15) + ["person-18"])
        #expect(Set(service.taken.map { $0["installation_id"] }).count == 1)
        #expect(await chain.instrument.shutdown(timeout: .seconds(1800)))
        store.close()
        try Self.expectNoSecrets(in: scratch.path)
    }

    @Test("Logging after the store was closed is harmless: the next start sends the rest")
    func resumeAfterClose() async throws {
        let scratch = try Scratch()
        let service = try SiftService()
        do {
            let store = try DurableStore(directory: scratch.file("queue"))
            let chain = try SiftChain(service, store: store)
            chain.sift.pause()
            for number in 0..<40 { chain.sift.append(Make.event(number)) }
            #expect(!(await chain.instrument.shutdown(timeout: .milliseconds(50))))
            store.close()
            chain.sift.resume()
        }
        let store = try DurableStore(directory: scratch.file("queue"))
        let chain = try SiftChain(service, store: store)
        #expect(await chain.flush())
        #expect(service.numbers.count == 40)
        #expect(service.complaints.isEmpty)
        #expect(await chain.instrument.shutdown(timeout: .seconds(1800)))
        store.close()
    }

    @Test("Events of players arrive through the chain, without metrics, in addition to logged events")
    func players() async throws {
        let service = try SiftService()
        let chain = try SiftChain(service, metricalc: CoreMetricalc(), hub: CoreHub())
        let player = chain.instrument.add(SilentTracker())
        chain.instrument.ready()
        chain.instrument.set(AttributeKey<String>("userId"), to: "person-17")
        chain.instrument.emit(.mediaRequest, from: player)
        chain.instrument.emit(.start, from: player, attributes: ["title": "Film"])
        chain.sift.append(Make.event(1))
        #expect(await chain.instrument.shutdown(timeout: .seconds(1800)))
        #expect(service.complaints.isEmpty)
        #expect(service.taken.map { $0["mobile_event_type"] } == ["MediaRequest", "Start", "Tap"])
        #expect(service.taken.map { $0["user_id"] } == ["person-17", "person-17", nil])
        #expect(
            service.taken.map { $0["installation_id"]?.string } == Array(repeating: chain.sift.installationID, count: 3)
        )
        let ids = service.taken.compactMap { $0["fields"]?["sampleId"]?.string }
        #expect(Set(ids).count == 2)
    }

    private static func expectNoSecrets(in path: String) throws {
        let files = try #require(FileManager.default.enumerator(atPath: path)).compactMap { $0 as? String }
        var count = 0
        for file in files {
            guard let data = FileManager.default.contents(atPath: path + "/" + file) else { continue }
            count += 1
            for secret in ["acc/1", "acc%2F1", "beacon-key", "YmVhY29u"] {
                #expect(data.range(of: Data(secret.utf8)) == nil, "\(secret) in \(file)")
            }
        }
        #expect(count > 2)
    }
}

private final class SilentTracker: Tracker {
    func begin(in context: TrackerContext) {}
}
