import Instrument
import InstrumentTestKit
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@Suite("Streamed bodies", .ownThread, .timeLimit(.minutes(30)))
struct ReceivingTests {
    @Test("A successful body arrives in pieces, and the response has none")
    func pieces() async throws {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n".utf8)
        let server = try TestServer { _ in
            [.send(head), .send(Array("abc".utf8)), .wait(.milliseconds(50)), .send(Array("def".utf8))]
        }
        let (pieces, machine) = (Lock([[UInt8]]()), MachineLoad())
        let response = try await SystemTransport().send(HTTPRequest(.get, try HTTPURL(server.url()))) { bytes in
            pieces.withLock { $0.append(Array(bytes)) }
        }
        #expect(response.status == 200)
        #expect(response.body.isEmpty)
        #expect(pieces.withLock { $0.flatMap { $0 } } == Array("abcdef".utf8))
        // A transport that runs late has both pieces at once.
        if machine.allowsJudging("in how many pieces the body came") { #expect(pieces.withLock { $0.count } > 1) }
    }

    @Test("The body of a failure or of a redirect is part of the response")
    func failures() async throws {
        let server = try TestServer { request in
            request.target == "/moved"
                ? [.respond("302 Found", Array("gone".utf8), "Location: /there")]
                : [.respond("404 Not Found", Array("no".utf8))]
        }
        let received = Lock(0)
        var request = HTTPRequest(.get, try HTTPURL(server.url("/moved")))
        request.redirects = .follow(atMost: 2)
        let response = try await SystemTransport().send(request) { bytes in received.withLock { $0 += bytes.count } }
        #expect(response.status == 404)
        #expect(response.body == Array("no".utf8))
        #expect(received.withLock { $0 } == 0)
    }

    @Test(
        "The announced size of a body comes before its first piece",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcdef", "expect 6, abcdef"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n", "abcdef"),
            ("HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\n\r\nabcdef", ""),
        ]
    )
    func announced(answer: String, expected: String) async throws {
        let server = try TestServer { _ in [.send(Array(answer.utf8)), .close] }
        let order = Lock([String]())
        _ = try await SystemTransport().send(
            HTTPRequest(.get, try HTTPURL(server.url())),
            expecting: { size in order.withLock { $0.append("expect \(size)") } },
            receiving: { bytes in order.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } }
        )
        #expect(order.withLock { $0.joined(separator: ", ") } == expected)
    }

    @Test("The size of an encoded body is not announced")
    func encoded() async throws {
        let url = try HTTPURL("http://127.0.0.1/")
        let body = HTTPRequest(.post, url, body: [UInt8](repeating: 1, count: 1000)).gzipped().body
        let server = try TestServer { _ in [.respond("200 OK", body, "Content-Encoding: gzip")] }
        let (announced, received) = (Lock([Int]()), Lock(0))
        _ = try await SystemTransport().send(
            HTTPRequest(.get, try HTTPURL(server.url())),
            expecting: { size in announced.withLock { $0.append(size) } },
            receiving: { bytes in received.withLock { $0 += bytes.count } }
        )
        // URLSession decodes the body.
        #expect(announced.withLock { $0 }.isEmpty && received.withLock { $0 } >= body.count)
    }

    @Test("A body that comes without a pause delays no other request", .without(.turns))
    func turns() async throws {
        let endless = try TestServer { _ in
            [.send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8)), .sendWithoutEnd(pause: .zero)]
        }
        let other = try TestServer { _ in [.respond("200 OK")] }
        let (transport, hasBegun) = (try SystemTransport(), Gate())
        var request = HTTPRequest(.get, try HTTPURL(endless.url()), maxResponseBytes: .max)
        request.timeout = .seconds(1800)
        let download = Task { [request] in
            try await transport.send(request) { _ in hasBegun.open() }
        }
        await hasBegun.wait()
        for _ in 0..<20 {
            let answer = try await transport.send(HTTPRequest(.get, try HTTPURL(other.url()), timeout: .seconds(900)))
            #expect(answer.status == 200)
        }
        download.cancel()
        await #expect(throws: HTTPError.self) { try await download.value }
    }

    @Test("The limit applies to streamed bodies")
    func limit() async throws {
        let server = try TestServer { _ in [.respond("200 OK", [UInt8](repeating: 1, count: 100_000))] }
        let received = Lock(0)
        let request = HTTPRequest(.get, try HTTPURL(server.url()), maxResponseBytes: 1000)
        await #expect(throws: HTTPError.self) {
            try await SystemTransport().send(request) { bytes in received.withLock { $0 += bytes.count } }
        }
        #expect(received.withLock { $0 } <= 1000)
    }
}
