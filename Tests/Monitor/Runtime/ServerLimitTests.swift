import Instrument
import InstrumentMonitor
import TestTraits
import Testing

@testable import InstrumentMonitorRuntime

@Suite("The limits of the monitor's server", .ownThread)
struct ServerLimitTests {
    private static let get = "GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private func withServer(
        _ settings: ServerConfiguration,
        respond: @escaping @Sendable (ServerRequest) async -> ServerReply = { _ in .text(200, "ok") },
        _ body: (MonitorServer) async throws -> Void
    ) async throws {
        let server = try await MonitorServer.start(settings, respond: respond)
        do { try await body(server) } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    /// Waits until the server has closed its connections. The server's own deadlines end the wait.
    private func untilClosed(_ server: MonitorServer) async throws {
        while server.connectionCount > 0 { try await SystemClock().sleep(for: .milliseconds(10)) }
    }

    @Test("A client that pipelines requests and never reads is answered once its reply fits into the buffers, not more")
    func pipelining() async throws {
        var settings = ServerConfiguration()
        settings.timeoutSeconds = 1
        let answered = Lock(0)
        let page = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        try await withServer(settings) { _ in
            answered.withLock { $0 += 1 }
            return ServerReply(200, "text/plain", page)
        } _: { server in
            let client = try RawClient(port: server.port)
            client.send(String(repeating: Self.get, count: 1_000))
            while answered.withLock({ $0 }) == 0 { try await SystemClock().sleep(for: .milliseconds(10)) }
            try await untilClosed(server)
            // The system's buffers hold a few megabytes.
            let count = answered.withLock { $0 }
            #expect((1...100).contains(count), "\(count) replies of 1 MiB")
            withExtendedLifetime(client) {}
        }
    }

    @Test("A client that pipelines requests and reads gets every reply in order")
    func pipelinedReplies() async throws {
        let page = String(repeating: "y", count: 200_000)
        let count = Lock(0)
        try await withServer(ServerConfiguration()) { _ in
            .text(200, "\(count.withLock { $0 += 1; return $0 }) " + page)
        } _: { server in
            let client = try RawClient(port: server.port)
            let last = "GET /page HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            client.send(String(repeating: Self.get, count: 99) + last)
            let numbers = client.read().split(separator: "\r\n\r\n").dropFirst().map { $0.prefix { $0 != " " } }
            #expect(numbers == (1...100).map { Substring("\($0)") })
        }
    }

    @Test(
        "Clients that send half a request, or nothing, or keep connections for later, keep nobody out",
        arguments: ["GET / HTTP/1.1\r\nHost: local", "", ServerLimitTests.get]
    )
    func halfRequests(_ text: String) async throws {
        var settings = ServerConfiguration()
        // Only giving way can help.
        (settings.maxConnections, settings.timeoutSeconds, settings.requestSeconds) = (8, 36_000, 36_000)
        try await withServer(settings) { server in
            let clients = try (0..<64).map { _ in
                let client = try RawClient(port: server.port)
                if !text.isEmpty { client.send(text) }
                return client
            }
            for _ in 0..<20 { #expect(try RawClient.get("/healthz", port: server.port).status == 200) }
            #expect(server.connectionCount <= 8)
            withExtendedLifetime(clients) {}
        }
    }

    @Test("Clients that read nothing keep nobody out")
    func unread() async throws {
        var settings = ServerConfiguration()
        (settings.maxConnections, settings.timeoutSeconds) = (8, 36_000)
        let page = [UInt8](repeating: UInt8(ascii: "x"), count: 16 << 20)
        try await withServer(settings) { request in
            request.path == "/healthz" ? .text(200, "ok") : ServerReply(200, "text/plain", page)
        } _: { server in
            let clients = try (0..<32).map { _ in
                let client = try RawClient(port: server.port)
                client.send(Self.get)
                return client
            }
            for _ in 0..<20 { #expect(try RawClient.get("/healthz", port: server.port).status == 200) }
            withExtendedLifetime(clients) {}
        }
    }

    @Test("Streams of events and slow replies leave room for other requests, and further ones are refused")
    func heldConnections() async throws {
        var settings = ServerConfiguration()
        (settings.maxConnections, settings.timeoutSeconds) = (8, 36_000)
        try await withServer(settings) { request in
            request.path == "/page" ? .events { _ in {} } : .text(200, "ok")
        } _: { server in
            let clients = try (0..<7).map { _ in
                let client = try RawClient(port: server.port)
                client.send(Self.get)
                #expect(client.read { $0.contains("retry: 2000") }.hasPrefix("HTTP/1.1 200"))
                return client
            }
            let refused = try RawClient.get("/page", port: server.port)
            #expect(refused.status == 503)
            #expect(refused.head.contains("Retry-After: 2"))
            withExtendedLifetime(clients) {}
        }
    }

    @Test("A client that sends a request byte by byte has the time of one request, not of each byte")
    func trickle() async throws {
        var settings = ServerConfiguration()
        (settings.timeoutSeconds, settings.requestSeconds) = (36_000, 1)
        try await withServer(settings) { server in
            let client = try RawClient(port: server.port)
            client.send(Self.get)
            #expect(client.read { $0.hasSuffix("ok\n") }.hasPrefix("HTTP/1.1 200"))
            // The second request of the connection never ends, whatever the client sends.
            #expect(server.connectionCount == 1)
            client.send("GET / HTTP/1.1\r\n")
            while server.connectionCount > 0 {
                client.send("X: y\r\n")
                try await SystemClock().sleep(for: .milliseconds(10))
            }
            #expect(client.read() == "")
        }
    }

    @Test(
        "A request that servers read differently is refused once, and nothing behind it is answered (RFC 9112)",
        arguments: [
            // Section 3.2.
            "GET /a HTTP/1.1\r\n\r\n", "GET /a HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: local host\r\n\r\n", "GET /a HTTP/1.1\r\nHost: localhost:x\r\n\r\n",
            // Section 6.3.
            "GET /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 30\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1, 1\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: +1\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n",
            // Sections 2.2 and 5.
            "GET /a HTTP/1.1\nHost: localhost\n\n", "GET /a HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: localhost\rX: y\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: localhost\r\nX: y\r\n z\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: localhost\r\nX: y\r\n\tz\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost : localhost\r\n\r\n", "GET /a HTTP/1.1\r\n Host: localhost\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: localhost\r\nX\u{0}: y\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: localhost\r\nX: " + String(repeating: "y", count: 100_000) + "\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: localhost\r\n" + String(repeating: "X: y\r\n", count: 1_000) + "\r\n",
        ]
    )
    func smuggling(_ text: String) async throws {
        let answered = Lock<[String]>([])
        try await withServer(ServerConfiguration()) { request in
            answered.withLock { $0.append(request.path) }
            return .text(200, "ok")
        } _: { server in
            let client = try RawClient(port: server.port)
            client.send(text + "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let answer = client.read()
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
            #expect(answer.split(separator: "HTTP/1.").count <= 1)
            #expect(answered.withLock { $0 } == [])
        }
    }

    @Test(
        "A request of HTTP/1.0 needs no host, and a whole address names the host",
        arguments: [
            ("GET /a HTTP/1.0\r\n\r\n", 200), ("GET http://localhost/a HTTP/1.1\r\nHost: localhost\r\n\r\n", 200),
            ("GET http://evil.example/a HTTP/1.1\r\nHost: localhost\r\n\r\n", 421),
            ("GET HTTP://127.0.0.1:80?x HTTP/1.0\r\n\r\n", 200),
        ]
    )
    func targets(_ text: String, _ status: Int) async throws {
        try await withServer(ServerConfiguration()) { server in
            let client = try RawClient(port: server.port)
            client.send(text.replacing("\r\n\r\n", with: "\r\nConnection: close\r\n\r\n"))
            #expect(client.read().dropFirst(9).hasPrefix("\(status)"))
        }
    }

    @Test(
        "A host is a name or an address with or without a port",
        arguments: [
            ("a", true), ("a:1", true), ("a:", true), ("[::1]", true), ("[::1]:1", true), ("", true), ("a b", false),
            ("a:b", false), ("a:1:2", false), ("[::1", false), ("[::1]x", false), ("a@b", false), ("a/b", false),
        ]
    )
    func hosts(_ text: String, _ isHost: Bool) { #expect(RequestRules.isHost(text) == isHost) }
}
