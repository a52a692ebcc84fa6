import Foundation
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

/// Blocks the thread of each request of a check until ``release()``, as a check does that decodes for long.
private final class BlockingTransport: HTTPTransport {
    let blocked = EventCounter()
    private let transport: SystemTransport
    private let permits = DispatchSemaphore(value: 0)

    init() throws { transport = try SystemTransport() }

    func release() { for _ in 0..<1000 { permits.signal() } }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        // A session names its User-Agent, a check leaves it to the transport.
        if request.headers["User-Agent"] == nil { block() }
        return try await transport.send(request)
    }

    private func block() {
        blocked.increment()
        permits.wait()
    }
}

@Suite("Checks beside sessions", .ownThread, .timeLimit(.minutes(30)))
struct CheckIsolationTests {
    @Test("Checks that occupy their threads delay no session")
    func occupied() async throws {
        let server = try TestServer { _ in [.respond("404 Not Found")] }
        let (transport, taps, answered) = (try BlockingTransport(), SessionTaps(), EventCounter())
        let instrument = Instrument(hub: CoreHub(), metricalc: TappedMetricalc(taps), onDiagnostic: { _ in })
        let source = ProbeSource(instrument: instrument, taps: taps, transport: transport)
        func start(_ number: Int, hasChecks: Bool) throws -> SessionID {
            var stream = try stream("s\(number)", host: "127.0.0.1:\(server.port)")
            stream.checks.rules = hasChecks
            let id = SessionID(slot: number, number: number + 1, stream: stream.name)
            source.start(id, stream) { input in
                if case .request = input, !hasChecks { answered.increment() }
            }
            return id
        }
        // As many as Swift's pool has threads.
        let count = ProcessInfo.processInfo.activeProcessorCount
        var sessions = try (0..<count).map { try start($0, hasChecks: true) }
        await transport.blocked.wait(for: count)
        sessions.append(try start(count, hasChecks: false))
        await answered.wait(for: 1)
        transport.release()
        for session in sessions { source.stop(session) }
        await instrument.shutdown(timeout: .zero)
    }
}
