import Instrument
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentHTTP
@testable import InstrumentTransport

@Suite("Redirects", .ownThread, .timeLimit(.minutes(30)))
struct RedirectTests {
    let transport: SystemTransport

    init() throws { transport = try SystemTransport() }

    /// A server that sends everything but `/end` to `location`.
    private func server(_ status: Int = 302, to location: String) throws -> TestServer {
        try TestServer { request in
            request.target.hasPrefix("/end")
                ? [.respond("200 OK", Array("end".utf8))] : [.respond("\(status) Go", [], "Location: \(location)")]
        }
    }

    @Test("A redirect is the response when the request does not allow redirects")
    func never() async throws {
        let server = try server(to: "/end")
        let response = try await transport.send(HTTPRequest(.get, try HTTPURL(server.url())))
        #expect(response.status == 302)
        #expect(server.requests.count == 1)
    }

    @Test("A redirect within the origin keeps method, headers and body", arguments: [301, 302, 303, 307, 308])
    func sameOrigin(status: Int) async throws {
        let server = try server(status, to: "../end?x")
        let url = try HTTPURL("http://u:p@127.0.0.1:\(server.port)/a/b")
        let headers = try HTTPHeaders(["X-Api-Key": "k"])
        let response = try await transport.send(
            HTTPRequest(.get, url, headers: headers, redirects: .follow(atMost: 1))
        )
        #expect(response.status == 200)
        #expect(response.redirectCount == 1)
        #expect(response.url.requestText == server.url("/end?x"))
        #expect(server.requests.map { $0.header("X-Api-Key") } == ["k", "k"])
        #expect(server.requests.last?.header("Authorization") == server.requests.first?.header("Authorization"))
        #expect(server.requests.last?.header("Authorization") != nil)
    }

    @Test(
        "A redirect repeats the body where the status requires it, and never drops it",
        arguments: [301, 302, 303, 307, 308]
    )
    func bodies(status: Int) async throws {
        let server = try server(status, to: "/end")
        let request = HTTPRequest(.post, try HTTPURL(server.url()), body: [1, 2], redirects: .follow(atMost: 3))
        if status >= 307 {
            #expect(try await transport.send(request).status == 200)
            #expect(server.requests.map(\.body) == [[1, 2], [1, 2]])
        } else {
            let error = await #expect(throws: HTTPError.self) { try await transport.send(request) }
            #expect(error?.code == .redirectRefused)
            #expect(server.requests.count == 1)
        }
    }

    @Test(
        "A request with credentials or a body does not follow a redirect to another origin",
        arguments: ["Authorization", "Cookie", "X-Api-Key", "X-Plain", "userinfo", "body"]
    )
    func otherOrigin(what: String) async throws {
        let other = try server(to: "")
        let server = try server(307, to: "http://127.0.0.1:\(other.port)/end")
        var request = HTTPRequest(.get, try HTTPURL(server.url("/?secret")), redirects: .follow(atMost: 3))
        switch what {
        case "userinfo": request.url = try HTTPURL("http://u:secret@127.0.0.1:\(server.port)/")
        case "body": (request.method, request.body) = (.post, [1])
        default: try request.headers.add(what, "secret", isSecret: what == "X-Plain")
        }
        let refused = request
        let error = await #expect(throws: HTTPError.self) { try await transport.send(refused) }
        #expect(error?.code == .redirectRefused)
        #expect(error?.status == 307)
        #expect(error?.description.contains("secret") == false)
        #expect(other.requests.isEmpty)
    }

    @Test("A request without credentials and body follows a redirect to another origin without its headers")
    func harmless() async throws {
        let other = try server(to: "")
        let server = try server(to: "http://server:made@127.0.0.1:\(other.port)/end")
        let headers = try HTTPHeaders(["X-Harmless": "1"])
        let request = HTTPRequest(.get, try HTTPURL(server.url("/?q")), headers: headers, redirects: .follow(atMost: 3))
        #expect(try await transport.send(request).status == 200)
        let received = try #require(other.requests.first)
        #expect(received.header("X-Harmless") == "1")
        #expect(received.header("Authorization") == nil)
        #expect(received.header("Host") == "127.0.0.1:\(other.port)")
        #expect(!received.head.contains("?q"))
    }

    @Test(
        "Headers of the origin stay there, whether their names speak of secrets or not; within the origin they are kept"
    )
    func headersOfOrigin() async throws {
        let other = try server(to: "")
        let headers = try HTTPHeaders(["CMCD-Session": "v=2", "CMCD-Object": "br=(1)", "X-Harmless": "1"])
        for (location, isKept) in [(other.url("/end"), false), ("/end", true)] {
            let server = try server(to: location)
            var request = HTTPRequest(
                .get,
                try HTTPURL(server.url("/")),
                headers: headers,
                redirects: .follow(atMost: 3)
            )
            request.headersOfOrigin = ["CMCD-Session", "CMCD-Object"]
            #expect(try await transport.send(request).status == 200)
            let received = try #require(isKept ? server.requests.last : other.requests.last)
            #expect(received.header("CMCD-Session") == (isKept ? "v=2" : nil))
            #expect(received.header("CMCD-Object") == (isKept ? "br=(1)" : nil))
            #expect(received.header("X-Harmless") == "1")
        }
    }

    private func circle() throws -> TestServer {
        try TestServer { _ in [.wait(.milliseconds(20)), .respond("302 Go", [], "Location: /")] }
    }

    @Test("A redirect loop ends at the limit")
    func limitedCircle() async throws {
        let server = try circle()
        var request = HTTPRequest(.get, try HTTPURL(server.url()), redirects: .follow(atMost: 4))
        request.timeout = .seconds(900)
        let limited = request
        let error = await #expect(throws: HTTPError.self) { try await transport.send(limited) }
        #expect(error?.code == .redirectRefused)
        #expect(server.requests.count == 5)
    }

    @Test("A redirect loop ends at the timeout", .without(.lateCancellation))
    func timedCircle() async throws {
        let server = try circle()
        var request = HTTPRequest(.get, try HTTPURL(server.url()), redirects: .follow(atMost: 10_000))
        request.timeout = .milliseconds(300)
        let timed = request
        let late = await #expect(throws: HTTPError.self) { try await transport.send(timed) }
        #expect(late?.code == .timedOut)
    }

    @Test(
        "A redirect that is not allowed is not followed",
        arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "http://", "gopher:x"]
    )
    func badTargets(location: String) async throws {
        let server = try server(to: location)
        let request = HTTPRequest(.get, try HTTPURL(server.url()), redirects: .follow(atMost: 3))
        let error = await #expect(throws: HTTPError.self) { try await transport.send(request) }
        #expect(error?.code == .redirectRefused)
    }

    @Test("A redirect from https to http is never followed")
    func downgrade() throws {
        let request = HTTPRequest(.get, try HTTPURL("https://h/"), redirects: .follow(atMost: 3))
        let headers = try HTTPHeaders(["Location": "http://h/"])
        let response = HTTPResponse(status: 302, headers: headers, url: request.url)
        let error = #expect(throws: HTTPError.self) { try request.redirected(by: response, after: 0) }
        #expect(error?.code == .redirectRefused)
    }

    @Test("A 3xx without a usable location is the response", arguments: [300, 302, 304, 305])
    func nowhere(status: Int) async throws {
        let location = status == 302 ? [] : ["Location: /end"]
        let head = (["HTTP/1.1 \(status) X", "Content-Length: 0"] + location).joined(separator: "\r\n") + "\r\n\r\n"
        let server = try TestServer { _ in [.send(Array(head.utf8))] }
        let request = HTTPRequest(.get, try HTTPURL(server.url()), redirects: .follow(atMost: 3))
        #expect(try await transport.send(request).status == status)
    }
}
