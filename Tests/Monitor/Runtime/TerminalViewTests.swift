import Foundation
import Instrument
import InstrumentJSON
import InstrumentOrigin
import LoopbackServers
import TestTraits
import Testing

/// The terminal view in a real terminal, tmux, whose screen and keys a test can read and press.
@Suite(
    "The terminal view in tmux",
    .serialized,
    .earlyOnOwnThread,
    .enabled(if: installedProgram("tmux") != nil, "SKIPPED: there is no tmux")
)
struct TerminalViewTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Performs a command of tmux in a server of this test alone.
    ///
    /// With `-N`, a client starts no server: as a daemon, the server would keep open what `Process` waits for, and the
    /// command would never end.
    private func tmux(_ arguments: String...) async throws -> CommandResult {
        try await command(
            [try #require(installedProgram("tmux")), "-N", "-S", scratch.file("socket"), "-f", "/dev/null"] + arguments
        )
    }

    /// The lines on the screen, once they fulfil a condition.
    private func screen(until isComplete: ([String]) -> Bool) async throws -> [String] {
        while true {
            let shown = try await tmux("capture-pane", "-p", "-t", "watch")
            let lines = shown.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            if shown.status != 0 || isComplete(lines) { return lines }
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(100)))
        }
    }

    @Test("The table of watch answers keys, is drawn again after a resize, and leaves the terminal as it was")
    func table() async throws {
        try await withTwoStreams { file in
            try await inTerminal { try await useTable("'\(siblingProgram("player-monitor"))' watch '\(file)'") }
        }
    }

    @Test("The table of top answers keys as that of watch does, and says when the monitor has gone")
    func top() async throws {
        try await withTwoStreams { file in
            let watch = try RunningWatch(["--listen", "127.0.0.1:0", file])
            let port = await watch.port()
            let program = "'\(siblingProgram("player-monitor"))' top http://127.0.0.1:\(port)"
            try await inTerminal {
                try await useTable(program)
                try await type(program)
                _ = try await screen { $0.first?.hasPrefix("2 streams") == true }
                watch.send(SIGTERM)
                #expect(await watch.waitUntilExit() == 0)
                let lost = try await screen { $0.contains { $0.contains("does not answer") } }
                #expect(lost.first?.hasPrefix("2 streams") == true, "\(lost)")
                _ = try await tmux("send-keys", "-t", "watch", "q")
                _ = try await screen { $0.last { !$0.isEmpty }?.hasPrefix("ready>") == true }
            }
        }
    }

    @Test("Keys of top ask the monitor to act, and the table says how it went")
    func actions() async throws {
        let state = """
            {"time":"2026-11-26T22:04:10Z","role":"act","streams":[{"name":"news","state":"down","up":false,"labels":{}}],\
            "incidents":[{"id":"i1","title":"503 for playlists","severity":"critical","state":"open","streams":["news"]}],\
            "maintenance":[{"id":"w1","kind":"maintenance","name":"encoder","by":"Ben","ends":"2026-11-26T23:00:00Z",\
            "matchers":[{"label":"stream","value":"news"}]}]}
            """
        let server = try TestServer { request in
            let isRefused = request.target == "/api/silences"
            let body = request.head.hasPrefix("GET") ? state : isRefused ? "no silence for Ana" : "{}"
            let head =
                "HTTP/1.1 \(isRefused ? "403 Forbidden" : "200 OK")\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            return [.send(Array((head + body).utf8))]
        }
        try await inTerminal {
            try await type("USER=ana '\(siblingProgram("player-monitor"))' top \(server.url(""))")
            _ = try await screen { $0.first?.hasPrefix("1 stream, 1 down, 0 stalled, 1 incident") == true }
            _ = try await tmux("send-keys", "-t", "watch", "t")
            _ = try await screen { $0.contains("A session of news starts now.") }
            _ = try await tmux("send-keys", "-t", "watch", "a", "o", "n", "Enter")
            _ = try await screen { $0.contains("Acknowledged for an hour.") }
            _ = try await tmux("send-keys", "-t", "watch", "r")
            _ = try await screen { $0.contains("news has no acknowledged incident.") }
            _ = try await tmux("send-keys", "-t", "watch", "x", "Enter")
            _ = try await screen { $0.contains("Closed.") }
            _ = try await tmux("send-keys", "-t", "watch", "s", "x", "Enter")
            _ = try await screen { $0.contains("Refused: no silence for Ana") }
            _ = try await tmux("send-keys", "-t", "watch", "m", "n", "e", "w", "Enter")
            _ = try await screen { $0.contains("Planned work on news has begun, for an hour.") }
            _ = try await tmux("send-keys", "-t", "watch", "u", "Enter")
            let ended = "Ended: planned work stream=\"news\" until 2026-11-26 23:00"
            _ = try await screen { $0.contains { $0.hasPrefix(ended) } }
            _ = try await tmux("send-keys", "-t", "watch", "q")
        }
        #expect(server.requests.filter { $0.head.hasPrefix("DELETE") }.map(\.target) == ["/api/maintenance/w1"])
        let posts = server.requests.filter { $0.head.hasPrefix("POST") }
        #expect(
            posts.map(\.target) == [
                "/api/try?name=news", "/api/incidents/i1/acknowledge", "/api/incidents/i1/close", "/api/silences",
                "/api/maintenance",
            ]
        )
        #expect(posts.allSatisfy { $0.header("Content-Type") == "application/json" })
        let body = try JSONValue(parsing: try #require(posts.dropFirst().first).body)
        #expect(body == ["by": "ana", "for": "1h", "note": "on"])
    }

    @Test("With NO_COLOR, the table has no colours and marks the chosen stream by a sign", arguments: [true, false])
    func colours(_ isColored: Bool) async throws {
        try await withTwoStreams { file in
            try await inTerminal {
                let variable = isColored ? "NO_COLOR= " : "NO_COLOR=1 "
                try await type(variable + "'\(siblingProgram("player-monitor"))' watch '\(file)'")
                let lines = try await screen { lines in
                    lines.first?.hasPrefix("2 streams, 1 down") == true && lines.contains { $0.contains("playing") }
                }
                #expect(lines.contains { $0.hasPrefix(">beta") } == !isColored, "\(lines)")
                let raw = try await tmux("capture-pane", "-p", "-e", "-t", "watch").output
                #expect(raw.contains("\u{1B}[") == isColored, "\(raw)")
                // In both, the heads stand above their columns.
                let (head, row) = (lines.first { $0.contains("STATE") }, lines.first { $0.contains("alpha") })
                let column = head.flatMap { head in
                    head.range(of: "STATE").map { head.distance(from: head.startIndex, to: $0.lowerBound) }
                }
                #expect(row?.dropFirst(column ?? 0).hasPrefix("playing") == true, "\(lines)")
                _ = try await tmux("send-keys", "-t", "watch", "q")
            }
        }
    }

    @Test("Each frame of the table is one synchronised update, so that no terminal shows half of it")
    func synchronised() async throws {
        try await withTwoStreams { file in
            try await inTerminal {
                let bytes = scratch.file("bytes")
                _ = try await screen { $0.contains { $0.hasPrefix("ready>") } }
                _ = try await tmux("pipe-pane", "-t", "watch", "-o", "cat > '\(bytes)'")
                try await type("'\(siblingProgram("player-monitor"))' watch '\(file)'")
                _ = try await screen { $0.first?.hasPrefix("2 streams, 1 down") == true }
                _ = try await tmux("send-keys", "-t", "watch", "j", "o", "q")
                _ = try await screen { $0.last { !$0.isEmpty }?.hasPrefix("ready>") == true }
                let text = String(decoding: scratch.bytes("bytes"), as: UTF8.self)
                let begin = try #require(text.range(of: "\u{1B}[?1049h"))
                let end = try #require(text.range(of: "\u{1B}[?1049l"))
                let shown = text[begin.upperBound..<end.lowerBound]
                let parts = shown.components(separatedBy: "\u{1B}[?2026h")
                #expect(parts.count > 3)
                // Outside of the frames, nothing is drawn but the empty screen at the begin.
                #expect(!parts[0].contains("streams"))
                for frame in parts.dropFirst() {
                    let halves = frame.components(separatedBy: "\u{1B}[?2026l")
                    #expect(halves.count == 2)
                    #expect(halves.first?.contains("2 streams") == true)
                    #expect(halves.last?.contains { $0.isLetter && $0 != "l" && $0 != "h" } == false, "\(halves)")
                }
            }
        }
    }

    /// Runs `body` with the file of a configuration of two streams, the second of which is down.
    private func withTwoStreams(_ body: (String) async throws -> Void) async throws {
        try await withOrigin { origin in
            let url = origin.url("live/ts/master.m3u8", session: "a")
            let gone = "http://127.0.0.1:\(try TestServer.closedPort())/x.m3u8"
            try await body(
                try scratch.write(
                    """
                    defaults: { continuous: true }
                    streams:
                      - { name: alpha, url: "\(url)", labels: { cdn: one } }
                      - { name: "beta\u{202E}x", url: "\(gone)", labels: { cdn: two } }
                    """,
                    "m.yaml"
                )
            )
        }
    }

    /// Runs `body` with a terminal in which a shell waits for commands.
    private func inTerminal(_ body: () async throws -> Void) async throws {
        let server = try await blocking { try startServer() }
        // The socket exists once the server listens.
        while try await tmux("new-session", "-d", "-s", "watch", "-x", "120", "-y", "20", "PS1='ready> ' sh -i")
            .status != 0
        { try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(100))) }
        do { try await body() } catch {
            _ = try await tmux("kill-server")
            throw error
        }
        _ = try await tmux("kill-server")
        server.waitUntilExit()
    }

    /// Types a command, once the shell waits for one.
    private func type(_ program: String) async throws {
        _ = try await screen { $0.contains { $0.hasPrefix("ready>") } }
        _ = try await tmux("send-keys", "-t", "watch", "-l", program)
        _ = try await tmux("send-keys", "-t", "watch", "Enter")
    }

    /// A server of tmux that is no daemon: a daemon would hold what the test waits for. Its signals must not be
    /// blocked.
    private func startServer() throws -> Process {
        let server = Process()
        server.executableURL = URL(fileURLWithPath: try #require(installedProgram("tmux")))
        server.arguments = ["-S", scratch.file("socket"), "-f", "/dev/null", "-D"]
        server.standardInput = FileHandle.nullDevice
        server.standardOutput = FileHandle.nullDevice
        server.standardError = FileHandle.nullDevice
        try server.start()
        return server
    }

    private func useTable(_ program: String) async throws {
        try await type(program)
        // Streams in trouble are first.
        let first = try await screen { lines in
            lines.first?.hasPrefix("2 streams, 1 down") == true && lines.contains { $0.contains("playing") }
        }
        let names = first.compactMap { line in ["alpha", "beta"].first { line.contains($0) } }
        #expect(names.prefix(2) == ["beta", "alpha"], "\(first)")
        #expect(!first.joined().contains("\u{202E}"))
        // By name.
        _ = try await tmux("send-keys", "-t", "watch", "o")
        _ = try await screen { lines in
            let places = ["alpha", "beta"].map { name in lines.firstIndex { $0.contains(name) } }
            return places[0] ?? 99 < places[1] ?? 0
        }
        // A filter by a label.
        _ = try await tmux("send-keys", "-t", "watch", "/", "t", "w", "o", "Enter")
        let filtered = try await screen { lines in !lines.contains { $0.contains("alpha") } }
        #expect(filtered.contains { $0.contains("beta") }, "\(filtered)")
        #expect(filtered.first?.hasPrefix("1 of 2 streams") == true, "\(filtered)")
        // A smaller screen: nothing of the old one is left.
        _ = try await tmux("resize-window", "-t", "watch", "-x", "50", "-y", "8")
        // A capture can meet a screen that is half drawn.
        let small = try await screen { lines in
            lines.last { !$0.isEmpty }?.hasPrefix("q quit") == true && lines.count <= 9
                && lines.count { $0.contains("beta") } == 1
        }
        #expect(small.allSatisfy { $0.count <= 50 }, "\(small)")
        // One stream in detail, with its events.
        _ = try await tmux("resize-window", "-t", "watch", "-x", "80", "-y", "24")
        _ = try await tmux("send-keys", "-t", "watch", "Enter")
        _ = try await screen { $0.contains { $0.contains("session") && $0.contains("begins") } }
        _ = try await tmux("send-keys", "-t", "watch", "q")
        // The shell's screen is back, and the table is gone.
        let after = try await screen { $0.last { !$0.isEmpty }?.hasPrefix("ready>") == true }
        #expect(!after.contains { $0.contains("q quit") }, "\(after)")
    }
}
