// How many samples a second each backend delivers: over a transport that answers at once, over a connection whose
// server discards everything (Graphite), into the mock cluster inside librdkafka (Kafka), and to a server in this
// process that confirms everything, or to a real server if NATS names one (NATS).
//
//   BackendBenchmark [COUNT] [NAME…]                         (all backends, or those with these names)
//   NATS=127.0.0.1:4222/samples BackendBenchmark [COUNT]     (the stream must exist)
//   SAMPLES=samples.ndjson BackendBenchmark [COUNT]          (keeps the samples of the row `file`, for
//   scripts/compare-encoders.py)

import Foundation
import Instrument
import InstrumentBackends
import InstrumentCMCDBackend
import InstrumentClickstream
import InstrumentGraphite
import InstrumentInflux
import InstrumentKafka
import InstrumentNATS
import InstrumentNewRelic
import InstrumentOTLP
import InstrumentSeer
import InstrumentSift
import InstrumentTransport
import InstrumentXAPI

/// Takes everything at once.
struct NullTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let isToken = request.url.path.hasSuffix("access_token")
        let body = isToken ? #"{"access_token":"token","expires_in":3600}"# : "{}"
        return HTTPResponse(status: 200, body: Array(body.utf8), url: request.url)
    }
}

final class Delegate: ClickstreamDelegate {
    let environment: ClickstreamEnvironment
    let userAgent = "benchmark"
    let preferredBatchSize = 100
    init(_ url: HTTPURL) { environment = ClickstreamEnvironment("benchmark", endpoint: url) }
}

/// Sessions of a viewer: started, paused, sought, ended, with metrics.
func records(_ count: Int) async -> [SampleRecord] {
    let clock = VirtualClock()
    let kept = KeepingBackend()
    let instrument = Instrument(hub: CoreHub(), metricalc: CoreMetricalc(), backends: [kept], clock: clock)
    let player = instrument.add(SilentTracker())
    instrument.set(.duration, to: .seconds(600))
    let session: [Action] = [
        .mediaRequest, .streamLoad, .start, .pauseBegin, .pauseFinish, .seekBegin, .seekFinish, .ping, .ping, .end,
    ]
    for action in [Action.trackerInit, .playerSet, .playerReady] { instrument.emit(action, from: player) }
    var films = 0
    while (instrument.queue.ledger["kept"]?.emitted ?? 0) < count {
        // Another film each time: the memory of one film grows, and each statement repeats it.
        instrument.set(.source, to: "https://media.example.org/film-\(films).mp4")
        films += 1
        for action in session {
            clock.advance(by: .seconds(1))
            instrument.emit(action, from: player)
        }
    }
    await instrument.shutdown(timeout: .seconds(60))
    return kept.records
}

final class KeepingBackend: Backend {
    let name: BackendName = "kept"
    private let kept = Kept()
    var records: [SampleRecord] { kept.records }
    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        kept.records += batch.records
        return .acknowledged
    }
    /// Sendable: used by the one delivery at a time, and read after the shutdown.
    private final class Kept: @unchecked Sendable { var records: [SampleRecord] = [] }
}

/// What the measurement costs without a backend.
struct NoBackend: Backend {
    let name: BackendName = "none"
    let policy = DeliveryPolicy(maxCount: 1000)
    func deliver(_ batch: Batch) async -> DeliveryOutcome { .acknowledged }
}

final class SilentTracker: Tracker {
    func begin(in context: TrackerContext) {}
}

let wanted = Set(CommandLine.arguments.dropFirst().filter { Int($0) == nil })

func measure(_ backend: any Backend, _ records: [SampleRecord]) async {
    let name = backend.name.description.hasPrefix("file:") ? "file" : backend.name.description
    guard wanted.isEmpty || wanted.contains(name) else { return }
    let (start, processor, brokers) = (ContinuousClock.now, processorTime(), processorTime(ofThreads: mockThread))
    var rest = records[...]
    while !rest.isEmpty {
        let batch = Batch(records: Array(rest.prefix(backend.policy.maxCount)))
        rest = rest.dropFirst(batch.records.count)
        let outcome = await backend.deliver(batch)
        if case .acknowledged = outcome { continue }
        if case .acknowledgedExcept(let refused) = outcome, refused.count < batch.records.count { continue }
        return print("\(backend.name): \(outcome)")
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let ofBrokers = processorTime(ofThreads: mockThread) - brokers
    func share(_ time: Double) -> String { String(format: "%.2f", time * 1_000_000 / Double(records.count)) }
    print(
        name.padding(toLength: 14, withPad: " ", startingAt: 0),
        "\(Int(Double(records.count) / seconds)) samples a second,",
        share(processorTime() - processor - ofBrokers),
        "µs of processor time a sample" + (ofBrokers > 0 ? ", and \(share(ofBrokers)) µs of the mock brokers" : "")
    )
}

/// The thread of librdkafka's mock cluster (rdkafka_mock.c, `rd_kafka_mock_cluster_thread_main`).
let mockThread = "rdk:mock"

/// What all threads of this process have used, in seconds: the same on a busy machine.
func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
}

/// What the threads of this process with a name have used, in seconds; 0 where the system does not tell (Linux does).
func processorTime(ofThreads name: String) -> Double {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return tasks.reduce(0) { sum, task in
        func text(_ file: String) -> String? {
            try? String(contentsOfFile: "/proc/self/task/\(task)/\(file)", encoding: .utf8)
        }
        guard text("comm")?.trimmingCharacters(in: .newlines) == name,
            let nanoseconds = text("schedstat")?.split(separator: " ").first.flatMap({ Double($0) })
        else { return sum }
        return sum + nanoseconds / 1_000_000_000
    }
}

let count = CommandLine.arguments.dropFirst().compactMap { Int($0) }.first ?? 50_000
let kept = ProcessInfo.processInfo.environment["SAMPLES"]
let path = kept ?? NSTemporaryDirectory() + "backend-benchmark-\(getpid()).ndjson"
do {
    let records = await records(count)
    let (transport, url) = (NullTransport(), try HTTPURL("https://service.example.org/"))
    let viewer = Statement.Actor.agent(Statement.Agent(.account(homePage: "https://example.org", name: "viewer")))
    await measure(NoBackend(), records)
    await measure(try FileBackend(path: path), records)
    await measure(try ClickstreamBackend(delegate: Delegate(url), transport: transport), records)
    if let credentials = SiftCredentials(accountID: "account", beaconKey: "key") {
        await measure(SiftBackend(credentials: credentials, transport: transport), records)
    }
    let xapi = XAPIConfiguration(endpoint: url)
    let viewings = Viewings(viewer: viewer)
    await measure(XAPIBackend(xapi, mapping: VideoMapping(viewings: viewings), transport: transport), records)
    let mapping = SeerMapping(appID: "benchmark", viewings: viewings)
    let seer = SeerBackend(
        SeerConfiguration(baseURL: url),
        credentials: SeerCredentials(clientID: "client", clientSecret: "secret"),
        transport: transport,
        mapping: { mapping($0) }
    )
    await measure(seer, records)
    // Without compression, so that the encoder is what counts; New Relic and OTLP always compress.
    let influx = InfluxConfiguration(compresses: false)
    let endpoint = try InfluxEndpoint(url: url, database: "benchmark")
    await measure(try InfluxBackend(endpoint, configuration: influx, transport: transport), records)
    let relic = try NewRelicEndpoint(accountID: "1", server: url)
    await measure(try NewRelicBackend(relic, key: "key", transport: transport), records)
    await measure(try CMCDBackend(url, transport: transport), records)
    await measure(try OTLPBackend(url, transport: transport), records)
    let sink = try Sink()
    let graphite = GraphiteMapping(sendsEvents: true)
    let address = GraphiteAddress(host: "127.0.0.1", port: sink.port)
    await measure(GraphiteBackend(address, configuration: GraphiteConfiguration { graphite($0) }), records)
    // librdkafka replaces the brokers by its own.
    let cluster = KafkaConfiguration(properties: ["test.mock.num.brokers": "3"])
    let kafka = try KafkaBackend(KafkaEndpoint(brokers: ["mock"], topic: "samples"), configuration: cluster)
    await measure(kafka, Array(records.prefix(1000)))
    await measure(kafka, records)
    await kafka.end()
    let server = ProcessInfo.processInfo.environment["NATS"]
    await measure(try NATSBackend(NATSEndpoint(server ?? "127.0.0.1:\(try NullNATS().port)/samples")), records)
} catch {
    print("\(error)")
}
if kept == nil { try? FileManager.default.removeItem(atPath: path) }
