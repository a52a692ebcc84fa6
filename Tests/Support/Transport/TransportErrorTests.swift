import Instrument
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@Suite("Transport errors", .ownThread, .timeLimit(.minutes(30)))
struct TransportErrorTests {
    let transport: SystemTransport

    init() throws { transport = try SystemTransport() }

    /// The error that a request ends with, which names no secret.
    private func error(_ request: HTTPRequest) async throws -> HTTPError {
        do {
            let response = try await transport.send(request)
            throw NoServer(why: "there was an answer: \(response)")
        } catch let error as HTTPError {
            #expect(!"\(error)".contains("secret"))
            #expect(error.url?.hasPrefix("http://") == true)
            return error
        }
    }

    private func error(
        _ steps: [TestServer.Step],
        limit: Int = 1000,
        timeout: Duration = .seconds(900)
    ) async throws -> HTTPError {
        let server = try TestServer { _ in steps }
        let url = try HTTPURL("http://u:secret@127.0.0.1:\(server.port)/?secret")
        return try await error(HTTPRequest(.get, url, timeout: timeout, maxResponseBytes: limit))
    }

    private func raw(_ text: String) -> TestServer.Step { .send(Array(text.utf8)) }

    @Test(
        "HTTP/3 is refused where libcurl has none, and is no condition for a plain request elsewhere",
        .without(.connectionFacts)
    )
    func http3() async throws {
        let configuration = TransportConfiguration(usesHTTP3: true)
        guard TransportConfiguration.supportsHTTP3 else {
            let refused = #expect(throws: HTTPError.self) { try SystemTransport(configuration) }
            #expect(refused?.code == .configuration && refused?.message.contains("HTTP/3") == true)
            #expect(refused?.message.contains("libcurl 7.") == true || refused?.message.contains("libcurl 8.") == true)
            return
        }
        let server = try TestServer { _ in [.respond("200 OK", [1])] }
        let response = try await SystemTransport(configuration).send(HTTPRequest(.get, try HTTPURL(server.url())))
        #expect(response.status == 200 && response.version == "1.1")
    }

    @Test(
        "A hanging server causes a timeout at each point of the response, and not too early",
        .without(.partialHeads)
    )
    func timeouts() async throws {
        let clock = SystemClock()
        let heads = ["", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"]
        for head in heads {
            let elapsed = try await withTaskExecutorPreference(OwnThread()) {
                let start = clock.now
                let code = try await error([raw(head), .hang], timeout: .milliseconds(400)).code
                #expect(code == .timedOut)
                return start.duration(to: clock.now)
            }
            // The server would hang for minutes.
            #expect(elapsed > .milliseconds(350))
        }
    }

    @Test("Slowly arriving bytes do not extend the timeout")
    func trickle() async throws {
        let drops = (0..<100).flatMap { _ in [TestServer.Step.wait(.milliseconds(50)), raw("x")] }
        let machine = MachineLoad()
        let head = raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        let error = try await error([head] + drops, timeout: .milliseconds(400))
        #expect(error.code == .timedOut)
        if machine.allowsJudging("whether the head came before the end of the time") { #expect(error.status == 200) }
    }

    @Test("A slow first byte within the time is no error")
    func slowFirstByte() async throws {
        let server = try TestServer { _ in [.wait(.milliseconds(200)), .respond("200 OK")] }
        let response = try await transport.send(HTTPRequest(.get, try HTTPURL(server.url())))
        #expect(response.timings.firstByte >= .milliseconds(190))
    }

    @Test("A connection that is reset or closed is an error of the connection", .without(.brokenResponses))
    func brokenConnections() async throws {
        let partial = raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
        for steps in [[.reset], [.close], [partial, .close], [partial, .reset]] as [[TestServer.Step]] {
            #expect(try await error(steps).code == .connection)
        }
    }

    @Test("A body that ends between two chunks is an error")
    func brokenChunks() async throws {
        let head = raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")
        #expect(try await error([head, .close]).code == .connection)
    }

    @Test("A closed port is a connection error")
    func closedPort() async throws {
        let url = try HTTPURL("http://127.0.0.1:\(try TestServer.closedPort())/?secret")
        let error = try await error(HTTPRequest(.get, url))
        #expect(error.code == .connection)
        #expect(error.underlyingCode != nil)
    }

    @Test("An unknown host name has its own error code")
    func unknownName() async throws {
        let error = try await error(HTTPRequest(.get, try HTTPURL("http://\(TestServer.unknownHost)/?secret")))
        #expect(error.code == .nameNotFound)
    }

    @Test(
        "A response that is not HTTP is malformed",
        .without(.brokenResponses),
        arguments: [
            "SSH-2.0-OpenSSH\r\n", "<html>", "\u{0}\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        ]
    )
    func malformed(text: String) async throws {
        #expect(try await error([raw(text), .close]).code == .malformedResponse)
    }

    @Test("An endless body, with or without a length, ends exactly at the limit")
    func limits() async throws {
        let untold = try await error([raw("HTTP/1.1 200 OK\r\n\r\n"), .sendWithoutEnd()])
        #expect(untold.code == .responseTooLarge)
        #expect(untold.status == 200)
        #expect(try await error([.respond("500 No", .init(repeating: 0, count: 1001))]).code == .responseTooLarge)
        #expect(try await error([.respond("200 OK", [1])], limit: 0).code == .responseTooLarge)
        let server = try TestServer { _ in [.respond("200 OK", .init(repeating: 0, count: 1000))] }
        let response = try await transport.send(HTTPRequest(.get, try HTTPURL(server.url()), maxResponseBytes: 1000))
        #expect(response.body.count == 1000)
    }

    @Test("An endless head is an error", .without(.brokenResponses))
    func endlessHead() async throws {
        let lines = (0..<50_000).map { "X-\($0): aaaaaaaaaaaaaaaaaaaa\r\n" }.joined()
        let error = try await error([raw("HTTP/1.1 200 OK\r\n" + lines), .hang])
        #expect(error.code == .responseTooLarge)
        // No response has come, so that nothing counts as delivered.
        #expect(error.status == nil)
        guard case .retry = DeliveryOutcome(error) else { return #expect(Bool(false), "\(DeliveryOutcome(error))") }
    }

    @Test("A request above the limit is not sent")
    func requestLimit() async throws {
        let transport = try SystemTransport(TransportConfiguration(maxRequestBytes: 10))
        let server = try TestServer { _ in [.respond("200 OK")] }
        let url = try HTTPURL(server.url())
        let error = await #expect(throws: HTTPError.self) {
            try await transport.send(HTTPRequest(.post, url, body: .init(repeating: 0, count: 11)))
        }
        #expect(error?.code == .requestTooLarge)
        _ = try await transport.send(HTTPRequest(.post, url, body: .init(repeating: 0, count: 10)))
        #expect(server.requests.count == 1)
    }

    @Test(
        "A header that frames or routes the message is refused",
        arguments: ["Content-Length", "transfer-encoding", "HOST", "Connection", "Expect", "Proxy-Authorization"]
    )
    func framing(name: String) async throws {
        let server = try TestServer { _ in [.respond("200 OK")] }
        let request = HTTPRequest(.get, try HTTPURL(server.url()), headers: try HTTPHeaders([name: "1"]))
        #expect(try await error(request).code == .invalidHeader)
        #expect(server.requests.isEmpty)
    }
}
