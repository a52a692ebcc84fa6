import Instrument
import InstrumentSockets
import InstrumentTestKit
import InstrumentText
import Testing

@testable import InstrumentNATS

@Suite("NATS protocol")
struct NATSProtocolTests {
    private static let stream =
        "INFO {\"max_payload\":1048576}\r\nPING\r\n+OK\r\nmsg a.b 1 5\r\nhello\r\nMSG a 1 reply 2\r\n\r\n\r\n"
        + "HMSG _INBOX.x.1 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\nHMSG a 1 r 12 14\r\nNATS/1.0\r\n\r\nhi\r\nPONG\r\n"
        + "-ERR 'Authorization Violation'\r\n"
    private static let messages: [ServerMessage] = [
        .info(Array("{\"max_payload\":1048576}".utf8)), .ping, .ok,
        .message(subject: "a.b", status: nil, payload: Array("hello".utf8)),
        .message(subject: "a", reply: "reply", status: nil, payload: [0x0D, 0x0A]),
        .message(subject: "_INBOX.x.1", status: 503, payload: []),
        .message(subject: "a", reply: "r", status: nil, payload: Array("hi".utf8)), .pong,
        .error("Authorization Violation"),
    ]

    @Test("Messages are read whatever the pieces are in which they come", arguments: [1, 2, 3, 7, 16, 1000])
    func pieces(size: Int) throws {
        var parser = ServerMessageParser()
        var read: [ServerMessage] = []
        var rest = Array(Self.stream.utf8)[...]
        while !rest.isEmpty {
            parser.feed(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
            while let message = try parser.next() { read.append(message) }
        }
        #expect(read == Self.messages)
    }

    @Test(
        "Bytes that are no message are an error",
        arguments: [
            "HTTP/1.1 200 OK\r\n", "\r\n", "MSG\r\n", "MSG a 1\r\n", "MSG a 1 -1\r\n", "MSG a 1 99999999999\r\n",
            "MSG a 1 9223372036854775808\r\n", "HMSG a 1 5 3\r\n12345\r\n", "HMSG a 1 -1 3\r\n123\r\n",
            "MSG a 1 2\r\nhello\r\n", "MSG a 1 2\r\nh",
        ]
    )
    func noMessages(text: String) {
        var parser = ServerMessageParser()
        parser.feed(Array((text + "xxxxxxxx\r\n").utf8))
        #expect(throws: ProtocolError.self) { while try parser.next() != nil {} }
    }

    @Test("A line without an end is an error instead of a growing buffer")
    func endlessLine() {
        var parser = ServerMessageParser()
        #expect(throws: ProtocolError.self) {
            for _ in 0..<10_000 {
                parser.feed([UInt8](repeating: UInt8(ascii: "x"), count: 1024))
                _ = try parser.next()
            }
        }
    }

    @Test("Random bytes never trap")
    func randomBytes() {
        var generator = SeededGenerator(seed: .random(in: 0...0xFFFF))
        let base = Array(Self.stream.utf8)
        for _ in 0..<2000 {
            var bytes = base
            for _ in 0..<(generator.next() % 8) {
                bytes[Int(generator.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: generator.next())
            }
            var parser = ServerMessageParser()
            parser.feed(bytes)
            while let message = try? parser.next() { if case .info(let json) = message { _ = ServerInfo(json) } }
        }
    }

    @Test("A server's information is read, and lists of servers are bounded")
    func information() {
        #expect(ServerInfo(Array("[]".utf8)) == nil && ServerInfo(Array("x".utf8)) == nil)
        let urls = (0..<200).map { "\"10.0.0.\($0):4222\"" }.joined(separator: ",")
        let text =
            "{\"max_payload\":10,\"headers\":true,\"tls_available\":true,\"ldm\":true,\"nonce\":\"n\",\"connect_urls\":[\(urls),\"::\"]}"
        let info = ServerInfo(Array(text.utf8))
        #expect(info?.maxPayload == 10 && info?.hasHeaders == true && info?.nonce == "n")
        #expect(info?.offersTLS == true && info?.requiresTLS == false && info?.isLeaving == true)
        #expect(info?.servers.count == 64 && info?.servers.first?.description == "10.0.0.0:4222")
        #expect(ServerInfo(Array("{\"max_payload\":-1}".utf8))?.maxPayload == 1 << 20)
    }

    @Test("An answer is a confirmation, a refusal, or a reason to retry")
    func answers() {
        let answer = { (text: String) in PublishAnswer(status: nil, payload: Array(text.utf8), secrets: ["secret"]) }
        #expect(answer(#"{"stream":"S","seq":1}"#) == .stored)
        #expect(answer(#"{"stream":"S","seq":1,"duplicate":true}"#) == .stored)
        #expect(
            answer(#"{"error":{"code":400,"err_code":10054,"description":"too\nlarge secret"},"stream":"S","seq":0}"#)
                == .refused("JetStream 400, error 10054: too large …")
        )
        #expect(answer(#"{"error":{"code":503,"description":"full"}}"#) == .temporary("JetStream 503: full"))
        #expect(answer(#"{"error":{}}"#) == .temporary("JetStream 500: no description"))
        #expect(answer(#"{"error":{"code":403,"description":"no"}}"#) == .unauthorized("JetStream 403: no"))
        #expect(answer(#"{"error":{"code":429,"description":"no"}}"#) == .temporary("JetStream 429: no"))
        for text in ["", "+OK", "{}", "[]"] {
            #expect(answer(text) == .temporary("the server sent an answer that is no confirmation of JetStream"))
        }
        if case .unauthorized = PublishAnswer(status: 503, payload: [], secrets: []) {} else { Issue.record("503") }
    }

    @Test(
        "Servers are tried in turn, the one that worked first, and a cluster's addresses have the cluster's certificate"
    )
    func pool() throws {
        let endpoint = try NATSEndpoint(servers: ["a.example", "b.example:1"], subject: "s")
        let (a, b) = (endpoint.addresses[0], endpoint.addresses[1])
        var pool = ServerPool(endpoint.addresses)
        #expect(pool.candidates == [a, b])
        let info = try #require(ServerInfo(Array(#"{"connect_urls":["a.example:4222","10.0.0.1:4222"]}"#.utf8)))
        pool.connected(to: b, reporting: info.servers)
        #expect(pool.candidates.map(\.description) == ["b.example:1", "10.0.0.1:4222", "a.example:4222"])
        #expect(pool.certificateName(of: pool.candidates[1]) == "a.example")
        #expect(pool.certificateName(of: b) == "b.example")
        pool.left(b)
        #expect(pool.candidates.map(\.description) == ["10.0.0.1:4222", "a.example:4222", "b.example:1"])
    }
}
