import Foundation
import InstrumentJSON
import LoopbackServers
import TestTraits
import Testing

// One after another, for the same reason as the other runs of the command line.
@Suite("player-monitor attach", .earlyOnOwnThread, .serialized)
struct AttachCommandTests {
    private let scratch: Scratch
    let socket: String

    init() throws {
        scratch = try Scratch()
        socket = scratch.file("player")
    }

    /// An mpv that plays the sample for some seconds.
    func startPlayer(seconds: Int, volume: Int = 40, more: [String] = []) throws -> Process {
        let mpv = Process()
        mpv.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        mpv.arguments =
            ["mpv", "--no-config", "--vo=null", "--ao=null", "--really-quiet", "--no-terminal"]
            + ["--length=\(seconds)", "--volume=\(volume)", "--input-ipc-server=" + socket] + more + [Sample.path]
        // It must not hold the pipes of the process that is tested.
        mpv.standardInput = FileHandle.nullDevice
        mpv.standardOutput = FileHandle.nullDevice
        mpv.standardError = FileHandle.nullDevice
        try mpv.start()
        return mpv
    }

    /// Waits until the player accepts connections: it creates the file earlier.
    func waitForSocket() {
        let end = Date(timeIntervalSinceNow: 1800)
        while !isAnswering, Date() < end { usleep(2000) }
    }

    private var isAnswering: Bool {
        let descriptor = connectedSocket()
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }

    /// A connection to the player, for the caller to close; -1 if the player does not respond.
    private func connectedSocket() -> Int32 {
        #if canImport(Glibc)
        let descriptor = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = Foundation.socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8.prefix(100)) }
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        if isConnected { return descriptor }
        close(descriptor)
        return -1
    }

    @Test("A real mpv is measured to its end, with a summary")
    func attached() throws {
        let mpv = try startPlayer(seconds: 3)
        waitForSocket()
        let run = try Run.playerMonitor("attach", "mpv:" + socket)
        mpv.waitUntilExit()
        #expect(run.status == 0)
        for name in ["TrackerInit", "StreamLoad", "Start ", "End ", "three-renditions.ts"] {
            #expect(run.output.contains(name))
        }
        #expect(run.errors.contains("measured until the player exited"))
        #expect(run.errors.contains("quality changes  0 up, 0 down"))
    }

    @Test("A missing player gives exit code 1 and the remedy; an unknown player gives 2")
    func nobody() throws {
        let run = try Run.playerMonitor("attach", "mpv:/nonexistent/mpv.sock")
        #expect(run.status == 1)
        #expect(run.errors.contains("--wait"))
        for argument in ["mpv", "mpv:", "vlc:/x", "mpv:/" + String(repeating: "x", count: 200)] {
            #expect(try Run.playerMonitor("attach", argument).status == 2)
        }
    }

    @Test("A VLC is asked with its password; without one, with a wrong one, and where no VLC is, the remedy is said")
    func remoteVLC() throws {
        let server = try TestServer { request in
            // "secret" without a user.
            guard request.header("Authorization") == "Basic OnNlY3JldA==" else { return [.respond("401 Unauthorized")] }
            return [.respond("200 OK", Array("<html>".utf8))]
        }
        let player = "vlc:\(server.port)"
        let withoutPassword = try Run.playerMonitor("attach", player)
        #expect(withoutPassword.status == 2 && withoutPassword.errors.contains("--password-from"))
        #expect(try Run.playerMonitor("attach", "--password-from", "NO_SUCH_VARIABLE", player).status == 2)
        #expect(try Run.playerMonitor("attach", "--password-from", "VLC", "mpv:x").status == 2)
        for (password, words) in [("wrong", "--http-password"), ("secret", "no VLC listens there")] {
            let environment = ["VLC": password]
            let run = try Run.playerMonitor("attach", "--password-from", "VLC", player, environment: environment)
            #expect(run.status == 1 && run.errors.contains(words), "\(run.errors)")
            #expect(!run.errors.contains("wrong"))
        }
        let stranger = "vlc:\(try TestServer.closedPort())"
        let nobody = try Run.playerMonitor("attach", "--password-from", "VLC", stranger, environment: ["VLC": "x"])
        #expect(nobody.status == 1 && nobody.errors.contains("--wait"))
    }

    @Test(
        "Ctrl-C and SIGTERM stop the measurement but not the player: the playback is detached, and all samples are delivered",
        arguments: [SIGINT, SIGTERM]
    )
    func stopped(signal: Int32) throws {
        let mpv = try startPlayer(seconds: 12)
        defer { kill(mpv.processIdentifier, SIGKILL) }
        waitForSocket()
        let run = try Run.playerMonitor("attach", "--backend", "json", "mpv:" + socket) { process, wait in
            wait("\"Start\"")
            kill(process.processIdentifier, signal)
        }
        #expect(run.status == 0)
        // The last metrics of the tracker follow the last event.
        let last = run.output.split(separator: "\n").last { $0.contains("\"action\"") }
        #expect(last?.contains("\"action\":\"Detach\"") == true)
        #expect(run.errors.contains("measured until stopped"))
        #expect(mpv.isRunning)
    }

    @Test(
        "Volume and mute are sent to an LRS; refused statements give exit code 3 and the LRS's reason",
        arguments: [false, true]
    )
    func interacted(isRefused: Bool) throws {
        let mpv = try startPlayer(seconds: 12)
        defer { kill(mpv.processIdentifier, SIGKILL) }
        waitForSocket()
        let server = try TestServer { _ in
            isRefused ? [.respond("400 Refused", Array("nothing here".utf8))] : [.respond("200 OK", Array("[]".utf8))]
        }
        let backends = ["--backend", "json", "--backend", "xapi:" + server.url("/xapi")]
        let run = try Run.playerMonitor(["attach"] + backends + ["mpv:" + socket]) { process, wait in
            wait("\"Start\"")
            tellPlayer(#"{"command":["set_property","volume",35]}"#)
            wait("\"volume\":35")
            tellPlayer(#"{"command":["set_property","mute",true]}"#)
            wait("\"isMuted\":true")
            kill(process.processIdentifier, SIGINT)
        }
        #expect(run.status == (isRefused ? 3 : 0))
        #expect(run.errors.contains("HTTP 400: nothing here") == isRefused)
        if isRefused { return }
        let statements = try server.requests.flatMap { request -> [JSONValue] in
            guard case .array(let statements) = try JSONValue(parsing: request.body) else { return [] }
            return statements
        }
        let interacted = statements.filter { $0["verb"]?["id"] == "http://adlnet.gov/expapi/verbs/interacted" }
        let base = "https://w3id.org/xapi/video/extensions/"
        let changes = interacted.map { $0["context"]?["extensions"] }
        #expect(changes.compactMap { $0?[base + "volume"] } == [.double(0.35), 0])
        #expect(changes.compactMap { $0?[base + "muted"] } == [false, true])
        #expect(interacted.allSatisfy { $0["result"]?["extensions"]?[base + "time"] != nil })
    }

    /// Sends a line to the player, as a person's remote control does.
    private func tellPlayer(_ line: String) {
        let descriptor = connectedSocket()
        defer { close(descriptor) }
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    @Test("With --wait the command waits for a player, and for the next one, until it is stopped")
    func waits() throws {
        var players: [Process] = []
        defer { for player in players where player.isRunning { kill(player.processIdentifier, SIGKILL) } }
        let run = try Run.playerMonitor("attach", "--wait", "--backend", "json", "mpv:" + socket) { process, wait in
            for volume in [41, 42] {
                guard let mpv = try? startPlayer(seconds: 2, volume: volume) else { break }
                players.append(mpv)
                wait("\"volume\":\(volume)")
                mpv.waitUntilExit()
            }
            kill(process.processIdentifier, SIGINT)
        }
        #expect(run.status == 0)
        #expect(run.output.components(separatedBy: "\"action\":\"StreamLoad\"").count == 3)
        #expect(run.errors.contains("no player there"))
        #expect(run.errors.contains("measured until stopped"))
    }

    // Several times: a signal that comes before its handler is ready must not be lost.
    @Test("With --wait and no player, Ctrl-C gives exit code 0", arguments: 0..<10)
    func waitsInVain(run: Int) throws {
        let errors = Pipe.forChild()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Sample.playerMonitor)
        process.arguments = ["attach", "--wait", "mpv:" + socket]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.start()
        var said = Data()
        while !String(decoding: said, as: UTF8.self).contains("no player there") {
            let more = errors.fileHandleForReading.availableData
            if more.isEmpty { break }
            said += more
        }
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    }

    #if os(Linux)
    @Test("A terminal shows the player's position in one line, which is removed at the end")
    func progress() throws {
        // So slow that the film lasts until the test ends the player.
        let mpv = try startPlayer(seconds: 12, more: ["--speed=0.05"])
        defer { if mpv.isRunning { kill(mpv.processIdentifier, SIGKILL) } }
        let terminal = try #require(PseudoTerminal())
        waitForSocket()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Sample.playerMonitor)
        process.arguments = ["attach", "mpv:" + socket]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = terminal.end
        try process.start()
        _ = terminal.read(until: "▶ 0:0")
        tellPlayer(#"{"command":["quit"]}"#)
        let shown = terminal.readToEnd()
        process.waitUntilExit()
        mpv.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(shown.contains("▶ 0:0"))
        #expect(shown.contains("three-renditions.ts\r\u{1B}[K"))
        #expect(shown.contains("measured until the player exited"))
    }
    #endif
}
