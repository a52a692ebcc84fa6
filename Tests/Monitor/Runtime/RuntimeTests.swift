import Foundation
import Instrument
import InstrumentCheck
import InstrumentHTTP
import InstrumentJSON
import InstrumentMonitor
import InstrumentTestKit
import InstrumentTransport
import InstrumentWatch
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentMonitorRuntime

/// Keeps the messages.
private final class KeepingSink: AlertSink {
    let messages = Lock<[AlertMessage]>([])
    func send(_ message: AlertMessage) { messages.withLock { $0.append(message) } }
}

@Suite("The monitor at work", .ownThread)
struct RuntimeTests {
    private func sample(_ action: Action, _ stream: String?) -> Sample {
        var event = Event(action, tracker: TrackerID(0), time: SystemClock().timestamp)
        event[.monitorStream] = stream
        return .event(event)
    }

    private func batch(_ samples: [Sample]) -> Batch {
        Batch(
            records: samples.enumerated().map { index, sample in
                SampleRecord(id: SampleID(high: 0, low: UInt64(index)), sequence: UInt64(index), sample: sample)
            }
        )
    }

    @Test("A backend receives the samples of the streams that name it, or that name none, and no message of an alert")
    func routes() async {
        let routes = SampleRoutes()
        routes.replace(["a": ["one"], "b": ["two"], "c": []])
        let base = CollectingBackend()
        let backend = RoutedBackend(base, name: "one", routes: routes)
        #expect(backend.name == "one")
        let samples = [
            sample(.start, "a"), sample(.start, "b"), sample(.start, "c"), sample(.start, "removed"),
            sample(.start, nil),
            sample(.monitorAlert, nil),
        ]
        #expect(await backend.deliver(batch(samples)) == .acknowledged)
        let received = base.samples.map { $0.attributes[.monitorStream] }
        #expect(received == ["a", "c", "removed", nil])
        #expect(await backend.deliver(batch([sample(.start, "b")])) == .acknowledged)
        #expect(base.samples.count == 4)
    }

    @Test("The monitor saves its state with each message and when it stops, under a virtual time")
    func saves() async throws {
        let clock = VirtualClock()
        let saved = Lock<[[UInt8]]>([])
        let sink = KeepingSink()
        let source = ScriptedSource()
        let configuration = configuration([try stream("a")], [try alert("up", "up == 1")])
        let model = MonitorModel(configuration, at: clock.timestamp)
        let monitor = Monitor(
            model,
            source: source,
            sink: sink,
            clock: clock,
            save: { bytes in saved.withLock { $0.append(bytes) } }
        )
        monitor.start()
        while sink.messages.withLock({ $0.isEmpty }) {
            await monitor.settle()
            clock.advance(by: .seconds(1))
        }
        await monitor.settle()
        #expect(sink.messages.withLock { $0.map { $0.items.map(\.stream) } } == [["a"]])
        let state = try #require(saved.withLock { $0.last }.flatMap { SavedMonitor($0) })
        #expect(state.bytes.count > 50)
        let count = saved.withLock { $0.count }
        await monitor.stop(timeout: .seconds(60))
        #expect(saved.withLock { $0.count } == count + 1)
        #expect(monitor.state.isIdle)
    }

    @Test("A disk that does not answer delays no work of the monitor", .timeLimit(.minutes(30)))
    func slowDisk() async throws {
        let clock = VirtualClock()
        let (entered, isFirst, answer) = (Gate(), Lock(true), DispatchSemaphore(value: 0))
        let (source, sink) = (ScriptedSource(), KeepingSink())
        let configuration = configuration([try stream("a")], [try alert("up", "up == 1")])
        let monitor = Monitor(
            MonitorModel(configuration, at: clock.timestamp),
            source: source,
            sink: sink,
            clock: clock,
            save: { _ in
                guard
                    isFirst.withLock({ first in
                        defer { first = false }
                        return first
                    })
                else { return }
                entered.open()
                answer.wait()
            }
        )
        let pause = { try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(10))) }
        monitor.start()
        while sink.messages.withLock({ $0.isEmpty }) {
            clock.advance(by: .seconds(1))
            try await pause()
        }
        _ = await entered.wait()
        let begin = Event(.bufferBegin, tracker: TrackerID(0), time: SystemClock().timestamp)
        source.emit(.event(begin), to: "a")
        while monitor.state.stream(named: "a")?.stateName(at: clock.now) != "rebuffering" { try await pause() }
        answer.signal()
        await monitor.stop(timeout: .seconds(60))
        #expect(monitor.state.isIdle)
    }

    @Test(
        "A receiver's refusal becomes a dead letter, and its failure a retry",
        arguments: [
            ("200 OK", DeliveryOutcome.acknowledged), ("204 No Content", .acknowledged),
        ]
    )
    func webhook(_ status: String, _ outcome: DeliveryOutcome) async throws {
        #expect(try await deliver(status) == outcome)
        // A receiver may answer with a page: an alert that is sent again and again is worse.
        if status.hasPrefix("200") { #expect(try await deliver(status, "<!doctype html><p>thanks") == outcome) }
    }

    @Test("A webhook's answers decide between a dead letter, a retry and a stop")
    func webhookFailures() async throws {
        guard case .refused = try await deliver("400 Bad Request") else { return #expect(Bool(false)) }
        guard case .retry = try await deliver("302 Found") else { return #expect(Bool(false)) }
        guard case .retry = try await deliver("404 Not Found") else { return #expect(Bool(false)) }
        guard case .retry = try await deliver("500 Internal Server Error") else { return #expect(Bool(false)) }
        guard case .unauthorized = try await deliver("401 Unauthorized") else { return #expect(Bool(false)) }
        guard case .gone = try await deliver("410 Gone") else { return #expect(Bool(false)) }
    }

    private func deliver(_ status: String, _ body: String = "") async throws -> DeliveryOutcome {
        let server = try TestServer { _ in [.respond(status, Array(body.utf8))] }
        let format = WebhookFormat(try HTTPURL(server.url("/hook")), key: Array("k".utf8))
        let health = ReceiverHealth()
        let backend = ReceiverBackend(
            receiver: "ops",
            sender: HTTPSender(format, transport: try SystemTransport()),
            health: health
        )
        var event = Event(.monitorAlert, tracker: TrackerID(0), time: SystemClock().timestamp)
        event.attributes["alertMessage"] = .string("{\"id\":\"x\"}")
        event.attributes["alertMessageId"] = .string("x")
        let outcome = await backend.deliver(batch([.event(event)]))
        let request = try #require(server.requests.first)
        #expect(request.header("X-Instrument-Delivery") == "x")
        #expect(request.header("X-Instrument-Signature") == MessageSignature.header(request.body, key: Array("k".utf8)))
        #expect(String(decoding: request.body, as: UTF8.self) == "{\"id\":\"x\"}")
        #expect(health.failing.map(\.reason) == (outcome.failure.map { [$0] } ?? []))
        return outcome
    }

    #if os(Linux)
    @Test("The service manager learns that the service is ready, alive, reloads and stops")
    func notifications() throws {
        let scratch = try Scratch()
        let path = scratch.file("notify")
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(bytes.count < 100)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
        }
        try #require(isBound)
        let notifier = ServiceNotifier(environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "60000000"])
        #expect(notifier.watchdogInterval == .seconds(30))
        notifier.ready("watches 2 streams")
        notifier.alive()
        notifier.reloading()
        notifier.stopping()
        let received = (0..<4).map { _ in
            var buffer = [UInt8](repeating: 0, count: 1_024)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
        #expect(received[0] == "READY=1\nSTATUS=watches 2 streams\n")
        #expect(received[1] == "WATCHDOG=1\n")
        #expect(received[2].hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(received[3].hasPrefix("STOPPING=1\n"))
    }
    #endif

    @Test("Without a service manager, or with a foreign watchdog, nothing is sent")
    func noNotifications() {
        let none = ServiceNotifier(environment: [:])
        #expect(none.watchdogInterval == nil)
        none.ready("x")
        let foreign = ServiceNotifier(environment: [
            "NOTIFY_SOCKET": "relative", "WATCHDOG_USEC": "x", "WATCHDOG_PID": "1",
        ])
        #expect(foreign.watchdogInterval == nil)
        foreign.alive()
    }

    @Test("The figures of the process are plausible")
    func figures() throws {
        #if os(Linux)
        let figures = try #require(ProcessFigures.current(startTime: WallTime(milliseconds: 1)))
        #expect(figures.residentBytes > 1 << 20)
        #expect(figures.threads >= 1)
        #expect(figures.openFiles >= 3)
        #expect(figures.cpuSeconds >= 0)
        #endif
    }
}

@Suite("The ages of live playlists over several runs of a check")
struct PlaylistAgesTests {
    private let start = MonotonicInstant(nanoseconds: 0)

    /// The ages of a round, in seconds: the whole one of the round, after the round's own one of each playlist.
    private func age(
        _ ages: inout PlaylistAges,
        _ playlists: [String: (edge: String, age: Int)],
        at second: Int
    ) -> Duration? {
        var round = StreamCheckRound()
        let live = playlists.mapValues { playlist in
            LivePlaylist(edge: playlist.edge, age: .seconds(playlist.age), targetDuration: .seconds(6))
        }
        round.take(live)
        return ages.complete(round, at: start.advanced(by: .seconds(second))).playlistAge
    }

    @Test("A playlist that does not change grows older across runs, and one that changes is young again")
    func runs() {
        var ages = PlaylistAges()
        #expect(age(&ages, ["v": ("1", 0), "w": ("7", 0)], at: 0) == .zero)
        #expect(age(&ages, ["v": ("1", 890), "w": ("8", 2)], at: 890) == .seconds(890))
        ages.beginRun()
        #expect(age(&ages, ["v": ("1", 0), "w": ("9", 0)], at: 900) == .seconds(900))
        #expect(age(&ages, [:], at: 905) == nil)
        #expect(age(&ages, ["v": ("1", 10), "w": ("9", 10)], at: 910) == .seconds(910))
        ages.beginRun()
        #expect(age(&ages, ["v": ("1", 0), "w": ("11", 0)], at: 1_800) == .seconds(1_800))
        #expect(age(&ages, ["v": ("2", 0), "w": ("11", 6)], at: 1_806) == .seconds(6))
        ages.beginRun()
        #expect(age(&ages, ["v": ("3", 0)], at: 1_900) == .zero)
    }
}
