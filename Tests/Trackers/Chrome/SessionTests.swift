import Instrument
import InstrumentJSON
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentChrome

/// Peers that are no browser, or a browser that lies.
@Suite("The connection to a browser", .ownThread)
struct SessionTests {
    private func browser(
        at server: TestServer,
        timeout: Duration,
        report: @escaping @Sendable (ChromeDiagnostic) -> Void = { _ in }
    ) throws -> ChromeBrowser {
        let configuration = ChromeConfiguration(connectTimeout: timeout, maxMessageLength: 1 << 16)
        return try ChromeBrowser(at: "127.0.0.1:\(server.port)", configuration: configuration, report: report)
    }

    /// A server that opens a WebSocket and then does the steps.
    private func webSocket(_ steps: [TestServer.Step]) throws -> TestServer {
        try TestServer { request in
            guard let key = request.header("Sec-WebSocket-Key") else {
                let place = request.header("Host") ?? ""
                let body = Array(#"{"webSocketDebuggerUrl":"ws://\#(place)/devtools/browser/1"}"#.utf8)
                return [.respond("200 OK", body)]
            }
            let head = [
                "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Accept: \(WebSocketHandshake.acceptance(of: key))",
            ]
            return [.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8))] + steps
        }
    }

    private static func text(_ content: String) -> [UInt8] {
        let bytes = Array(content.utf8)
        return [0x81, 127] + (0..<8).reversed().map { UInt8(bytes.count >> (8 * $0) & 255) } + bytes
    }

    @Test("A close ends an attempt to connect to a peer that does not answer at once")
    func closedWhileConnecting() async throws {
        let clock = SystemClock()
        let asked = Gate()
        let server = try TestServer { _ in
            asked.open()
            return [.hang]
        }
        let browser = try browser(at: server, timeout: .seconds(1_800))
        browser.connect { _ in }
        await asked.wait()
        let begin = clock.now
        browser.close()
        #expect(await browser.waitUntilGone() == .closed)
        #expect(server.connectionCount == 1)
        if MachineLoad().allowsJudging("how long a close takes") {
            #expect(begin.duration(to: clock.now) < .seconds(60))
        }
    }

    @Test("A peer that opens the WebSocket and says nothing is no browser")
    func silent() async throws {
        let server = try webSocket([.wait(.seconds(60))])
        let browser = try browser(at: server, timeout: .milliseconds(500))
        browser.connect { _ in }
        guard case .notThere(let reason) = await browser.waitUntilGone() else {
            Issue.record("a silent peer was taken for a browser")
            return
        }
        #expect(reason.contains("answers nothing within 0.5 s") && server.connectionCount == 2)
    }

    @Test(
        "Answers that nobody asked for, broken JSON and messages without an end are left out, and reported once",
        arguments: [
            #"{"id":-9223372036854775808,"result":{"object":{"objectId":"x"}}}"#, "{]", #"{"method":7}"#, "[]", "",
            #"{"method":"Target.attachedToTarget","params":{"sessionId":7,"targetInfo":[]}}"#,
            #"{"method":"Runtime.bindingCalled","sessionId":"none","params":{"payload":"{}"}}"#,
            #"{"method":"Target.attachedToTarget","params":{"sessionId":"s","targetInfo":{"type":"page"}}}"#,
            String(repeating: "[", count: 60_000), String(repeating: "x", count: 1 << 20),
        ]
    )
    func lies(message: String) async throws {
        let lies = Array(repeating: Self.text(message), count: 50).flatMap { $0 }
        let server = try webSocket([.send(lies), .close])
        let notices = Lock<[ChromeDiagnostic.Kind]>([])
        let browser = try browser(at: server, timeout: .seconds(1_800)) { notice in
            notices.withLock { $0.append(notice.kind) }
        }
        let players = Lock(0)
        browser.connect { _ in players.withLock { $0 += 1 } }
        switch await browser.waitUntilGone() {
        case .browserWentAway, .notThere: break
        case .closed: Issue.record("the connection was not lost")
        }
        #expect(players.withLock { $0 } == 0)
        #expect(notices.withLock { $0.count { $0 == .badMessage } } <= 1)
    }
}
