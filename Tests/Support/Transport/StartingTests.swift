#if canImport(Glibc)
import Instrument
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentHTTP
@testable import InstrumentTransport

/// What a request without a task has brought.
private final class Result: Sendable {
    let bytes = Lock([UInt8]())
    let outcomes = Lock([Swift.Result<HTTPResponse, HTTPError>]())
    let ended = Gate()

    func start(_ request: HTTPRequest, by transport: SystemTransport) -> @Sendable () -> Void {
        transport.start(
            request,
            expecting: { _ in },
            receiving: { [bytes] piece in bytes.withLock { $0.append(contentsOf: piece) } },
            ended: { [outcomes, ended] outcome in
                outcomes.withLock { $0.append(outcome) }
                ended.open()
            }
        )
    }

    /// The outcome, once it is there.
    func outcome() async throws -> Swift.Result<HTTPResponse, HTTPError> {
        await ended.wait()
        return try #require(outcomes.withLock { $0.first })
    }
}

@Suite("Requests without a task", .ownThread, .timeLimit(.minutes(30)))
struct StartingTests {
    let transport: SystemTransport

    init() throws { transport = try SystemTransport() }

    @Test("A started request follows redirects and hands its body over")
    func redirects() async throws {
        let server = try TestServer { request in
            switch request.target {
            case "/a": [.respond("302 Found", [], "Location: /b")]
            case "/b": [.respond("307 Go", [], "Location: end")]
            default: [.respond("200 OK", Array("end".utf8))]
            }
        }
        let result = Result()
        _ = result.start(
            HTTPRequest(.get, try HTTPURL(server.url("/a")), redirects: .follow(atMost: 2)),
            by: transport
        )
        let response = try await result.outcome().get()
        #expect(response.status == 200 && response.redirectCount == 2)
        #expect(response.url.path == "/end")
        #expect(result.bytes.withLock { $0 } == Array("end".utf8))
        #expect(server.requests.map(\.target) == ["/a", "/b", "/end"])
    }

    @Test("A redirect that is refused, a bad request and a dead server are errors, each told once")
    func failures() async throws {
        let server = try TestServer { _ in [.respond("302 Found", [], "Location: /again")] }
        let url = try HTTPURL(server.url())
        let refused = Result()
        _ = refused.start(HTTPRequest(.get, url, redirects: .follow(atMost: 3)), by: transport)
        let bad = Result()
        _ = bad.start(HTTPRequest(.head, url, body: [1]), by: transport)
        let dead = Result()
        _ = dead.start(HTTPRequest(.get, try HTTPURL("http://127.0.0.1:1/")), by: transport)
        for (result, code) in [
            (refused, HTTPError.Code.redirectRefused), (bad, .invalidHeader), (dead, .connection),
        ] {
            let outcome = try await result.outcome()
            #expect(throws: HTTPError.self) { try outcome.get() }
            if case .failure(let error) = outcome { #expect(error.code == code, "\(error)") }
            #expect(result.outcomes.withLock { $0.count } == 1)
        }
        #expect(server.requests.count == 4)
    }

    @Test("After a cancellation nothing comes, and the server sees the connection end")
    func cancellation() async throws {
        let (arrived, closed) = (Gate(), Gate())
        let server = try TestServer { request in
            if request.target == "/next" { return [.respond("200 OK")] }
            arrived.open()
            return [.hang]
        }
        server.onEnd { closed.open() }
        let (result, next) = (Result(), Result())
        let cancel = result.start(HTTPRequest(.get, try HTTPURL(server.url("/hang"))), by: transport)
        await arrived.wait()
        cancel()
        await closed.wait()
        _ = next.start(HTTPRequest(.get, try HTTPURL(server.url("/next"))), by: transport)
        #expect(try await next.outcome().get().status == 200)
        #expect(result.outcomes.withLock { $0.isEmpty })
        cancel()
    }

    @Test("A transport that shuts down ends started requests with an error")
    func shutdown() async throws {
        let arrived = Gate()
        let server = try TestServer { _ in
            arrived.open()
            return [.hang]
        }
        let (result, late) = (Result(), Result())
        let request = HTTPRequest(.get, try HTTPURL(server.url()))
        _ = result.start(request, by: transport)
        await arrived.wait()
        transport.shutDown()
        _ = late.start(request, by: transport)
        for result in [result, late] {
            guard case .failure(let error) = try await result.outcome() else {
                Issue.record("the request has succeeded")
                continue
            }
            #expect(error.code == .cancelled)
        }
    }
}
#endif
