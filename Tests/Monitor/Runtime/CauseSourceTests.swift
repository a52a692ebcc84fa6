import Instrument
import InstrumentHTTP
import InstrumentMonitor
import InstrumentOrigin
import InstrumentTransport
import InstrumentWatch
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentMonitorRuntime

/// A monitor that plays one live stream of an origin with probes.
private struct WatchedOrigin {
    let monitor: Monitor
    let instrument: Instrument

    init(_ origin: Origin, _ session: String, stale: Double? = nil) throws {
        var watched = WatchedStream(
            name: "a",
            url: try HTTPURL(origin.url("live/ts/master.m3u8", session: session)),
            place: ConfigurationPlace(file: "m.yaml", line: 1, column: 1)
        )
        watched.schedule = .continuous
        watched.downDelay = .seconds(10)
        watched.checks.stale = stale
        var options = MonitorOptions()
        options.retryInterval = .seconds(5)
        let taps = SessionTaps()
        instrument = Instrument(hub: CoreHub(), metricalc: TappedMetricalc(taps), onDiagnostic: { _ in })
        let source = ProbeSource(instrument: instrument, taps: taps, transport: try SystemTransport())
        instrument.ready()
        let model = MonitorModel(configuration([watched]), options: options, at: SystemClock().timestamp)
        monitor = Monitor(model, source: source, sink: NoSink())
        monitor.start()
    }

    /// The state of the stream, once it fulfils a condition.
    @discardableResult
    func wait(until isFulfilled: (StreamState) -> Bool) async throws -> StreamState {
        while true {
            if let state = monitor.state.stream(named: "a"), isFulfilled(state) { return state }
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(50)))
        }
    }

    func stop() async {
        await monitor.stop(timeout: .seconds(60))
        await instrument.shutdown(timeout: .zero)
    }
}

@Suite("Causes of faults of a real server", .serialized, .ownThread, .timeLimit(.minutes(30)))
struct CauseSourceTests {
    @Test(
        "The request that fails first is the cause until the stream plays again",
        arguments: [
            ("503 on *.m3u8", StreamCause.Kind.http, "503 Service Unavailable", 503 as Int?),
            ("404 on *.m3u8", .http, "404 Not Found", 404), ("reset on *.m3u8", .network, "Connection fails", nil),
        ]
    )
    func playlist(_ fault: String, _ kind: StreamCause.Kind, _ title: String, _ status: Int?) async throws {
        try await withOrigin { origin in
            let watched = try WatchedOrigin(origin, "a")
            // The request that fails may have begun before the fault.
            let begin = SystemClock().wallTime
            try await watched.wait { $0.word == .playing }
            origin.setFaults([try FaultRule(fault)])
            let down = try await watched.wait { $0.word == .down }
            let end = SystemClock().wallTime
            let cause = try #require(down.cause)
            #expect(cause.kind == kind)
            #expect(cause.title == title)
            #expect(cause.status == status)
            #expect(cause.resource == .playlist)
            #expect(cause.host == "127.0.0.1")
            #expect(begin <= cause.since && cause.since < end)
            origin.setFaults([])
            let up = try await watched.wait { $0.word == .playing }
            #expect(up.cause == nil)
            let failed = up.requests.latest.filter { $0.request.isFailure }.compactMap(\.request.address)
            #expect(!failed.isEmpty && failed.allSatisfy { $0.hasSuffix(".m3u8") })
            #expect(up.requests.latest.allSatisfy { $0.request.begin != nil })
            // Who answered is known, so that another server is noticed.
            let answered = up.requests.latest.filter { !$0.request.isFailure && $0.request.failure == nil }
            #expect(!answered.isEmpty && answered.allSatisfy { $0.request.server == "127.0.0.1" })
            await watched.stop()
        }
    }

    @Test("A link that carries nothing makes a stalled stream down, and names the network")
    func deadLink() async throws {
        try await withOrigin { origin in
            let watched = try WatchedOrigin(origin, "a")
            try await watched.wait { $0.word == .playing }
            origin.setSchedule(try DeliverySchedule("0"), session: "a")
            let stalled = try await watched.wait { $0.word == .stalled }
            let stall = try #require(stalled.cause?.since)
            let known = try await watched.wait { $0.isUp == false && $0.cause?.kind == .network }
            #expect(known.word == .down)
            #expect(try #require(known.cause?.since) <= WallTime(milliseconds: stall.milliseconds + 10_000))
            #expect(known.cause?.title == "No answer in time" || known.cause?.title == "Transfer takes too long")
            origin.setSchedule(.unlimited, session: "a")
            #expect(try await watched.wait { $0.word == .playing }.cause == nil)
            await watched.stop()
        }
    }

    @Test("A playlist that answers 200 and does not change is stale")
    func stale() async throws {
        try await withOrigin { origin in
            let watched = try WatchedOrigin(origin, "a", stale: 3)
            try await watched.wait { $0.word == .playing }
            origin.setFaults([try FaultRule("stale on *.m3u8")])
            // Until the playlist is too old, nothing is known but the stall.
            let stalled = try await watched.wait { $0.word == .stalled }
            #expect(stalled.cause?.kind == .stalled || stalled.cause?.kind == .stale)
            let stale = try await watched.wait { $0.cause?.kind == .stale }
            #expect(stale.word == .stalled || stale.word == .down)
            #expect(stale.cause?.title == "Playlist does not change")
            await watched.stop()
        }
    }
}
