import Foundation
import Instrument
import InstrumentJSON
import InstrumentMonitor
import InstrumentTransport
import InstrumentWatch
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentMonitorRuntime

/// A source of sessions that show a picture at once, or never answer.
final class ScriptedSource: SessionSource {
    private let reports = Lock<[SessionID: @Sendable (MonitorInput) -> Void]>([:])

    func start(_ id: SessionID, _ stream: WatchedStream, report: @escaping @Sendable (MonitorInput) -> Void) {
        reports.withLock { $0[id] = report }
        let now = SystemClock().timestamp
        report(.event(Event(.mediaRequest, tracker: TrackerID(0), time: now)))
        report(.event(Event(.start, tracker: TrackerID(0), time: now)))
    }

    func stop(_ id: SessionID) { reports.withLock { $0.removeValue(forKey: id) }?(.ended(.stopped)) }

    func emit(_ input: MonitorInput, to stream: String) {
        for (id, report) in reports.withLock({ $0 }) where id.stream == stream { report(input) }
    }
}

struct NoSink: AlertSink { func send(_ message: AlertMessage) {} }

/// A monitor with its server.
struct ServedMonitor {
    let monitor: Monitor
    let service: MonitorService
    let server: MonitorServer
    let source = ScriptedSource()

    init(
        _ streams: [WatchedStream],
        _ settings: ServerConfiguration = ServerConfiguration(),
        alerts: [AlertConfiguration] = [],
        restoring saved: SavedMonitor? = nil,
        checker: (any StreamChecker)? = nil
    ) async throws {
        let model = MonitorModel(configuration(streams, alerts), at: SystemClock().timestamp, restoring: saved)
        let monitor = Monitor(model, source: source, sink: NoSink(), checker: checker)
        let probes = ProbePage(
            transport: try SystemTransport(),
            guarded: try SystemTransport(.init(allowsPrivateAddresses: false))
        )
        let service = MonitorService(monitor, facts: { MonitorFacts() }, probes: probes)
        (self.monitor, self.service) = (monitor, service)
        server = try await MonitorServer.start(settings) { await service.respond($0) }
        monitor.start()
        await monitor.settle()
        await monitor.settle()
    }

    func stop() async {
        service.close()
        await monitor.stop(timeout: .seconds(60))
        await server.stop()
    }
}

@Suite("The monitor's server", .ownThread)
struct ServerTests {
    private func withMonitor(
        _ streams: [WatchedStream],
        _ settings: ServerConfiguration = ServerConfiguration(),
        _ body: (ServedMonitor) async throws -> Void
    ) async throws {
        let served = try await ServedMonitor(streams, settings)
        do { try await body(served) } catch {
            await served.stop()
            throw error
        }
        await served.stop()
    }

    @Test("The server answers /metrics, /healthz, /api/state and /, and refuses other paths and methods")
    func pages() async throws {
        try await withMonitor([try stream("news")]) { served in
            let port = served.server.port
            let metrics = try RawClient.get("/metrics", port: port)
            #expect(metrics.status == 200)
            #expect(metrics.head.contains("text/plain; version=0.0.4"))
            #expect(metrics.body.contains("instrument_stream_up{stream=\"news\"} 1"))
            let open = try RawClient.get("/metrics", port: port, "Accept: application/openmetrics-text; version=1.0.0")
            #expect(open.head.contains("application/openmetrics-text"))
            #expect(open.body.hasSuffix("# EOF\n"))
            #expect(try RawClient.get("/healthz", port: port).body == "ok\n")
            let state = try JSONValue(parsing: try RawClient.get("/api/state", port: port).body)
            guard case .array(let rows)? = state["streams"] else { return #expect(Bool(false)) }
            #expect(rows.map { $0["name"]?.string } == ["news"])
            #expect(try RawClient.get("/api/stream?name=news", port: port).status == 200)
            #expect(try RawClient.get("/api/stream?name=%6Eews", port: port).status == 200)
            #expect(try RawClient.get("/api/stream?name=other", port: port).status == 404)
            #expect(try RawClient.get("/../etc/passwd", port: port).status == 404)
            #expect(try RawClient.get("/month", port: port).body.contains("There was no incident in these days."))
            let month = try JSONValue(parsing: try RawClient.get("/api/month?month=2025-11", port: port).body)
            #expect(month["period"]?.string == "2025-11")
            #expect(try RawClient.get("/api/month?month=2025-13", port: port).status == 400)
            let page = try RawClient.get("/", port: port)
            #expect(
                page.head.contains("content-security-policy: default-src 'none'")
                    || page.head.contains("Content-Security-Policy: default-src 'none'")
            )
            #expect(!page.body.contains("http://") || !page.body.contains("src=\"http"))
            let client = try RawClient(port: port)
            client.send("POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            #expect(client.read().hasPrefix("HTTP/1.1 405"))
        }
    }

    @Test(
        "Without a token, a request that names another host is refused (DNS rebinding)",
        arguments: [
            ("evil.example", 421), ("evil.example:80", 421), ("localhost:9464", 200), ("127.0.0.1", 200),
            ("[::1]:1", 200),
            ("127.0.0.1.evil.example", 421), ("127.0.0.1@evil.example", 400), ("", 421),
        ]
    )
    func rebinding(_ host: String, _ status: Int) async throws {
        try await withMonitor([]) { served in
            let answer = try RawClient.get("/metrics", port: served.server.port, "Host: \(host)")
            #expect(answer.status == status)
        }
    }

    @Test("With a token, only a client that sends it reads the streams")
    func token() async throws {
        let settings = ServerConfiguration()
        settings.access.replace(tokens: [(ServerClient(name: "", role: .act), Array("the token".utf8))])
        try await withMonitor([try stream("hidden-stream")], settings) { served in
            let port = served.server.port
            for path in [
                "/metrics", "/api/state", "/api/stream?name=hidden-stream", "/events", "/probe?target=hidden-stream",
            ] {
                #expect(try RawClient.get(path, port: port).status == 401)
                #expect(try RawClient.get(path, port: port, "Authorization: Bearer the toke").status == 401)
                #expect(try RawClient.get(path + "?token=the%20token", port: port).status == 401)
            }
            #expect(try RawClient.get("/metrics", port: port, "Authorization: Bearer the token").status == 200)
            let page = try RawClient.get("/", port: port)
            #expect(page.status == 200)
            #expect(!page.body.contains("hidden-stream"))
        }
    }

    @Test("A port that is taken is an error with the address and what to do")
    func taken() async throws {
        try await withMonitor([]) { served in
            var settings = ServerConfiguration()
            settings.port = served.server.port
            await #expect {
                _ = try await MonitorServer.start(settings) { _ in .text(200, "") }
            } throws: { error in
                "\(error)".contains("cannot listen on 127.0.0.1:\(served.server.port)")
                    && "\(error)".contains("--listen")
            }
        }
    }

    @Test("Clients that never read delay nobody, and are disconnected")
    func neverReads() async throws {
        var settings = ServerConfiguration()
        (settings.maxConnections, settings.timeoutSeconds) = (20, 1)
        let streams = try (0..<500).map { try stream("stream-with-a-long-name-\($0)") }
        try await withMonitor(streams, settings) { served in
            let port = served.server.port
            let silent = try (0..<19).map { _ in try RawClient(port: port) }
            for client in silent {
                // Many answers, of which none is read.
                client.send(String(repeating: "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 50))
            }
            #expect(try RawClient.get("/healthz", port: port).status == 200)
            // All connections are free again once the server has given up the silent ones.
            var answered = 0
            while answered < 20 {
                let clients = try (0..<20).map { _ in try RawClient(port: port) }
                for client in clients {
                    client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                }
                answered = clients.count { $0.read().hasPrefix("HTTP/1.1 200") }
            }
            withExtendedLifetime(silent) { _ in }
        }
    }

    @Test("A client that sends nothing, or half a request, is disconnected", arguments: ["", "GET /metr"])
    func sendsNothing(_ text: String) async throws {
        var settings = ServerConfiguration()
        settings.requestSeconds = 1
        try await withMonitor([], settings) { served in
            let client = try RawClient(port: served.server.port)
            if !text.isEmpty { client.send(text) }
            #expect(client.read() == "")
        }
    }

    @Test(
        "A client that reads its reply and asks for nothing more is disconnected, whatever the size of the reply",
        arguments: [1, 500]
    )
    func idles(_ count: Int) async throws {
        var settings = ServerConfiguration()
        settings.timeoutSeconds = 1
        let streams = try (0..<count).map { try stream("stream-with-a-long-name-\($0)") }
        try await withMonitor(streams, settings) { served in
            let client = try RawClient(port: served.server.port)
            client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            // Returns once the server has closed the connection.
            let reply = client.read()
            #expect(reply.hasPrefix("HTTP/1.1 200"))
            #expect(reply.utf8.count > (count > 1 ? 262_144 : 1_000))
        }
    }

    @Test("A browser that runs no scripts shows why the page is empty, and what it can show")
    func noScript() async throws {
        try await withMonitor([]) { served in
            let page = try RawClient.get("/", port: served.server.port).body
            let start = try #require(page.range(of: "<noscript>")), end = try #require(page.range(of: "</noscript>"))
            let text = page[start.upperBound..<end.lowerBound]
            #expect(text.contains("needs JavaScript"))
            for path in ["/month", "/metrics"] {
                #expect(text.contains("href=\"\(path)\""))
                #expect(try RawClient.get(path, port: served.server.port).status == 200)
            }
        }
    }

    @Test("A client whose token is withdrawn, or gets another role, receives no further events")
    func withdrawnToken() async throws {
        let token = Array("the token".utf8)
        for rest in [[], [(client: ServerClient(name: "ana", role: .read), token: token)]] {
            let settings = ServerConfiguration()
            settings.access.replace(tokens: [(ServerClient(name: "ana", role: .act), token)])
            try await withMonitor([try stream("news")], settings) { served in
                let client = try RawClient(port: served.server.port)
                client.send("GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer the token\r\n\r\n")
                _ = client.read { $0.contains("event: state\n") }
                let other = (client: ServerClient(name: "ben", role: .act), token: Array("another".utf8))
                settings.access.replace(tokens: rest + [other])
                // The server closes; at most the update that was on its way arrives.
                let later = client.read()
                #expect(later.split(separator: "event: update").count <= 2, "\(later)")
            }
        }
    }

    @Test("The stream of events begins with the whole state, and continues with what changes")
    func events() async throws {
        try await withMonitor([try stream("news")]) { served in
            let client = try RawClient(port: served.server.port)
            client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let first = client.read { $0.contains("event: state\n") && $0.contains("\"name\":\"news\"") }
            #expect(first.contains("text/event-stream"))
            served.source.emit(
                .event(Event(.bufferBegin, tracker: TrackerID(0), time: SystemClock().timestamp)),
                to: "news"
            )
            let next = client.read { $0.contains("\"state\":\"stalled\"") }
            #expect(next.contains("event: update\n"))
        }
    }

    @Test(
        "A probe plays configured hosts only",
        arguments: [
            ("http://other.example/x.m3u8", 403), ("http://127.0.0.1:1/x.m3u8", 403), ("", 400),
            ("file:///etc/passwd", 403),
            ("http://user:password@example.org/x.m3u8", 403), ("https://example.org/x.m3u8", 403),
            ("http://example.org:81/x.m3u8", 403), ("http://example.org.evil/x.m3u8", 403),
        ]
    )
    func probeRefusals(_ target: String, _ status: Int) async throws {
        try await withMonitor([try stream("news")]) { served in
            let text = PercentCoding.encoded(target)
            let answer = try RawClient.get("/probe?target=\(text)", port: served.server.port)
            #expect(answer.status == status)
        }
    }

    @Test("A probe of a stream that cannot be reached answers with probe_success 0 and the failure's code")
    func probeFailure() async throws {
        let port = try TestServer.closedPort()
        var watched = try stream("gone")
        watched.url = try HTTPURL("http://127.0.0.1:\(port)/x.m3u8")
        try await withMonitor([watched]) { served in
            let answer = try RawClient.get(
                "/probe?target=gone",
                port: served.server.port,
                "X-Prometheus-Scrape-Timeout-Seconds: 60"
            )
            #expect(answer.status == 200)
            #expect(answer.body.contains("probe_success 0\n"))
            #expect(answer.body.contains("instrument_probe_failure{code=\""))
        }
    }

    @Test(
        "A probe ends before its scrape does",
        arguments: [
            (nil, 9.5), (10, 9.5), (1, 0.8), (0.1, 0.08), (600, 120), (0, 9.5), (-3, 9.5), (.nan, 9.5),
            (.infinity, 9.5),
        ] as [(Double?, Double)]
    )
    func probeLimit(_ scrapeTimeout: Double?, _ limit: Double) {
        #expect(abs(ProbePage.limit(scrapeTimeout: scrapeTimeout) - limit) < 1e-9)
    }
}
