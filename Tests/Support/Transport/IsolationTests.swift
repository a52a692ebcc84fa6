#if os(Linux)
import CTestResolver
import Instrument
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentHTTP
@testable import InstrumentTransport

/// Every way in which a request fails, or ends early.
enum FailureKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case unknownName, refused, resetBeforeHead, resetInBody, brokenOff, tooLargeBody, tooLargeHead, timedOut
    case timedOutInLookup, cancelled, cancelledInLookup, untrusted, noTLS, malformed, redirectRefused, badStatus

    var testDescription: String { rawValue }

    /// The code of the error; nil for a response.
    var code: HTTPError.Code? {
        switch self {
        case .unknownName: .nameNotFound
        case .refused, .resetBeforeHead, .resetInBody, .brokenOff: .connection
        case .tooLargeBody, .tooLargeHead: .responseTooLarge
        case .timedOut, .timedOutInLookup: .timedOut
        case .cancelled, .cancelledInLookup: .cancelled
        case .untrusted, .noTLS: .tls
        case .malformed: .malformedResponse
        case .redirectRefused: .redirectRefused
        case .badStatus: nil
        }
    }
}

/// The server of a consumer whose requests fail.
private final class FailingHost {
    private let server: TestServer
    private let secure: TLSServer?
    private let closed: UInt16
    /// Requests that hang.
    private let arrived: EventCounter

    init(_ kind: FailureKind) throws {
        let partial = TestServer.Step.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc".utf8))
        let arrived = EventCounter()
        self.arrived = arrived
        // A server without TLS speaks first: the blank line that ends a request never comes.
        server = try TestServer(greeting: kind == .noTLS ? Array("220 hello\r\n".utf8) : []) { _ in
            switch kind {
            case .resetBeforeHead: return [.reset]
            case .resetInBody: return [partial, .reset]
            case .brokenOff: return [partial, .close]
            case .tooLargeBody: return [.send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8)), .sendWithoutEnd()]
            case .tooLargeHead:
                let lines = String(repeating: "X: " + String(repeating: "a", count: 1000) + "\r\n", count: 300)
                return [.send(Array(("HTTP/1.1 200 OK\r\n" + lines).utf8)), .hang]
            case .malformed: return [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n".utf8)), .close]
            case .redirectRefused: return [.respond("302 Found", [], "Location: ftp://127.0.0.1/")]
            case .badStatus: return [.respond("404 Not Found", [UInt8](repeating: 1, count: 1000))]
            default:
                arrived.increment()
                return [.hang]
            }
        }
        secure = kind == .untrusted ? try TLSServer() : nil
        closed = try TestServer.closedPort()
    }

    func request(_ kind: FailureKind, _ number: Int) throws -> HTTPRequest {
        let url =
            switch kind {
            case .unknownName: "http://host-\(number).invalid/"
            case .timedOutInLookup, .cancelledInLookup: "http://\(kind)-\(number).hanging.invalid/"
            case .refused: "http://127.0.0.1:\(closed)/"
            case .untrusted: "https://127.0.0.1:\(secure?.port ?? 0)/"
            case .noTLS: "https://127.0.0.1:\(server.port)/"
            default: server.url("/\(number)")
            }
        let isTimed = kind == .timedOut || kind == .timedOutInLookup
        return HTTPRequest(
            .get,
            try HTTPURL(url),
            timeout: isTimed ? .milliseconds(100) : .seconds(900),
            connectTimeout: .seconds(900),
            maxResponseBytes: 10_000,
            redirects: .follow(atMost: 3)
        )
    }

    /// Cancels the task of request `number` while the request is where the kind says.
    func interrupt(_ task: Task<HTTPResponse, any Error>, _ kind: FailureKind, _ number: Int, _ host: String) async {
        if kind == .cancelled { await arrived.wait(for: number + 1) }
        if kind == .cancelledInLookup { await blocking { test_resolver_wait(host) } }
        if kind.code == .cancelled { task.cancel() }
    }
}

/// One consumer's failures, and the requests of another one, through the same transport.
@Suite("Isolation of requests", .ownThread, .timeLimit(.minutes(30)))
struct IsolationTests {
    private static let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private func send(
        _ request: HTTPRequest,
        by transport: SystemTransport,
        streaming: Bool
    ) async throws -> (HTTPResponse, [UInt8]) {
        guard streaming else {
            let response = try await transport.send(request)
            return (response, response.body)
        }
        let received = Lock([UInt8]())
        let response = try await transport.send(request) { bytes in received.withLock { $0.append(contentsOf: bytes) } }
        return (response, received.withLock { $0 })
    }

    /// Sends the request after a failure, of another consumer to another host, whose name is looked up or not.
    /// - Returns: the longest time that a request took.
    @discardableResult
    private func expectWhole(
        _ server: TestServer,
        by transport: SystemTransport,
        _ kind: FailureKind
    ) async throws -> Duration {
        var longest = Duration.zero
        for (host, streaming) in [("127.0.0.1", true), ("127.0.0.1", false), ("other.loopback.invalid", true)] {
            let start = SystemClock().now
            var request = HTTPRequest(.get, try HTTPURL("http://\(host):\(server.port)/"), timeout: .seconds(900))
            request.needsFreshConnection = host.hasSuffix(".invalid")
            let (response, body) = try await send(request, by: transport, streaming: streaming)
            longest = max(longest, start.duration(to: SystemClock().now))
            #expect(response.status == 200 && body == Self.body, "after \(kind), streaming: \(streaming)")
        }
        return longest
    }

    @Test(
        "The request after a failure, of another consumer to another host, arrives whole",
        arguments: FailureKind.allCases
    )
    func afterFailure(kind: FailureKind) async throws {
        guard kind != .untrusted || TLSServer.isPossible else {
            return print("SKIPPED: a certificate that is not trusted: openssl and python3 are needed")
        }
        let transport = try SystemTransport()
        let server = try TestServer { _ in [.respond("200 OK", Self.body)] }
        let machine = MachineLoad()
        var longest = Duration.zero
        for streaming in [true, false] {
            let failing = try FailingHost(kind)
            // Twice: a later failure may find what an earlier one has left.
            for number in 0..<2 {
                let request = try failing.request(kind, streaming ? number : 10 + number)
                let task = Task { try await send(request, by: transport, streaming: streaming).0 }
                await failing.interrupt(task, kind, number, request.url.host)
                switch await task.result {
                case .success(let response): #expect(kind.code == nil && response.status == 404, "\(response)")
                case .failure(let error): #expect((error as? HTTPError)?.code == kind.code, "\(error)")
                }
                longest = max(longest, try await expectWhole(server, by: transport, kind))
            }
        }
        if machine.allowsJudging("how long a request takes after \(kind)") { #expect(longest < .seconds(1)) }
    }

    @Test("Many requests that fail in every way beside healthy ones change none of these")
    func beside() async throws {
        let transport = try SystemTransport(TransportConfiguration(maxConnectionsPerHost: 4))
        let server = try TestServer { _ in [.wait(.milliseconds(2)), .respond("200 OK", Self.body)] }
        let kinds = FailureKind.allCases.filter { $0.code != .cancelled && $0 != .untrusted }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in kinds {
                let failing = try FailingHost(kind)
                for number in 0..<8 {
                    let request = try failing.request(kind, 100 + number)
                    group.addTask { _ = try? await send(request, by: transport, streaming: number % 2 == 0) }
                }
            }
            for number in 0..<40 {
                let host = number % 3 == 0 ? "name-\(number).loopback.invalid" : "127.0.0.1"
                let url = try HTTPURL("http://\(host):\(server.port)/\(number)")
                let request = HTTPRequest(.get, url, timeout: .seconds(900))
                group.addTask {
                    let (response, body) = try await send(request, by: transport, streaming: number % 2 == 0)
                    #expect(response.status == 200 && body == Self.body)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("After a refused private address the transport sends the next request")
    func privateAddress() async throws {
        // To an unknown name: every address of this machine is private.
        let transport = try SystemTransport(TransportConfiguration(allowsPrivateAddresses: false))
        let server = try TestServer { _ in [.respond("200 OK")] }
        for (url, code) in [(server.url(), HTTPError.Code.addressRefused), ("http://nobody.invalid/", .nameNotFound)] {
            for _ in 0..<3 {
                let request = HTTPRequest(.get, try HTTPURL(url), timeout: .seconds(900))
                let error = await #expect(throws: HTTPError.self) {
                    try await send(request, by: transport, streaming: true)
                }
                #expect(error?.code == code)
            }
        }
        #expect(server.connectionCount == 0)
    }

    @Test("Names whose resolver hangs delay neither other names nor the shutdown")
    func hangingResolver() async throws {
        let transport = try SystemTransport()
        let server = try TestServer { _ in [.respond("200 OK", Self.body)] }
        let names = (0..<30).map { "stuck-\($0).hanging.invalid" }
        let tasks = try names.map { name in
            let request = HTTPRequest(
                .get,
                try HTTPURL("http://\(name)/"),
                timeout: .seconds(1000),
                connectTimeout: .seconds(1000)
            )
            return Task { try await transport.send(request) }
        }
        await blocking { for name in names { test_resolver_wait(name) } }
        // While they hang, and after some were cancelled.
        try await expectWhole(server, by: transport, .timedOutInLookup)
        for task in tasks.prefix(15) { task.cancel() }
        try await expectWhole(server, by: transport, .cancelledInLookup)
        transport.shutDown()
        for task in tasks {
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
    }

    @Test("Requests that wait for a busy host delay no request that waits for another host")
    func waitingForBusyHost() async throws {
        let transport = try SystemTransport(TransportConfiguration(maxConnectionsPerHost: 2))
        let arrived = EventCounter()
        let busy = try TestServer { _ in
            arrived.increment()
            return [.hang]
        }
        let other = try TestServer { _ in [.wait(.milliseconds(5)), .respond("200 OK", [1])] }
        let (busyURL, otherURL) = (try HTTPURL(busy.url()), try HTTPURL(other.url()))
        let stuck = (0..<8).map { _ in
            Task { try await transport.send(HTTPRequest(.get, busyURL, timeout: .seconds(1000))) }
        }
        await arrived.wait(for: 2)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<12 {
                group.addTask { try await transport.send(HTTPRequest(.get, otherURL, timeout: .seconds(900))).status }
            }
            for try await status in group { #expect(status == 200) }
        }
        #expect(busy.connectionCount == 2 && other.connectionCount <= 2)
        for task in stuck { task.cancel() }
        for task in stuck { _ = await task.result }
    }

    @Test("A request that waits for its turn times out, is cancelled, or follows the one before it")
    func waiting() async throws {
        let transport = try SystemTransport(TransportConfiguration(maxConnectionsPerHost: 1))
        let arrived = Gate()
        let server = try TestServer { request in
            if request.target == "/next" { return [.respond("200 OK", [1])] }
            arrived.open()
            return [.hang]
        }
        let (url, next) = (try HTTPURL(server.url()), try HTTPURL(server.url("/next")))
        let first = Task { try await transport.send(HTTPRequest(.get, url, timeout: .seconds(1000))) }
        await arrived.wait()
        let late = await #expect(throws: HTTPError.self) {
            try await transport.send(HTTPRequest(.get, next, timeout: .milliseconds(50)))
        }
        #expect(late?.code == .timedOut)
        let cancelled = Task { try await transport.send(HTTPRequest(.get, next, timeout: .seconds(1000))) }
        let follower = Task { try await transport.send(HTTPRequest(.get, next, timeout: .seconds(900))) }
        cancelled.cancel()
        let error = await #expect(throws: HTTPError.self) { try await cancelled.value }
        #expect(error?.code == .cancelled)
        first.cancel()
        #expect(try await follower.value.status == 200)
    }
}

@Suite("The turns of requests to one host")
struct HostTurnsTests {
    private func exchange(_ number: UInt64, _ host: String, _ timeout: Duration = .seconds(900)) throws -> Exchange {
        Exchange(HTTPRequest(.get, try HTTPURL("http://\(host)/\(number)"), timeout: timeout), number: number, nil)
    }

    @Test("Requests run up to the limit for each host, and wait in order beyond it")
    func order() throws {
        var turns = HostTurns(limit: 2)
        let requests = try (0..<5).map { try exchange($0, "a.example") }
        var admitted: [Bool] = []
        for request in requests { admitted.append(turns.admit(request)) }
        admitted.append(turns.admit(try exchange(9, "b.example")))
        #expect(admitted == [true, true, false, false, false, true])
        requests[2].end(.failure(.cancelled(requests[2].request.url)))
        var next: [UInt64?] = []
        for ended in [0, 1, 3] { next.append(turns.release(requests[ended])?.number) }
        #expect(next == [3, 4, nil])
        admitted = []
        for request in requests[...1] { admitted.append(turns.admit(request)) }
        #expect(admitted == [true, false])
    }

    @Test("Waiting requests leave when their time is over or they have ended")
    func ends() throws {
        var turns = HostTurns(limit: 1)
        let (running, short) = (try exchange(0, "a.example"), try exchange(1, "a.example", .seconds(1)))
        let (long, ended) = (try exchange(2, "a.example", .seconds(9)), try exchange(3, "a.example", .seconds(5)))
        var admitted: [Bool] = []
        for request in [running, long, short, ended] { admitted.append(turns.admit(request)) }
        #expect(admitted == [true, false, false, false] && turns.nextDeadline == short.deadline)
        ended.end(.failure(.cancelled(ended.request.url)))
        var late = turns.removeEnded(at: short.deadline)
        #expect(late.map(\.number) == [1])
        #expect(turns.nextDeadline == long.deadline && turns.waiting.map(\.number) == [2])
        late = turns.removeEnded(at: long.deadline)
        #expect(late.map(\.number) == [2] && turns.nextDeadline == nil)
        let next = turns.release(running)
        #expect(next == nil)
    }
}
#endif
