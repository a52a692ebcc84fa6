import Foundation
import LoopbackServers
import Testing

/// Hostile text through the command line: it must not control the terminal or add a line.
extension CommandLineTests {
    /// Escape sequences of both kinds, a forged line, and a change of direction.
    private static let hostile =
        "evil\u{1B}]0;mine\u{7}\u{9B}2J\u{202E}\u{2028}\r\nplayer-monitor: everything was delivered"
    private static let shown =
        "evil\\u{1b}]0;mine\\u{7}\\u{9b}2J\\u{202e}\\u{2028}\\r\\nplayer-monitor: everything was delivered"

    private func expectHarmless(_ text: String, _ comment: Comment? = nil) {
        let isUnsafe = { (scalar: Unicode.Scalar) in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: !"\n\t".unicodeScalars.contains(scalar)
            default: false
            }
        }
        #expect(!text.unicodeScalars.contains(where: isUnsafe), comment)
        #expect(!text.split(separator: "\n").contains { $0.hasPrefix("player-monitor: everything") }, comment)
    }

    @Test("A server's message stays on one line in diagnostics and in the reasons of dead letters")
    func serverWords() throws {
        let directory = NSTemporaryDirectory() + "player-monitor-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let words = try JSONEncoder().encode(["error_message": Self.hostile])
        let server = try TestServer { _ in [.respond("400 Bad Request", Array(words))] }
        let backend = "sift:" + server.url()
        let run = try Run.playerMonitor(
            [
                "play", "--speed", "max", "--queue", directory, "--backend", backend, "--credentials-from", "SIFT_KEYS",
                Sample.path,
            ],
            environment: ["SIFT_KEYS": "acc:the-key"]
        )
        expectHarmless(run.output + run.errors)
        let dead = try Run.playerMonitor("queue", "dead", directory)
        #expect(dead.status == 0)
        expectHarmless(dead.output + dead.errors)
        let lines = dead.output.split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(line.split(separator: "\t", omittingEmptySubsequences: false).count == 4)
            // The transport has made one line of them already.
            #expect(line.contains("evil") && line.hasSuffix("everything was delivered"))
        }
    }

    @Test("Names in a list of sources stay on one line")
    func sources() throws {
        let path = NSTemporaryDirectory() + "list-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let name = "/nowhere/a\u{1B}[2J\u{202E}\u{2029}b\r\u{9B}c.mp4"
        try (name + "\n/nowhere/\u{1F600}漢字.mp4\n").write(toFile: path, atomically: true, encoding: .utf8)
        for options in [[], ["--quiet"], ["--backend", "json"], ["--speed", "max"]] {
            let run = try Run.playerMonitor(["play", "--list", path] + options)
            #expect(run.status == 1)
            expectHarmless(run.output + run.errors)
            if options.first == "--quiet" { continue }
            #expect(run.errors.contains("/nowhere/a\\u{1b}[2J\\u{202e}\\u{2029}b\\r\\u{9b}c.mp4"))
            #expect(run.errors.contains("😀漢字.mp4"))
        }
    }

    @Test("A title stays on one line, as text and as JSON with an unchanged value")
    func titles() throws {
        let arguments = ["play", "--speed", "max", "--title", Self.hostile, Sample.path]
        let text = try Run.playerMonitor(arguments)
        #expect(text.status == 0 && text.output.contains("title=" + Self.shown))
        expectHarmless(text.output + text.errors)
        let json = try Run.playerMonitor(arguments + ["--backend", "json"])
        expectHarmless(json.output)
        for line in json.output.split(separator: "\n") {
            let sample = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let title = (sample?["attributes"] as? [String: Any])?["title"] as? String
            #expect(title == nil || title == Self.hostile)
        }
    }

    @Test(
        "Wrong arguments and paths are repeated on one line",
        arguments: ["--speed", "--backend", "--list", "--profile"]
    )
    func arguments(option: String) throws {
        for arguments in [[option, Self.hostile], ["\(option)=\(Self.hostile)"]] {
            let run = try Run.playerMonitor(["play"] + arguments + ["x"])
            #expect(run.status == 2)
            expectHarmless(run.output + run.errors)
            #expect(run.errors.contains("evil\\u{1b}]0;mine"))
        }
        let queue = try Run.playerMonitor("queue", "status", "/nowhere/" + Self.hostile)
        #expect(queue.status == 2)
        expectHarmless(queue.output + queue.errors)
    }

    @Test("Ids and keys of statements stay in their column")
    func statements() throws {
        let path = NSTemporaryDirectory() + "statements-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let key = try String(decoding: JSONEncoder().encode(Self.hostile), as: UTF8.self)
        try "{\"id\":\"a\u{202E}\u{2066}b\",\"statement\":{\(key):{\(key):1}},\(key):1}\n".write(
            toFile: path,
            atomically: true,
            encoding: .utf8
        )
        let run = try Run.playerMonitor("xapi", "validate", path)
        #expect(run.status == 1 && run.output.hasPrefix("a\\u{202e}\\u{2066}b\tinvalid\t"))
        expectHarmless(run.output)
        #expect(run.output.split(separator: "\n").count == 1)
    }

    #if os(Linux)
    @Test("Text from a machine's files stays on one line", arguments: ["text", "json"])
    func device(format: String) throws {
        let root = NSTemporaryDirectory() + "machine-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(atPath: root + "/etc", withIntermediateDirectories: true)
        let name = "Some\u{1B}[2J\u{202E}\u{9B}31mLinux"
        try "NAME=\"\(name)\"\nVERSION_ID=7\n".write(
            toFile: root + "/etc/os-release",
            atomically: true,
            encoding: .utf8
        )
        let run = try Run.playerMonitor("device", "--root", root, "--format", format)
        #expect(run.status == 0)
        expectHarmless(run.output)
        if format == "text" { #expect(run.output.contains("Some\\u{1b}[2J\\u{202e}\\u{9b}31mLinux")) }
    }
    #endif
}

#if os(Linux)
extension AttachCommandTests {
    @Test("A player's title stays in the line of progress")
    func hostileTitle() throws {
        let title = "evil\u{1B}]0;mine\u{7}\u{9B}2J\u{202E}\nplayer-monitor: everything was delivered"
        let mpv = try startPlayer(seconds: 2, more: ["--force-media-title=" + title])
        let terminal = try #require(PseudoTerminal())
        waitForSocket()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Sample.playerMonitor)
        process.arguments = ["attach", "mpv:" + socket]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = terminal.end
        try process.start()
        let shown = terminal.readToEnd()
        process.waitUntilExit()
        mpv.waitUntilExit()
        #expect(shown.contains("evil\\u{1b}]0;mine"))
        // The remaining control characters are the program's own: erasing the line of progress, and line ends.
        let rest = shown.replacingOccurrences(of: "\r\u{1B}[K", with: "").replacingOccurrences(of: "\r\n", with: "")
        #expect(!rest.unicodeScalars.contains { [.control, .format].contains($0.properties.generalCategory) })
    }
}
#endif
