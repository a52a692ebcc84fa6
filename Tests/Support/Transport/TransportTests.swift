import Foundation
import Instrument
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@Suite("The transport", .ownThread, .timeLimit(.minutes(30)))
struct TransportTests {
    let transport: SystemTransport

    init() throws { transport = try SystemTransport() }

    @Test("A request arrives unchanged, and the response is complete", .without(.repeatedFields))
    func roundTrip() async throws {
        let server = try TestServer { _ in [.respond("201 Created", Array("done".utf8), "X-Seen: 1", "x-seen: 2")] }
        let headers = try HTTPHeaders(["Content-Type": "a/b", "X-Empty": "", "Authorization": "Bearer t"])
        let body = [UInt8](0...255)
        let request = HTTPRequest(.post, try HTTPURL(server.url("/p?q=1#f")), headers: headers, body: body)
        let response = try await transport.send(request)
        #expect(response.status == 201)
        #expect(response.body == Array("done".utf8))
        #expect(response.headers.values(of: "X-SEEN") == ["1", "2"])
        #expect(response.version == "1.1")
        #expect(response.remoteAddress == "127.0.0.1")
        #expect(response.timings.total >= response.timings.firstByte)
        #expect(response.timings.firstByte > .zero)
        #expect(response.timings.connect != nil)
        #expect(response.timings.nameLookup == nil && response.timings.tls == nil)
        let received = try #require(server.requests.first)
        #expect(received.head.hasPrefix("POST /p?q=1 HTTP/1.1\r\n"))
        #expect(received.header("Content-Type") == "a/b")
        #expect(received.header("X-Empty") == "")
        #expect(received.header("Authorization") == "Bearer t")
        #expect(received.header("Expect") == nil)
        #expect(received.body == body)
    }

    @Test(
        "Every method sends its own name, with and without a body",
        .without(.bodies),
        arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "ODD-ONE"]
    )
    func methods(name: String) async throws {
        let server = try TestServer { _ in [.respond("200 OK")] }
        let (method, url) = (try #require(HTTPMethod(name)), try HTTPURL(server.url()))
        for size in [0, 3, 200_000] {
            let body = [UInt8](repeating: 1, count: size)
            #expect(try await transport.send(HTTPRequest(method, url, body: body)).status == 200)
            #expect(server.requests.last?.head.hasPrefix(name + " / ") == true)
            #expect(server.requests.last?.body == body)
            #expect(server.requests.last?.header("Content-Type") == nil)
        }
    }

    @Test("A HEAD response has no body, with any Content-Length")
    func head() async throws {
        let server = try TestServer { _ in [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n".utf8))] }
        let response = try await transport.send(HTTPRequest(.head, try HTTPURL(server.url())))
        #expect(response.status == 200)
        #expect(response.body.isEmpty)
        #expect(response.headers["Content-Length"] == "99999999")
    }

    @Test("A compressed body arrives compressed, and decompresses to the original")
    func gzip() async throws {
        let server = try TestServer { _ in [.respond("200 OK")] }
        let body = Array(String(repeating: "sample ", count: 1000).utf8)
        _ = try await transport.send(HTTPRequest(.post, try HTTPURL(server.url()), body: body).gzipped())
        let received = try #require(server.requests.first)
        #expect(received.header("Content-Encoding") == "gzip")
        #expect(received.body.count < body.count / 10)
        #expect(try unpacked(received.body) == body)
    }

    @Test("Consecutive requests share a connection")
    func keepAlive() async throws {
        let server = try TestServer { _ in [.respond("200 OK")] }
        let url = try HTTPURL(server.url())
        for _ in 0..<20 { _ = try await transport.send(HTTPRequest(.post, url, body: [1])) }
        #expect(server.connectionCount == 1)
        let again = try await transport.send(HTTPRequest(.get, url))
        #expect(again.timings.connect == nil)
    }

    @Test("A connection that the server closed while it was idle is replaced without an error")
    func staleConnection() async throws {
        try await sendToClosingServer { HTTPRequest(.get, $0) }
    }

    @Test("A body is sent again where the server closed the idle connection", .without(.repeatedBodies))
    func staleConnectionAndBody() async throws {
        try await sendToClosingServer { HTTPRequest(.post, $0, body: [1]) }
    }

    private func sendToClosingServer(_ request: (HTTPURL) -> HTTPRequest) async throws {
        let server = try TestServer { _ in [.respond("200 OK"), .close] }
        let url = try HTTPURL(server.url())
        for _ in 0..<10 { #expect(try await transport.send(request(url)).status == 200) }
        #expect(server.connectionCount == 10)
    }

    @Test("The number of connections is limited as configured, and all requests are served")
    func connectionLimit() async throws {
        let transport = try SystemTransport(TransportConfiguration(maxConnectionsPerHost: 3))
        let server = try TestServer { _ in [.wait(.milliseconds(5)), .respond("200 OK")] }
        let url = try HTTPURL(server.url())
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<40 { group.addTask { (try? await transport.send(HTTPRequest(.get, url)).status) == 200 } }
            for await isServed in group { #expect(isServed) }
        }
        #expect(server.connectionCount <= 3)
    }

    @Test("Many requests to a slow host do not delay other hosts")
    func slowHost() async throws {
        let slow = try TestServer { _ in [.hang] }
        let quick = try TestServer { _ in [.respond("200 OK")] }
        let (slowURL, quickURL) = (try HTTPURL(slow.url()), try HTTPURL(quick.url()))
        let transport = transport
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try? await transport.send(HTTPRequest(.get, slowURL)) } }
            for _ in 0..<20 {
                let response = try await transport.send(HTTPRequest(.get, quickURL, timeout: .seconds(900)))
                #expect(response.status == 200)
            }
            group.cancelAll()
        }
    }

    @Test("A request that needs a new connection opens one, which later requests use", .without(.freshConnections))
    func freshConnection() async throws {
        let server = try TestServer { _ in [.respond("200 OK")] }
        let transport = try SystemTransport()
        var request = HTTPRequest(.get, try HTTPURL(server.url()))
        for isFresh in [false, false, true, false] {
            request.needsFreshConnection = isFresh
            _ = try await transport.send(request)
        }
        #expect(server.connectionCount == 2)
    }

    @Test("User and password of an address are sent only as a header")
    func userInfo() async throws {
        let server = try TestServer { _ in [.respond("200 OK")] }
        let url = try HTTPURL("http://us%65r:pa:ss@127.0.0.1:\(server.port)/")
        _ = try await transport.send(HTTPRequest(.get, url))
        let received = try #require(server.requests.first)
        #expect(received.header("Authorization") == "Basic " + Data("user:pa:ss".utf8).base64EncodedString())
        #expect(!received.head.contains("pa:ss"))
        var headers = HTTPHeaders()
        try headers.add("authorization", "Bearer own")
        _ = try await transport.send(HTTPRequest(.get, url, headers: headers))
        #expect(server.requests.last?.header("Authorization") == "Bearer own")
    }

    @Test("The proxy of the environment is unused unless the configuration enables it", .without(.proxies))
    func proxy() async throws {
        // In a separate process, because the clients of other tests in this process would use the proxy, too.
        await #expect(processExitsWith: .success) {
            let proxy = try TestServer { _ in [.respond("203 By Proxy")] }
            let server = try TestServer { _ in [.respond("200 OK")] }
            setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
            let request = HTTPRequest(.get, try HTTPURL(server.url()))
            let transport = try SystemTransport()
            #expect(try await transport.send(request).status == 200)
            let asked = try SystemTransport(TransportConfiguration(proxy: .environment))
            #expect(try await asked.send(request).status == 203)
        }
    }

    @Test("An interim answer is skipped, and its headers with it")
    func interim() async throws {
        let hint = Array("HTTP/1.1 103 Early Hints\r\nX-Interim: 1\r\n\r\n".utf8)
        let server = try TestServer { _ in [.send(hint), .respond("200 OK", [1], "X-Final: 1")] }
        let response = try await transport.send(HTTPRequest(.get, try HTTPURL(server.url())))
        #expect(response.status == 200)
        #expect(response.headers["X-Interim"] == nil)
        #expect(response.headers["X-Final"] == "1")
    }

    @Test("A chunked response is joined, and its trailers do not count as headers", .without(.trailers))
    func chunked() async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let server = try TestServer { _ in [.send(Array((head + "2\r\nab\r\n1\r\nc\r\n0\r\nX-Late: 1\r\n\r\n").utf8))] }
        let response = try await transport.send(HTTPRequest(.get, try HTTPURL(server.url())))
        #expect(response.body == Array("abc".utf8))
        #expect(response.headers["X-Late"] == nil)
    }
}
