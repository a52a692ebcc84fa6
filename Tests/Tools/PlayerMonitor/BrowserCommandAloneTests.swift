import Foundation
import LoopbackServers
import TestTraits
import Testing

/// `play --player chrome` with a real Chromium, and pages that play nothing.
@Suite("play with a browser", .serialized, .earlyOnOwnThread, .timeLimit(.minutes(30)))
struct BrowserCommandAloneTests {
    /// Plays pages, in a browser that knows no host but this machine; nil without a browser.
    private func play(_ arguments: [String]) async throws -> CommandResult? {
        guard let program = Chromium.program else {
            print("SKIPPED: play with a browser, because there is no chromium")
            return nil
        }
        let scratch = try Scratch()
        let browser = scratch.path + "/browser.sh"
        let script = """
            #!/bin/sh
            exec "\(program)" "$@" --no-proxy-server --disable-dev-shm-usage "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"

            """
        try script.write(toFile: browser, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: browser)
        let head = [siblingProgram("player-monitor"), "play", "--player", "chrome", "--browser", browser]
        return try await command(head + arguments, environment: Chromium.environment(scratch))
    }

    private func serve(_ body: String) throws -> TestServer {
        let film = try Array(Data(contentsOf: URL(fileURLWithPath: BadMedia.sound.path)))
        return try TestServer { request in
            if request.target == "/film.mp4" { return [.respond("200 OK", film, "Content-Type: video/mp4")] }
            guard request.target == "/" else { return [.respond("404 Not Found", Array("<p>Nothing here".utf8))] }
            return [.respond("200 OK", Array("<!doctype html>\(body)".utf8), "Content-Type: text/html")]
        }
    }

    @Test(
        "A page that cannot be opened ends the run at once, with its reason and exit code 1",
        arguments: ["HTTP 404", "ERR_NAME_NOT_RESOLVED", "ERR_CONNECTION_REFUSED"]
    )
    func unreachable(reason: String) async throws {
        let server = try serve("")
        let address =
            switch reason {
            case "HTTP 404": server.url("/missing?token=secret")
            case "ERR_NAME_NOT_RESOLVED": "http://nowhere.invalid/?token=secret"
            default: "http://127.0.0.1:\(try TestServer.closedPort())/?token=secret"
            }
        // A run that waits would exceed the limit of the suite.
        guard let result = try await play(["--timeout", "3600s", address]) else { return }
        #expect(result.status == 1 && result.errors.contains(reason), "\(result)")
        #expect(!result.errors.contains("secret") && !result.errors.contains("was asked to play"), "\(result)")
    }

    @Test(
        "A page that plays nothing is waited for, and the run says what is missing",
        arguments: [
            ("<p>A text", "loads no media yet", "has loaded no media"),
            ("<video src='/film.mp4'></video>", "asks nothing to play yet", "waits for a person's click"),
        ]
    )
    func silent(page: String, note: String, error: String) async throws {
        let server = try serve(page)
        guard let result = try await play(["--timeout", "20s", server.url()]) else { return }
        #expect(result.status == 1 && result.errors.contains(note) && result.errors.contains(error), "\(result)")
    }
}
