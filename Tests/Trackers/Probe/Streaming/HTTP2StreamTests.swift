#if os(Linux)
import Foundation
import Instrument
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentProbe

/// nghttpd (nghttp2, an independent HTTP/2 server) serves a folder over TLS.
@Suite(
    "Streams over HTTP/2",
    .ownThread,
    .timeLimit(.minutes(30)),
    .enabled(if: HTTP2Server.isPossible, "nghttpd and openssl are needed")
)
struct HTTP2StreamTests {
    @Test("A stream uses one HTTP/2 connection where the server offers HTTP/2 over TLS")
    func playsOverOneConnection() async throws {
        let server = try await HTTP2Server(serving: try Fixtures.hlsTS.get())
        let transport = try SystemTransport(TransportConfiguration(additionalCAFile: server.certificate))
        let clock = VirtualClock(wallTime: SystemClock().wallTime)
        let source = MediaSource("https://localhost:\(server.port)/media.m3u8")
        let configuration = ProbeConfiguration(profile: .plain())
        let probe = Probe(source, configuration: configuration, clock: clock, transport: transport)
        let records = Lock([RequestRecord]())
        probe.report(requestsTo: { record in records.withLock { $0.append(record) } })
        let outcome = await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: probe.playThrough(advancing: clock)) }.start()
        }
        #expect(outcome == .ended)
        let seen = records.withLock { $0 }
        #expect(seen.count == 7)
        #expect(seen.allSatisfy { $0.version == "2" && $0.status == 200 })
        #expect(seen.filter { $0.tls != nil }.count == 1)
        #expect(seen.first?.tls != nil && seen.first?.connect != nil)
    }
}

private final class HTTP2Server {
    let port: Int
    let certificate: String
    private let directory: URL
    private let process = Process()

    static var isPossible: Bool {
        ["nghttpd", "openssl"].allSatisfy { name in
            ["/usr/bin/", "/usr/sbin/", "/usr/local/bin/"].contains { access($0 + name, X_OK) == 0 }
        }
    }

    init(serving folder: String) async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "http2-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let key = directory.appending(path: "key.pem").path
        certificate = directory.appending(path: "certificate.pem").path
        let making = Self.process([
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate,
        ])
        try making.start()
        making.waitUntilExit()
        // It has no option to choose a free port and print the number.
        port = Int(try TestServer.closedPort())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "timeout", "-s", "KILL", "1800", "nghttpd", "-a", "127.0.0.1", "-d", folder, "\(port)", key, certificate,
        ]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.start()
        try await waitUntilItAnswers()
    }

    deinit {
        // `timeout` leads a separate process group, with the server in it.
        kill(-process.processIdentifier, SIGKILL)
        try? FileManager.default.removeItem(at: directory)
    }

    private func waitUntilItAnswers() async throws {
        let transport = try SystemTransport(TransportConfiguration(additionalCAFile: certificate))
        let request = HTTPRequest(.get, try HTTPURL("https://localhost:\(port)/media.m3u8"))
        for _ in 0..<20_000 {
            if (try? await transport.send(request))?.status == 200 { return }
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(50)), tolerance: nil)
        }
        throw FixtureError(message: "nghttpd does not answer on port \(port)")
    }

    private static func process(_ words: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        return process
    }
}
#endif
