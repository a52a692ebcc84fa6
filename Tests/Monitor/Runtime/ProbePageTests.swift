import Instrument
import InstrumentHTTP
import InstrumentMonitor
import InstrumentTestKit
import InstrumentTransport
import InstrumentWatch
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentMonitorRuntime

@Suite("Probes of a scrape", .ownThread, .timeLimit(.minutes(30)))
struct ProbePageTests {
    @Test("A stream whose probes hang takes no probe from another stream")
    func isolation() async throws {
        let arrived = EventCounter()
        let dead = try TestServer { _ in
            arrived.increment()
            return [.hang]
        }
        let watched = configuration([
            try stream("dead", host: "127.0.0.1:\(dead.port)"),
            try stream("gone", host: "127.0.0.1:\(try TestServer.closedPort())"),
        ])
        let page = ProbePage(
            transport: try SystemTransport(),
            guarded: try SystemTransport(.init(allowsPrivateAddresses: false))
        )
        let hanging = (0..<2).map { _ in
            Task { await page.run("dead", watched, scrapeTimeout: 1000, .prometheus) }
        }
        await arrived.wait(for: 2)
        guard case .failure(.busy) = await page.run("dead", watched, scrapeTimeout: 1, .prometheus) else {
            return #expect(Bool(false), "a third probe of one stream has run")
        }
        let bytes = try await page.run("gone", watched, scrapeTimeout: 1, .prometheus).get()
        #expect(String(decoding: bytes, as: UTF8.self).contains("probe_success 0"))
        for task in hanging { task.cancel() }
        for task in hanging { _ = await task.value }
        guard case .success = await page.run("dead", watched, scrapeTimeout: 0.5, .prometheus) else {
            return #expect(Bool(false), "an ended probe still counts")
        }
    }

    @Test("A probe sends the headers of all streams and those of its stream")
    func headers() async throws {
        let server = try TestServer { _ in [.send(Array("HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n".utf8))] }
        let watched = configuration([try stream("a", host: "127.0.0.1:\(server.port)")])
        let headers = StreamHeaders(try HTTPHeaders(["X-Client": "monitor", "Authorization": "Bearer all"]))
        headers.replace(["a": try HTTPHeaders(["authorization": "Bearer a"]), "b": try HTTPHeaders(["X-B": "b"])])
        let page = ProbePage(
            transport: try SystemTransport(),
            guarded: try SystemTransport(.init(allowsPrivateAddresses: false)),
            headers: headers
        )
        _ = try await page.run("a", watched, scrapeTimeout: 5, .prometheus).get()
        let request = try #require(server.requests.first)
        #expect(request.header("X-Client") == "monitor" && request.header("Authorization") == "Bearer a")
        #expect(request.header("X-B") == nil)
    }
}
