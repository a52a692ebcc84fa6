import Foundation
import Instrument
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentHTTP
@testable import InstrumentTransport

@Suite("Cookies and headers of a client", .ownThread, .timeLimit(.minutes(30)))
struct CookieJarTests {
    private static let now = WallTime(milliseconds: 1_767_225_600_000)

    /// The header for `address` after `url` has set cookies.
    private func header(_ lines: [String], from url: String, to address: String) throws -> String? {
        let jar = CookieJar()
        for line in lines {
            var response = HTTPResponse(status: 200, url: try HTTPURL(url))
            try response.headers.add("Set-Cookie", line)
            jar.take(response, at: Self.now)
        }
        return jar.header(for: try HTTPURL(address), at: Self.now)
    }

    /// Lines of `Set-Cookie`, the address of their response, a later request's address, and the cookies that it sends.
    private static let scopes: [([String], String, String, String?)] = [
        (["a=1"], "https://x.test/p/q.m3u8", "https://x.test/p/r/s.ts", "a=1"),
        (["a=1"], "https://x.test/p/q.m3u8", "https://x.test/other.ts", nil),
        (["a=1; Path=/"], "https://x.test/p/q", "https://cdn.x.test/s.ts", nil),
        (["a=1; Path=/; Domain=x.test"], "https://x.test/p/q", "https://cdn.x.test/s.ts", "a=1"),
        (["a=1; Path=/; Domain=.x.test"], "https://x.test/p/q", "https://notx.test/s.ts", nil),
        (["a=1; Path=/; Domain=other.test"], "https://x.test/p/q", "https://other.test/s.ts", nil),
        (["a=1; Path=/; Domain=test"], "https://x.test/p/q", "https://y.test/s.ts", nil),
        (["a=1; Path=/; Secure"], "https://x.test/", "http://x.test/", nil),
        (["a=1; Path=/", "b=2; Path=/p"], "https://x.test/", "https://x.test/p/s", "b=2; a=1"),
        (["a=1; Path=/", "a=2; Path=/"], "https://x.test/", "https://x.test/", "a=2"),
        (["a=1; Path=/", "a=; Path=/; Max-Age=0"], "https://x.test/", "https://x.test/", nil),
        (["a=1; Path=/; Expires=Thu, 01-Jan-1970 00:00:01 GMT"], "https://x.test/", "https://x.test/", nil),
        (["a=1; Path=/; Max-Age=60"], "https://x.test/", "https://x.test/", "a=1"),
        (["a=b=c; Path=/; HttpOnly; SameSite=None"], "https://x.test/", "https://x.test/", "a=b=c"),
        (["; Path=/", "nonsense"], "https://x.test/", "https://x.test/", nil),
        (["a=1; Path=/; Domain=1.2.3.4"], "http://1.2.3.4/", "http://1.2.3.4/", "a=1"),
    ]

    @Test("A cookie goes to the hosts, paths and schemes that it names")
    func scope() throws {
        for (lines, url, address, expected) in Self.scopes {
            #expect(try header(lines, from: url, to: address) == expected, "\(lines) for \(address)")
        }
    }

    @Test("A session cookie of a redirect is sent with the next request and later ones, and never printed")
    func session() async throws {
        let server = try TestServer { request in
            if request.target == "/a" {
                return [.respond("302 Found", [], "Location: /b", "Set-Cookie: s=secret-value; Path=/")]
            }
            return [.respond("200 OK", Array((request.header("Cookie") ?? "none").utf8))]
        }
        let (transport, jar) = (try SystemTransport(), CookieJar())
        func body(_ path: String, _ cookies: CookieJar?) async throws -> String {
            var request = HTTPRequest(.get, try HTTPURL(server.url(path)), redirects: .follow(atMost: 3))
            request.cookies = cookies
            #expect(!"\(request)".contains("secret-value"))
            return String(decoding: try await transport.send(request).body, as: UTF8.self)
        }
        #expect(try await body("/a", jar) == "s=secret-value")
        #expect(try await body("/c", jar) == "s=secret-value")
        #expect(try await body("/c", CookieJar()) == "none")
        #expect(try await body("/a", nil) == "none")
    }

    @Test("A user's headers go with every request, secret ones to the first origin alone")
    func headers() throws {
        let home = try HTTPURL("https://x.test/a.m3u8")
        let given = try HTTPHeaders(["Referer": "https://page.test/", "X-Tint": "blue", "Authorization": "Bearer t"])
        let client = ClientHeaders(given)
        var (own, other) = (HTTPRequest(.get, home), HTTPRequest(.get, try HTTPURL("https://cdn.test/s.ts")))
        try own.headers.set("x-tint", "red")
        client.apply(to: &own, home: home)
        client.apply(to: &other, home: home)
        #expect(own.headers.values(of: "X-Tint") == ["blue"] && own.headers["Authorization"] == "Bearer t")
        #expect(own.headersOfOrigin.contains("Authorization"))
        #expect(other.headers["X-Tint"] == "blue" && other.headers["Authorization"] == nil)
    }

    @Test("Requests go to the proxy of the configuration", .without(.proxies))
    func proxy() async throws {
        let proxy = try TestServer { request in [.respond("200 OK", Array(request.target.utf8))] }
        var configuration = TransportConfiguration()
        configuration.proxyAddress = proxy.url("")
        let request = HTTPRequest(.get, try HTTPURL("http://stream.invalid/a.m3u8"))
        let response = try await SystemTransport(configuration).send(request)
        #expect(String(decoding: response.body, as: UTF8.self) == "http://stream.invalid/a.m3u8")
    }

    @Test(
        "A proxy that cannot be reached is named without its password, and a server without a proxy is not",
        .without(.proxies)
    )
    func deadProxy() async throws {
        let closed = try TestServer.closedPort()
        func failure(_ configuration: TransportConfiguration, _ url: String) async throws -> HTTPError? {
            let request = HTTPRequest(.get, try HTTPURL(url))
            return await #expect(throws: HTTPError.self) { try await SystemTransport(configuration).send(request) }
        }
        var configuration = TransportConfiguration()
        for scheme in ["http", "socks5h"] {
            for url in ["http://stream.test/a.m3u8", "https://stream.test/a.m3u8"] {
                configuration.proxyAddress = "\(scheme)://user:s3cr/e@t@127.0.0.1:\(closed)"
                let found = try await failure(configuration, url)
                let message = try #require(found?.message)
                #expect(found?.code == .proxy && message.hasPrefix("the proxy 127.0.0.1:\(closed) cannot be reached"))
                #expect(!message.contains("s3cr") && !message.contains("e@t"), "\(message)")
            }
        }
        configuration.proxyAddress = nil
        let direct = try await failure(configuration, "http://127.0.0.1:\(closed)/")
        #expect(direct?.code == .connection && direct?.message.contains("proxy") == false)
    }

    @Test("A proxy that does not connect to the server is named with its status", .without(.proxies))
    func refusingProxy() async throws {
        let proxy = try TestServer { _ in [.respond("407 Proxy Authentication Required")] }
        var configuration = TransportConfiguration()
        configuration.proxyAddress = proxy.url("")
        let request = HTTPRequest(.get, try HTTPURL("https://stream.test/a.m3u8"))
        let error = await #expect(throws: HTTPError.self) { try await SystemTransport(configuration).send(request) }
        #expect(error?.code == .proxy, "\(error as Any)")
        #expect(error?.message.contains("does not connect to the server (status 407)") == true, "\(error as Any)")
    }

    @Test(
        "A dead proxy of the environment is named, and no exception of it counts for an explicit proxy",
        .without(.proxies)
    )
    func environment() async throws {
        // In a separate process, because other tests of this process would use the proxy, too.
        await #expect(processExitsWith: .success) {
            let closed = try TestServer.closedPort()
            setenv("http_proxy", "http://user:s3cret@127.0.0.1:\(closed)", 1)
            let request = HTTPRequest(.get, try HTTPURL("http://stream.test/a.m3u8"))
            let asked = try SystemTransport(TransportConfiguration(proxy: .environment))
            let error = await #expect(throws: HTTPError.self) { try await asked.send(request) }
            #expect(error?.message.hasPrefix("the proxy 127.0.0.1:\(closed) cannot be reached") == true)
            setenv("no_proxy", "stream.test", 1)
            let proxy = try TestServer { _ in [.respond("203 By Proxy")] }
            var configuration = TransportConfiguration()
            configuration.proxyAddress = proxy.url("")
            #expect(try await SystemTransport(configuration).send(request).status == 203)
        }
    }

    @Test(
        "The place of a proxy has no password",
        arguments: [
            ("http://user:p@ss/word@proxy.test:3128/", "proxy.test:3128"), ("socks5h://[::1]:1080", "[::1]:1080"),
            ("proxy.test:8080", "proxy.test:8080"),
        ]
    )
    func places(address: String, place: String) { #expect(ProxyAddress.place(of: address) == place) }
}
