import Foundation
import Instrument
import InstrumentBackends
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentNATS

@Suite(
    "Reading a subject of NATS with a real server",
    .ownThread,
    .timeLimit(.minutes(30)),
    .enabled(if: NATSServer.isInstalled, "scripts/install-servers.sh installs nats-server")
)
struct NATSReaderTests {
    private func endpoint(_ server: NATSServer, login: NATSLogin? = nil) throws -> NATSEndpoint {
        try NATSEndpoint(servers: [server.address], subject: "samples", login: login)
    }

    private func publish(_ numbers: Range<Int>, to server: NATSServer) async throws {
        let backend = try NATSBackend(endpoint(server), configuration: NATSConfiguration(timeout: .seconds(300)))
        #expect(await backend.deliver(SessionSamples.batch(numbers)) == .acknowledged)
        await backend.end()
    }

    private func read(_ reader: NATSReader, _ count: Int) async throws -> [Int] {
        var numbers: [Int] = []
        var ends = 0
        while numbers.count < count, ends < 200 {
            let messages = try await reader.next()
            if messages.values.isEmpty { ends += 1 }
            for value in messages.values {
                guard case .int(let number)? = try JSONLines.decode(value).sample.attributes["number"] else { continue }
                numbers.append(number)
            }
        }
        return numbers
    }

    @Test("A reader returns what the stream stores after its beginning, in order, and says when it is at the end")
    func latest() async throws {
        let server = try await NATSServer()
        try NATSClient(port: server.port).createStream()
        try await publish(0..<5, to: server)
        let reader = try NATSReader(endpoint(server), from: .latest)
        let first = try await reader.next()
        #expect(first.values.isEmpty && first.isAtEnd)
        try await publish(5..<5_000, to: server)
        #expect(try await read(reader, 4_995) == Array(5..<5_000))
        #expect(reader.sequence == 5_000)
        #expect(try await reader.next().isAtEnd)
        await reader.close()
    }

    @Test("A reader begins at a time, or behind the number of an earlier reader")
    func begins() async throws {
        let server = try await NATSServer()
        try NATSClient(port: server.port).createStream()
        let before = SystemClock().wallTime
        try await publish(0..<100, to: server)
        let since = try NATSReader(endpoint(server), from: .since(before))
        #expect(try await read(since, 100) == Array(0..<100))
        let behind = try NATSReader(endpoint(server), from: .behind(60))
        #expect(try await read(behind, 40) == Array(60..<100))
        // A number that the stream has not reached is that of a stream that was deleted.
        let lost = try NATSReader(endpoint(server), from: .behind(1_000))
        #expect(try await read(lost, 100) == Array(0..<100))
        for reader in [since, behind, lost] { await reader.close() }
    }

    @Test("A server that ends is an error, and the reader continues behind what it has returned")
    func outage() async throws {
        let server = try await NATSServer()
        try NATSClient(port: server.port).createStream()
        try await publish(0..<30, to: server)
        let reader = try NATSReader(endpoint(server), from: .behind(0))
        #expect(try await read(reader, 30).count == 30)
        server.end(SIGKILL)
        var failures = 0
        while failures < 2 { do { _ = try await reader.next() } catch { failures += 1 } }
        try await server.start()
        try await publish(30..<60, to: server)
        var numbers: [Int] = []
        while numbers.count < 30 {
            do { numbers += try await read(reader, 30 - numbers.count) } catch { continue }
        }
        #expect(numbers == Array(30..<60))
        await reader.close()
    }

    @Test("Without a stream, the live messages of the subject are read")
    func live() async throws {
        let server = try await NATSServer()
        let reader = try NATSReader(endpoint(server), from: .latest)
        #expect(try await reader.next().values.isEmpty)
        let client = try NATSClient(port: server.port)
        let line = String(decoding: JSONLines.encode([SessionSamples.record(7)]).dropLast(), as: UTF8.self)
        try client.publish("samples", line)
        #expect(try await read(reader, 1) == [7])
        #expect(reader.sequence == nil)
        await reader.close()
    }

    @Test("A refused login is an error without the secret")
    func login() async throws {
        let server = try await NATSServer("authorization { user: \"u\", password: \"right\" }")
        let reader = try NATSReader(endpoint(server, login: NATSLogin(parsing: "u:wrong-secret")), from: .latest)
        do {
            _ = try await reader.next()
            Issue.record("the login is accepted")
        } catch {
            #expect(!error.description.contains("wrong-secret") && error.description.contains("uthorization"))
        }
    }

    @Test(
        "The subject of an acknowledgement says where a message is",
        arguments: [
            ("$JS.ACK.S.c.1.42.7.1700000000.3", StreamPlace(stream: 42, consumer: 7, pending: 3)),
            ("$JS.ACK.hub.acc.S.c.1.42.7.1700000000.3.token", StreamPlace(stream: 42, consumer: 7, pending: 3)),
            ("$JS.ACK.hub.acc.S.c.1.42.7.1700000000.3", StreamPlace(stream: 42, consumer: 7, pending: 3)),
            ("$JS.ACK.S.c.1.42.7", nil), ("$JS.ACK.S.c.1.x.7.1.3", nil), ("_INBOX.a.1", nil), ("", nil),
        ]
    )
    func places(subject: String, expected: StreamPlace?) { #expect(StreamPlace(subject) == expected) }
}
