import Instrument
import InstrumentTestKit
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@Suite("Cancellation", .ownThread, .timeLimit(.minutes(30)))
struct CancellationTests {
    private func code(_ task: Task<HTTPResponse, any Error>) async -> HTTPError.Code? {
        (await task.result).failure.flatMap { $0 as? HTTPError }?.code
    }

    @Test("A cancelled task sends nothing")
    func before() async throws {
        let transport = try SystemTransport()
        let server = try TestServer { _ in [.respond("200 OK")] }
        let url = try HTTPURL(server.url())
        let gate = Gate()
        let task = Task {
            await gate.wait()
            return try await transport.send(HTTPRequest(.get, url))
        }
        task.cancel()
        gate.open()
        #expect(await code(task) == .cancelled)
        _ = try await transport.send(HTTPRequest(.get, try HTTPURL(server.url("/other"))))
        #expect(server.requests.map(\.target) == ["/other"])
    }

    @Test("A request in flight ends at once, and its connection with it")
    func inFlight() async throws {
        let transport = try SystemTransport()
        let arrived = Gate()
        let server = try TestServer { _ in
            arrived.open()
            return [.hang]
        }
        let url = try HTTPURL(server.url())
        let task = Task { try await transport.send(HTTPRequest(.get, url)) }
        await arrived.wait()
        task.cancel()
        // The server sends nothing: without the cancellation this would be a timeout, a minute later.
        #expect(await code(task) == .cancelled)
    }

    @Test("A shutdown cancels requests in flight and later requests")
    func shutdown() async throws {
        let transport = try SystemTransport()
        // Any of them: more are asked than connections are allowed, and who comes first is chance.
        let arrived = Gate()
        let server = try TestServer { _ in
            arrived.open()
            return [.hang]
        }
        let port = server.port
        let tasks = (0..<40).map { number in
            Task { try await transport.send(HTTPRequest(.get, try HTTPURL("http://127.0.0.1:\(port)/\(number % 20)"))) }
        }
        await arrived.wait()
        transport.shutDown()
        for task in tasks { #expect(await code(task) == .cancelled) }
        let url = try HTTPURL(server.url())
        let error = await #expect(throws: HTTPError.self) { try await transport.send(HTTPRequest(.get, url)) }
        #expect(error?.code == .cancelled)
    }

    @Test("A transport closes its connections when it is released")
    func release() async throws {
        let closed = Gate()
        let server = try TestServer { _ in [.respond("200 OK")] }
        server.onEnd { closed.open() }
        var transport: SystemTransport? = try SystemTransport()
        _ = try await transport?.send(HTTPRequest(.get, try HTTPURL(server.url())))
        transport = nil
        await closed.wait()
    }

    @Test(
        "Every request ends once when requests are cancelled at random moments, and the transport continues",
        .without(.lateCancellation),
        arguments: 1...3
    )
    func storm(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let transport = try SystemTransport(TransportConfiguration(maxConnectionsPerHost: 8))
        let server = try TestServer { request in
            switch request.target {
            case "/hang": [.hang]
            case "/slow": [.wait(.milliseconds(2)), .respond("200 OK", [1, 2, 3])]
            case "/endless": [.send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8)), .sendWithoutEnd()]
            case "/reset": [.reset]
            default: [.respond("200 OK", [UInt8](repeating: 1, count: 10_000))]
            }
        }
        let port = server.port
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<400 {
                let path = ["hang", "slow", "endless", "reset", "", ""].randomElement(using: &generator) ?? ""
                let wait = Duration.microseconds(Int.random(in: 0...6000, using: &generator))
                let isAtOnce = Bool.random(using: &generator) && path != "hang" && path != "endless"
                group.addTask {
                    let request = Task {
                        let url = try HTTPURL("http://127.0.0.1:\(port)/\(path)")
                        let body = [UInt8](repeating: 7, count: 100)
                        return try await transport.send(HTTPRequest(.post, url, body: body, maxResponseBytes: 1 << 30))
                    }
                    if !isAtOnce { try? await Task.sleep(for: wait) }
                    request.cancel()
                    switch await request.result {
                    case .success(let response): #expect(response.status == 200)
                    case .failure(let error):
                        let code = (error as? HTTPError)?.code
                        #expect(code == .cancelled || code == .connection && path == "reset")
                    }
                }
            }
        }
        let response = try await transport.send(HTTPRequest(.get, try HTTPURL(server.url("/after"))))
        #expect(response.status == 200)
    }

    @Test("Shutdowns during many requests end every request once", .without(.lateCancellation), arguments: 1...5)
    func shutdownStorm(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let server = try TestServer { _ in [.respond("200 OK", [1])] }
        let url = try HTTPURL(server.url())
        for _ in 0..<10 {
            let transport = try SystemTransport()
            let wait = Duration.microseconds(Int.random(in: 0...3000, using: &generator))
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        do { #expect(try await transport.send(HTTPRequest(.get, url)).status == 200) } catch {
                            #expect((error as? HTTPError)?.code == .cancelled)
                        }
                    }
                }
                try? await Task.sleep(for: wait)
                transport.shutDown()
            }
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
