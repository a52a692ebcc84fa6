import Foundation
import Instrument
import InstrumentBackends
import InstrumentNATS
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@Suite(
    "NATS backend with a real server",
    .ownThread,
    .timeLimit(.minutes(30)),
    .enabled(if: NATSServer.isInstalled, "scripts/install-servers.sh installs nats-server")
)
struct NATSBackendTests {
    /// Long enough for a busy machine.
    private static let patience = Duration.seconds(300)

    private func backend(
        _ servers: [NATSServer],
        timeout: Duration = patience,
        login: NATSLogin? = nil,
        _ change: (inout NATSConfiguration) -> Void = { _ in }
    ) throws -> NATSBackend {
        var configuration = NATSConfiguration(timeout: timeout)
        change(&configuration)
        let endpoint = try NATSEndpoint(servers: servers.map(\.address), subject: "samples", login: login)
        return try NATSBackend(endpoint, configuration: configuration)
    }

    private func reason(_ outcome: DeliveryOutcome) -> String {
        switch outcome {
        case .retry(_, let reason), .unauthorized(let reason): reason
        default: "\(outcome)"
        }
    }

    @Test("The backend keeps the promises of the backend contract")
    func contract() async throws {
        let server = try await NATSServer()
        try NATSClient(port: server.port).createStream()
        try await BackendContract.check {
            try backend([server])
        } arrived: {
            try NATSClient(port: server.port).stored().compactMap(\.id)
        }
    }

    @Test("A message has the sample's JSON as its payload, and identifier and schema as headers")
    func message() async throws {
        let server = try await NATSServer()
        let client = try NATSClient(port: server.port)
        try client.createStream()
        let backend = try backend([server])
        let batch = SessionSamples.batch(0..<3)
        #expect(await backend.deliver(batch) == .acknowledged)
        let stored = try client.stored()
        #expect(try stored.map { try JSONLines.decode($0.payload) } == batch.records)
        #expect(stored.allSatisfy { $0.subject == "samples" && !$0.payload.contains(UInt8(ascii: "\n")) })
        let expected =
            "NATS/1.0\r\nNats-Msg-Id: \(SessionSamples.id(1))\r\nschema: instrument-sample/1\r\ntype: event\r\n\r\n"
        #expect(stored.dropFirst().first?.headers == expected)
        await backend.end()
    }

    @Test("Headers name the stream, the location and the labels of a monitor, and a line break adds no header")
    func monitorHeaders() async throws {
        let server = try await NATSServer()
        let client = try NATSClient(port: server.port)
        try client.createStream()
        let backend = try backend([server])
        let attributes: Attributes = [
            "monitorStream": "news\r\nX: y", "monitorLocation": "Zürich", "monitorLabels": ["c d:n": "alpha"],
        ]
        let event = Event(.start, tracker: TrackerID(1), time: SessionSamples.time(9), attributes: attributes)
        let record = SampleRecord(id: SessionSamples.id(1), sequence: 1, sample: .event(event))
        #expect(await backend.deliver(Batch(records: [record])) == .acknowledged)
        let stored = try #require(try client.stored().first)
        #expect(
            stored.headers.hasSuffix(
                "type: event\r\nstream: news  X: y\r\nlocation: Zürich\r\nlabel.c-d-n: alpha\r\n\r\n"
            ),
            "\(stored.headers)"
        )
        #expect(try JSONLines.decode(stored.payload) == record)
        await backend.end()
    }

    @Test(
        "A mapping replaces the message of a sample, or leaves the sample out; an impossible subject is a dead letter"
    )
    func mapping() async throws {
        let server = try await NATSServer()
        let client = try NATSClient(port: server.port)
        try client.createStream("samples.>")
        let backend = try backend([server]) { configuration in
            configuration.mapping = { record in
                let subject = ["samples.a", "no subject", "samples.*"][Int(record.sequence % 3)]
                let header = NATSMessage.Header("a b", "x\r\ny")
                return record.sequence == 3
                    ? nil : NATSMessage(subject: subject, payload: Array("\(record.sequence)".utf8), headers: [header])
            }
        }
        guard case .acknowledgedExcept(let refused) = await backend.deliver(SessionSamples.batch(0..<4)) else {
            throw NoServer(why: "refused")
        }
        #expect(Set(refused.keys) == [SessionSamples.id(1), SessionSamples.id(2)])
        let stored = try client.stored()
        #expect(stored.map(\.subject) == ["samples.a"] && stored.first?.headers.contains("a-b: x  y\r\n") == true)
    }

    @Test("Messages are stored once and in their order, however few may be under way", arguments: [1, 3, 512])
    func order(maxUnconfirmed: Int) async throws {
        let server = try await NATSServer()
        let client = try NATSClient(port: server.port)
        try client.createStream()
        let backend = try backend([server]) { $0.maxUnconfirmed = maxUnconfirmed }
        for start in 0..<3 {
            #expect(await backend.deliver(SessionSamples.batch(start * 200..<(start + 1) * 200)) == .acknowledged)
        }
        // As after a lost response.
        #expect(await backend.deliver(SessionSamples.batch(400..<600)) == .acknowledged)
        #expect(try client.stored().compactMap(\.number) == Array(0..<600))
    }

    // MARK: Refusals

    @Test("A message above the server's max_payload or the stream's limit is a dead letter, and the others are stored")
    func largeMessages() async throws {
        let server = try await NATSServer("max_payload: 8192")
        let client = try NATSClient(port: server.port)
        try client.createStream("samples", ",\"max_msg_size\":4096")
        let backend = try backend([server])
        let texts = [1: 5000, 2: 20_000].mapValues { String(repeating: "x", count: $0) }
        let records = (0..<5).map { SessionSamples.record($0, session: "s", text: texts[$0] ?? "film") }
        guard case .acknowledgedExcept(let refused) = await backend.deliver(Batch(records: records)) else {
            throw NoServer(why: "refused")
        }
        #expect(Set(refused.keys) == [SessionSamples.id(1), SessionSamples.id(2)])
        #expect(refused[SessionSamples.id(1)]?.contains("message size exceeds maximum allowed") == true)
        #expect(refused[SessionSamples.id(2)]?.contains("max_payload is 8192") == true)
        #expect(try client.stored().compactMap(\.number) == [0, 3, 4])
    }

    @Test("A subject without a stream leads to a long back-off, and samples arrive once there is a stream")
    func noStream() async throws {
        let server = try await NATSServer()
        let backend = try backend([server])
        guard case .unauthorized(let reason) = await backend.deliver(SessionSamples.batch(0..<300)) else {
            throw NoServer(why: "accepted")
        }
        #expect(reason.contains("create a stream"))
        let client = try NATSClient(port: server.port)
        try client.createStream()
        #expect(await backend.deliver(SessionSamples.batch(0..<300)) == .acknowledged)
        #expect(try client.stored().compactMap(\.number) == Array(0..<300))
    }

    @Test("A full stream leads to a retry, and what was stored is not stored again")
    func fullStream() async throws {
        let server = try await NATSServer()
        let client = try NATSClient(port: server.port)
        // A window that is over at the retry, so that the server removes no copies.
        try client.createStream("samples", ",\"max_msgs\":10,\"discard\":\"new\",\"duplicate_window\":100000000")
        let backend = try backend([server])
        guard case .retry(nil, let reason) = await backend.deliver(SessionSamples.batch(0..<15)) else {
            throw NoServer(why: "accepted")
        }
        #expect(reason.contains("maximum messages exceeded"))
        let first = try client.stored().compactMap(\.number)
        #expect(first == Array(0..<10))
        _ = try client.request("$JS.API.STREAM.PURGE.TEST")
        try await Task.sleep(for: .milliseconds(300))
        #expect(await backend.deliver(SessionSamples.batch(0..<15)) == .acknowledged)
        #expect(try client.stored().compactMap(\.number) == Array(10..<15))
    }

    // MARK: Servers that fail

    @Test("A server that was started again gets the next batch")
    func restart() async throws {
        let server = try await NATSServer()
        try NATSClient(port: server.port).createStream()
        let backend = try backend([server])
        for round in 0..<3 {
            #expect(await backend.deliver(SessionSamples.batch(round * 10..<(round + 1) * 10)) == .acknowledged)
            server.end(round == 1 ? SIGKILL : SIGTERM)
            guard case .retry = await backend.deliver(SessionSamples.batch(90..<91)) else {
                throw NoServer(why: "accepted")
            }
            try await server.start()
        }
        #expect(await backend.deliver(SessionSamples.batch(30..<40)) == .acknowledged)
        #expect(try NATSClient(port: server.port).stored().compactMap(\.number) == Array(0..<40))
    }

    @Test("The next server gets the batch when a server has ended, and the endpoint's order does not matter")
    func failover() async throws {
        let servers = [try await NATSServer(), try await NATSServer()]
        for server in servers { try NATSClient(port: server.port).createStream() }
        let backend = try backend(servers)
        #expect(await backend.deliver(SessionSamples.batch(0..<10)) == .acknowledged)
        servers[0].end(SIGTERM)
        #expect(await backend.deliver(SessionSamples.batch(10..<20)) == .acknowledged)
        try await servers[0].start()
        servers[1].end(SIGKILL)
        #expect(await backend.deliver(SessionSamples.batch(20..<30)) == .acknowledged)
        try await servers[1].start()
        let stored = try servers.map { try NATSClient(port: $0.port).stored().compactMap(\.number) }
        #expect(stored == [Array(0..<10) + Array(20..<30), Array(10..<20)])
    }

    @Test("Servers that the cluster reports get the batch when the configured one leaves or ends")
    func cluster() async throws {
        let ports = try (0..<3).map { _ in try TestServer.closedPort() }
        let routes = ports.map { "nats://127.0.0.1:\($0)" }.joined(separator: ", ")
        var servers: [NATSServer] = []
        for (number, port) in ports.enumerated() {
            let cluster = "cluster { name: C, listen: \"127.0.0.1:\(port)\", routes: [\(routes)] }"
            servers.append(try await NATSServer("server_name: s\(number)\n\(cluster)"))
        }
        // The servers elect a leader first, and answer no request before.
        while true {
            do {
                try NATSClient(port: servers[1].port, patience: 1).createStream(replicas: 3)
                break
            } catch { try await Task.sleep(for: .milliseconds(100)) }
        }
        let backend = try backend([servers[0]])
        while await backend.deliver(SessionSamples.batch(0..<100)) != .acknowledged {}
        // SIGUSR2 asks the server to leave: it tells its clients, and closes their connections later.
        servers[0].send(SIGUSR2)
        while await backend.deliver(SessionSamples.batch(100..<200)) != .acknowledged {}
        servers[0].end(SIGKILL)
        while await backend.deliver(SessionSamples.batch(200..<300)) != .acknowledged {}
        #expect(try NATSClient(port: servers[1].port).stored().compactMap(\.number) == Array(0..<300))
    }

    @Test("A server that does not answer leads to a retry after the timeout, a cancelled delivery to a retry at once")
    func stopped() async throws {
        let server = try await NATSServer()
        try NATSClient(port: server.port).createStream()
        let hasty = try backend([server], timeout: .milliseconds(300))
        let patient = try backend([server])
        while await hasty.deliver(SessionSamples.batch(0..<1)) != .acknowledged {}
        #expect(await patient.deliver(SessionSamples.batch(0..<1)) == .acknowledged)
        server.send(SIGSTOP)
        #expect(reason(await hasty.deliver(SessionSamples.batch(1..<2))).contains("does not confirm messages in time"))
        #expect(reason(await hasty.deliver(SessionSamples.batch(1..<2))).contains("does not introduce itself in time"))
        let delivery = Task { await patient.deliver(SessionSamples.batch(2..<3)) }
        delivery.cancel()
        #expect(reason(await delivery.value).contains("cancelled"))
        server.send(SIGCONT)
        while await hasty.deliver(SessionSamples.batch(1..<3)) != .acknowledged {}
        #expect(await patient.deliver(SessionSamples.batch(2..<4)) == .acknowledged)
        #expect(Set(try NATSClient(port: server.port).stored().compactMap(\.number)) == Set(0..<4))
    }

    @Test("No server, and a server of another protocol, lead to a retry that names them")
    func noServer() async throws {
        let port = try TestServer.closedPort()
        let nowhere = try NATSBackend(NATSEndpoint(servers: ["127.0.0.1:\(port)"], subject: "samples"))
        #expect(reason(await nowhere.deliver(SessionSamples.batch(0..<1))).contains("127.0.0.1:\(port)"))
        let other = try TestServer(greeting: Array("220 smtp.example.org ESMTP\r\n".utf8)) { _ in [] }
        let backend = try NATSBackend(NATSEndpoint(servers: ["127.0.0.1:\(other.port)"], subject: "samples"))
        #expect(reason(await backend.deliver(SessionSamples.batch(0..<1))).contains("unknown message"))
    }

    // MARK: Logins

    @Test("A token opens the connection, and a wrong token leads to a long back-off without showing it")
    func token() async throws {
        let server = try await NATSServer("authorization { token: \"right-token\" }")
        try NATSClient(port: server.port, options: "\"auth_token\":\"right-token\"").createStream()
        try await check(server, right: .token("right-token"), wrong: .token("wrong-token"))
    }

    @Test("A user with a password opens the connection")
    func password() async throws {
        let server = try await NATSServer("authorization { user: \"writer\", password: \"right-password\" }")
        try NATSClient(port: server.port, options: "\"user\":\"writer\",\"pass\":\"right-password\"").createStream()
        try await check(
            server,
            right: .password(user: "writer", "right-password"),
            wrong: .password(user: "writer", "wrong-password")
        )
    }

    @Test("A key opens the connection by a signature")
    func key() async throws {
        let right = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
        let server = try await NATSServer(
            """
            authorization { users = [
                { nkey: "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4" }
                { user: "admin", password: "secret" }
            ] }
            """
        )
        try NATSClient(port: server.port, options: "\"user\":\"admin\",\"pass\":\"secret\"").createStream()
        try await check(
            server,
            right: .nkey(seed: right),
            wrong: .nkey(seed: "SUAMK2FG4MI6UE3ACF3FK3OIQBCEIEZV7NSWFFEW63UXMRLFM2XLAXK4GY")
        )
    }

    private func check(_ server: NATSServer, right: NATSLogin, wrong: NATSLogin) async throws {
        #expect(await (try backend([server], login: right)).deliver(SessionSamples.batch(0..<10)) == .acknowledged)
        for login in [wrong, nil] {
            let outcome = await (try backend([server], login: login)).deliver(SessionSamples.batch(10..<11))
            guard case .unauthorized(let reason) = outcome else { throw NoServer(why: "\(outcome)") }
            #expect(reason.contains("Authorization Violation") && !reason.contains("wrong-"))
        }
    }

    @Test("A user who must not publish to the subject leads to a long back-off")
    func permissions() async throws {
        let server = try await NATSServer(
            """
            authorization { users = [
                { user: "reader", password: "secret", permissions: { publish: { deny: ["samples"] } } }
            ] }
            """
        )
        let backend = try backend([server], login: .password(user: "reader", "secret"))
        guard case .unauthorized(let reason) = await backend.deliver(SessionSamples.batch(0..<3)) else {
            throw NoServer(why: "accepted")
        }
        #expect(reason.contains("Permissions Violation"))
    }
}
