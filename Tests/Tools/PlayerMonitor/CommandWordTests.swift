import Foundation
import Instrument
import InstrumentBackends
import LoopbackServers
import Testing

/// What the command line says: versions, errors, times, repeated reasons.
extension CommandLineTests {
    /// The lines of standard error.
    private func lines(_ run: Run) -> [Substring] { run.errors.split(separator: "\n") }

    @Test(
        "--version prints the program's version first, then the compiler and each library",
        arguments: [[], ["play"]]
    )
    func version(command: [String]) throws {
        let run = try Run.playerMonitor(command + ["--version"])
        #expect(run.status == 0 && run.errors.isEmpty)
        let lines = run.output.split(separator: "\n")
        #expect(lines.first == "player-monitor \(InstrumentVersion.current)")
        for name in ["Swift 6.", "FFmpeg ", "libcurl ", "librdkafka ", "OpenSSL ", "SQLite 3.", "zlib 1."] {
            #expect(lines.contains { $0.hasPrefix(name) && !$0.contains("unknown") }, "\(name)")
        }
        for part in ["libavformat ", "libavcodec ", "libavutil ", "GPL version"] {
            #expect(lines.contains { $0.hasPrefix("FFmpeg ") && $0.contains(part) }, "\(part)")
        }
    }

    @Test("Every request names the program and its version")
    func userAgent() throws {
        let server = try TestServer { _ in [.respond("404 Not Found")] }
        for arguments in [
            ["play", "-q", server.url("/a.m3u8")], ["play", "-q", server.url("/a.mp4")],
            ["check", server.url("/b.m3u8")],
            ["ads", "validate", server.url("/vast.xml")],
            ["play", "-q", "--speed", "max", "--ads", server.url("/ad"), Sample.path],
            ["play", "-q", "--speed", "max", "--backend", "influx:" + server.url("?db=media"), Sample.path],
            ["top", "--plain", server.url()],
        ] {
            let before = server.requests.count
            _ = try Run.playerMonitor(arguments)
            let agents = Set(server.requests.dropFirst(before).map { $0.header("User-Agent") })
            #expect(agents == ["player-monitor/\(InstrumentVersion.current)"], "\(arguments)")
        }
    }

    @Test("A recording names the version once for each tracker")
    func recordedVersion() throws {
        let run = try Run.playerMonitor("play", "-q", "--speed", "max", "--backend", "json", Sample.path)
        let named = run.output.split(separator: "\n").filter { $0.contains("\"instrumentVersion\"") }
        #expect(named.count == 1)
        #expect(named.first?.contains(#""action":"TrackerInit""#) == true)
        #expect(named.first?.contains(#""instrumentVersion":"\#(InstrumentVersion.current)""#) == true)
    }

    @Test(
        "The error of a backend names what is missing, in one line",
        arguments: [
            ("influx:http://127.0.0.1:8086", "add ?db=NAME"), ("kafka:127.0.0.1:9092", "kafka:127.0.0.1:9092/TOPIC"),
            ("kafka:a:0/t", "a broker must be HOST:PORT"), ("nats:127.0.0.1", "nats:127.0.0.1/SUBJECT"),
            ("clickstream:example.org/in", "write clickstream:https://example.org/in"),
            ("otlp:127.0.0.1:4318", "write otlp:http://127.0.0.1:4318"), ("xapi:", "such as xapi:https://example.org"),
            ("influxx:http://h?db=a", "did you mean 'influx'?"), ("https://example.org", "as in xapi:https://"),
            ("file:", "file needs a path"), ("json:x", "takes no address"), ("newrelic:1@mars", "us or eu"),
            ("graphite:", "graphite needs HOST"), ("fax", "the backends are console, json"),
        ]
    )
    func backendErrors(backend: String, words: String) throws {
        let run = try Run.playerMonitor("play", "--backend", backend, Sample.path)
        #expect(run.status == 2)
        #expect(run.errors.contains(words), "\(run.errors)")
        #expect(lines(run).count == 2 && lines(run).last == "See 'player-monitor play --help'.", "\(run.errors)")
    }

    @Test("Part of a backend's address that the error repeats adds no line")
    func hostileBackend() throws {
        let run = try Run.playerMonitor("play", "--backend", "kafka:a\nplayer-monitor: fine:0/t", Sample.path)
        #expect(run.status == 2 && lines(run).count == 2, "\(run.errors)")
    }

    @Test("Missing credentials name the variable and its form, unless the name could be a key")
    func credentials() throws {
        let play = ["play", "--backend", "sift:http://127.0.0.1:1", Sample.path]
        let none = try Run.playerMonitor(play)
        #expect(
            none.status == 2 && none.errors.contains("sift requires --credentials-from: set a variable to ACCOUNT:KEY")
        )
        let named = try Run.playerMonitor(play + ["--credentials-from", "sift=NO_SUCH_NAME_2"])
        #expect(named.status == 2)
        #expect(named.errors.contains("the environment variable NO_SUCH_NAME_2"), "\(named.errors)")
        #expect(named.errors.contains("is not set; set it to ACCOUNT:KEY"), "\(named.errors)")
        for key in ["hunter", "AKIA4XK2PQ", "JBSWY3DPEHPK3PXP", "A1B2_C3D4", "ABCDEFGHIJKLMNOPQRST"] {
            let hidden = try Run.playerMonitor(play + ["--credentials-from", key])
            #expect(hidden.status == 2 && !hidden.errors.contains(key), "\(hidden.errors)")
        }
    }

    @Test(
        "An address without http:// gets it as advice",
        arguments: [
            ["check", "example.org/live.m3u8"], ["top", "127.0.0.1:9464"], ["play", "example.org/live.m3u8"],
        ]
    )
    func missingScheme(arguments: [String]) throws {
        let run = try Run.playerMonitor(arguments)
        #expect(run.status == (arguments.first == "play" ? 1 : 2))
        #expect(run.errors.contains("http://"), "\(run.errors)")
    }

    @Test(
        "A mistyped command or option gets a suggestion",
        arguments: [
            (["paly", "x"], "did you mean 'play'?"), (["queue", "statsu", "x"], "did you mean 'status'?"),
            (["play", "--duraton", "5", "x"], "Did you mean '--duration'?"),
            (["dance"], "the commands are play, check"),
        ]
    )
    func suggestions(arguments: [String], words: String) throws {
        let run = try Run.playerMonitor(arguments)
        #expect(run.status == 2)
        #expect(run.errors.contains(words), "\(run.errors)")
        #expect(!run.errors.contains("Usage:"))
    }

    @Test(
        "An error of a command that has begun is one line that names the program",
        arguments: [
            ["queue", "status", "/nowhere"], ["play", "--list", "/nowhere/list"], ["replay", "/nowhere/s.ndjson"],
            ["play", "--backend", "file:/proc/no/s", "x"], ["explain", "Nonsense"], ["scte35", "@/nowhere"],
        ]
    )
    func errorsOfRuns(arguments: [String]) throws {
        let run = try Run.playerMonitor(arguments)
        #expect(run.status == 2)
        #expect(lines(run).count == 1 && run.errors.hasPrefix("player-monitor: "), "\(run.errors)")
    }

    @Test(
        "A time has a unit or is in seconds",
        arguments: [("2s", 2000), ("2", 2000), ("2000ms", 2000), ("0.05m", 3000)]
    )
    func times(text: String, milliseconds: Int) throws {
        let run = try Run.playerMonitor("play", "-q", "--speed", "max", "--duration", text, Sample.path)
        #expect(run.status == 0)
        #expect(run.output.contains("Stop  position=\(milliseconds) "), "\(run.output)")
    }

    @Test("A text that is no time is refused with the accepted forms")
    func wrongTime() throws {
        let run = try Run.playerMonitor("play", "--timeout", "5x", Sample.path)
        #expect(run.status == 2)
        #expect(run.errors.contains("as in 500ms, 5s, 2m or 1h"), "\(run.errors)")
    }

    @Test("A time on the console has its zone")
    func zone() throws {
        let run = try Run.playerMonitor("play", "-q", "--speed", "max", Sample.path)
        let first = try #require(run.output.split(separator: " ").first)
        #expect(first.count == 13 && first.hasSuffix("Z"), "\(first)")
    }

    @Test("A service that refuses every sample gives one line for each reason")
    func oneLinePerReason() throws {
        let server = try TestServer { _ in [.respond("422 Unprocessable", Array("no such field".utf8))] }
        let run = try Run.playerMonitor(
            [
                "play", "-q", "--speed", "max", "--backend", "sift:" + server.url(), "--credentials-from", "SIFT",
                Sample.path,
            ],
            environment: ["SIFT": "acc:the-key"]
        )
        #expect(run.status == 3)
        let refusals = lines(run).filter { $0.contains("422") }
        #expect((1...3).contains(refusals.count), "\(run.errors)")
    }

    @Test("A file that is no recording gives one line for each reason")
    func noRecording() throws {
        let path = NSTemporaryDirectory() + "text-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try String(repeating: "no recording\n", count: 5_000).write(toFile: path, atomically: true, encoding: .utf8)
        for arguments in [["replay", path], ["report", "--text", path]] {
            let run = try Run.playerMonitor(arguments)
            #expect(run.status == 1)
            #expect(lines(run).count <= 5, "\(run.errors.prefix(2000))")
            #expect(run.errors.contains("4999 more with this problem"))
            #expect(run.errors.contains("found no sample"))
        }
    }

    @Test("A replay to a backend ends with the number of delivered samples, unless it is quiet")
    func deliveredSamples() throws {
        let copy = NSTemporaryDirectory() + "copy-\(UUID().uuidString).ndjson"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        let arguments = ["replay", "--backend", "file:" + copy, ReplayCommandTests.golden]
        let run = try Run.playerMonitor(arguments)
        #expect(run.status == 0)
        let count = try String(contentsOfFile: copy, encoding: .utf8).split(separator: "\n").count
        #expect(run.errors == "player-monitor: delivered \(count) samples to file:\(copy)\n")
        #expect(try Run.playerMonitor(arguments + ["-q"]).errors.isEmpty)
    }

    @Test("A broker that cannot be reached is reported with the cause", arguments: ["kafka", "nats"])
    func unreachable(kind: String) throws {
        let port = try TestServer.closedPort()
        let run = try Run.playerMonitor(
            ["play", "-q", "--speed", "max", "--backend", "\(kind):127.0.0.1:\(port)/samples", Sample.path]
        )
        #expect(run.status == 3)
        let waiting = try #require(lines(run).first { $0.hasPrefix("  waiting: ") }, "\(run.errors)")
        #expect(waiting.contains("127.0.0.1:\(port)") && waiting.contains("Connection refused"), "\(run.errors)")
    }

    @Test("A playback whose standard output is closed gives exit code 4, and no file takes its place")
    func closedOutput() throws {
        let queue = NSTemporaryDirectory() + "queue-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: queue) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "\"$0\" play -q --speed max --queue \"$1\" \"$2\" >&- 2>/dev/null", Sample.playerMonitor, queue,
            Sample.path,
        ]
        try process.start()
        process.waitUntilExit()
        #expect(process.terminationStatus == 4)
        #expect(try Run.playerMonitor("queue", "verify", queue).status == 0)
    }
}
