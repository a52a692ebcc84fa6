import Instrument
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentVLCRemote

@Suite("Questions to a VLC in another process", .ownThread)
struct SessionTests {
    private func player(
        at port: UInt16,
        waits: Bool = false,
        timeout: Duration = .seconds(1_800),
        report: @escaping @Sendable (VLCRemoteDiagnostic) -> Void = { _ in }
    ) throws -> VLCRemotePlayer {
        let configuration = VLCRemoteConfiguration(
            waitsForPlayer: waits,
            interval: .milliseconds(10),
            retryDelay: .milliseconds(10),
            answerTimeout: timeout
        )
        return try VLCRemotePlayer(
            at: "127.0.0.1:\(port)",
            password: "secret",
            configuration: configuration,
            report: report
        )
    }

    @Test("A playback is measured with its address, without the secrets of the address")
    func plays() async throws {
        let clock = SystemClock()
        let begin = clock.now
        let server = try TestServer { request in
            guard request.header("Authorization") == "Basic OnNlY3JldA==" else { return [.respond("401 Unauthorized")] }
            if request.target.contains("playlist") { return [.respond("200 OK", Array(AnsweringVLC.playlist.utf8))] }
            let played = begin.duration(to: clock.now).seconds
            let state = played < 0.1 ? "stopped" : "playing"
            let (position, decoded) = (min(1, played / 20), Int(played * 25) + 50)
            return [.respond("200 OK", Array(AnsweringVLC.status(state, position: position, decoded: decoded).utf8))]
        }
        let player = try player(at: server.port)
        let signals = Lock<[PlayerSignal]>([])
        let started = Gate()
        player.report { signal in
            signals.withLock { $0.append(signal) }
            if signal.action == .start { started.open() }
        }
        player.connect()
        await started.wait()
        #expect(player.isConnected && player.isPlaying && player.status.title == "Film")
        player.close()
        #expect(await player.waitUntilGone() == .closed)
        let seen = signals.withLock { $0 }
        #expect(seen.first?.action == .streamLoad && seen.last?.action == .detach)
        #expect(seen.first?.status?.source == "http://127.0.0.1/film.mp4")
        #expect(!seen.contains { "\($0)".contains("token") })
    }

    @Test(
        "A wrong password, no password, and servers that are no VLC end with the reason, and the reason has no secret",
        arguments: [
            ("401 Unauthorized", "", "--http-password"), ("403 Forbidden", "", "--http-password"),
            ("200 OK", "<html>", "not JSON"), ("200 OK", "{}", "no state"), ("404 Not Found", "", "status 404"),
            ("200 OK", String(repeating: "[", count: 1 << 20), "longer than"),
        ]
    )
    func strangers(status: String, body: String, words: String) async throws {
        let server = try TestServer { _ in [.respond(status, Array(body.utf8))] }
        let player = try player(at: server.port)
        player.connect()
        guard case .notThere(let reason) = await player.waitUntilGone() else {
            Issue.record("a stranger was taken for VLC")
            return
        }
        #expect(reason.contains(words) && reason.contains("127.0.0.1:\(server.port)"))
        #expect(!reason.contains("OnNlY3JldA"))
    }

    @Test("A server that answers nothing, or bytes without an end, does not hold the session longer than its limit")
    func hangs() async throws {
        let half = Array("HTTP/1.1 200 OK\r\n".utf8)
        for steps: [TestServer.Step] in [[.hang], [.sendWithoutEnd()], [.send(half), .hang]] {
            let server = try TestServer { _ in steps }
            let player = try player(at: server.port, timeout: .milliseconds(200))
            player.connect()
            guard case .notThere = await player.waitUntilGone() else {
                Issue.record("a silent server was taken for VLC")
                return
            }
        }
    }

    @Test("Nobody at the port is reported once while the player is waited for, and a close ends the wait")
    func nobody() async throws {
        let notices = Lock<[VLCRemoteDiagnostic.Kind]>([])
        let port = try TestServer.closedPort()
        let player = try player(at: port, waits: true) { notice in notices.withLock { $0.append(notice.kind) } }
        player.connect()
        try await Task.sleep(for: .milliseconds(100))
        player.close()
        #expect(await player.waitUntilGone() == .closed)
        #expect(notices.withLock { $0 } == [.notThere])
        let other = try self.player(at: port)
        other.connect()
        guard case .notThere = await other.waitUntilGone() else {
            Issue.record("nobody was taken for VLC")
            return
        }
    }

    @Test("A player that goes in the middle ends its playback with a Stop; answers that are broken once end nothing")
    func goes() async throws {
        let clock = SystemClock()
        let begin = clock.now
        let asked = Lock(0)
        let notices = Lock<[VLCRemoteDiagnostic.Kind]>([])
        let signals = Lock<[Action]>([])
        let started = Gate()
        var server: TestServer? = try TestServer { request in
            if request.target.contains("playlist") { return [.respond("200 OK", Array(AnsweringVLC.playlist.utf8))] }
            let count = asked.withLock { count in
                count += 1
                return count
            }
            if count == 2 { return [.respond("200 OK", Array("{\"sta".utf8))] }
            let played = begin.duration(to: clock.now).seconds
            let (position, decoded) = (min(1, played / 20), Int(played * 25) + 50)
            let status = AnsweringVLC.status("playing", position: position, decoded: decoded)
            return [.respond("200 OK", Array(status.utf8))]
        }
        let player = try player(at: try #require(server).port) { notice in notices.withLock { $0.append(notice.kind) } }
        player.report { signal in
            signals.withLock { $0.append(signal.action) }
            if signal.action == .start { started.open() }
        }
        player.connect()
        await started.wait()
        server = nil
        guard case .playerWentAway = await player.waitUntilGone() else {
            Issue.record("the player has not gone")
            return
        }
        #expect(signals.withLock { $0 } == [.streamLoad, .start, .stop])
        #expect(notices.withLock { $0 } == [.connected, .joinedLate, .badAnswer, .disconnected])
    }

    @Test("An address is PORT or HOST:PORT", arguments: ["", "host", "0", "70000", "a:b", "-1", "127.0.0.1:"])
    func addresses(text: String) {
        #expect(throws: VLCRemoteError.self) { try VLCRemotePlayer(at: text, password: "x") }
    }
}
