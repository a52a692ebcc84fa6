import Instrument
import InstrumentHTTP
import InstrumentTestKit
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

/// What holds on Apple platforms and with the URLSession of FoundationNetworking. No request is cancelled near its end,
/// which crashes FoundationNetworking.
@Suite("The transport over URLSession", .ownThread, .timeLimit(.minutes(30)))
struct URLSessionTransportTests {
    let transport: URLSessionTransport

    init() throws { transport = try URLSessionTransport() }

    private func error(_ request: HTTPRequest) async -> HTTPError? {
        await #expect(throws: HTTPError.self) { try await transport.send(request) }
    }

    @Test("A request arrives with its method, headers and body, and the response is complete")
    func roundTrip() async throws {
        let body = [UInt8](repeating: 7, count: 100_000)
        let server = try TestServer { _ in [.respond("201 Created", body, "X-Seen: 1")] }
        let headers = try HTTPHeaders(["Content-Type": "a/b", "Authorization": "Bearer t"])
        let request = HTTPRequest(.post, try HTTPURL(server.url("/p?q=1#f")), headers: headers, body: body)
        let response = try await transport.send(request)
        #expect(response.status == 201 && response.body == body && response.headers["x-seen"] == "1")
        #expect(response.timings.firstByte > .zero && response.timings.total >= response.timings.firstByte)
        let received = try #require(server.requests.first)
        #expect(received.head.hasPrefix("POST /p?q=1 HTTP/1.1\r\n") && received.body == body)
        #expect(received.header("Content-Type") == "a/b" && received.header("Authorization") == "Bearer t")
    }

    @Test("A configuration that URLSession cannot keep is refused")
    func configuration() {
        var proxied = TransportConfiguration()
        proxied.proxyAddress = "http://127.0.0.1:3128"
        let refused = [
            TransportConfiguration(additionalCAFile: "/etc/ssl/own.pem"),
            TransportConfiguration(allowsPrivateAddresses: false), proxied,
        ]
        for configuration in refused {
            let error = #expect(throws: HTTPError.self) { try URLSessionTransport(configuration) }
            #expect(error?.code == .configuration)
        }
    }

    @Test("Each failure has its code, and the request after it, to another host, arrives whole")
    func failures() async throws {
        let body = [UInt8](repeating: 3, count: 300_000)
        let other = try TestServer { _ in [.respond("200 OK", body)] }
        let partial = TestServer.Step.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc".utf8))
        let failing = try TestServer { request in
            switch request.target {
            case "/reset": [.reset]
            case "/partial": [partial, .close]
            case "/large": [.respond("200 OK", body)]
            case "/redirect": [.respond("302 Found", [], "Location: ftp://127.0.0.1/")]
            default: [partial, .hang]
            }
        }
        let closed = "http://127.0.0.1:\(try TestServer.closedPort())/"
        let expected: [(String, HTTPError.Code)] = [
            (failing.url("/reset"), .connection), (failing.url("/partial"), .connection),
            (failing.url("/large"), .responseTooLarge), (failing.url("/redirect"), .redirectRefused),
            (failing.url("/hang"), .timedOut), (closed, .connection), ("http://nobody.invalid/", .nameNotFound),
        ]
        for (address, code) in expected {
            let failure = await error(
                HTTPRequest(
                    .get,
                    try HTTPURL(address),
                    timeout: code == .timedOut ? .milliseconds(300) : .seconds(900),
                    maxResponseBytes: 1000,
                    redirects: .follow(atMost: 1)
                )
            )
            #expect(failure?.code == code, "\(address): \(String(describing: failure))")
            let response = try await transport.send(HTTPRequest(.get, try HTTPURL(other.url()), timeout: .seconds(900)))
            #expect(response.body == body)
        }
    }

    @Test("A cancelled request ends at once")
    func cancellation() async throws {
        let arrived = Gate()
        let server = try TestServer { _ in
            arrived.open()
            return [.hang]
        }
        let request = HTTPRequest(.get, try HTTPURL(server.url()), timeout: .seconds(1000))
        let task = Task { [transport] in try await transport.send(request) }
        await arrived.wait()
        task.cancel()
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test("A shutdown cancels requests in flight and later requests")
    func shutdown() async throws {
        let arrived = Gate()
        let server = try TestServer { _ in
            arrived.open()
            return [.hang]
        }
        let request = HTTPRequest(.get, try HTTPURL(server.url()), timeout: .seconds(1000))
        let task = Task { [transport] in try await transport.send(request) }
        await arrived.wait()
        transport.shutDown()
        let inFlight = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(inFlight?.code == .cancelled)
        #expect(await error(request)?.code == .cancelled)
    }
}
