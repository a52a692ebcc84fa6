import Foundation
import Instrument
import InstrumentJSON
import LoopbackServers
import TestTraits
import Testing

/// An LRS that refuses or takes everything, by command.
private final class SwitchedLRS: Sendable {
    private struct State {
        var refusal: String?
        var stored: [JSONValue] = []
        var posts: [[UInt8]] = []
    }

    private let state: Lock<State>
    private let server: TestServer

    init(refusal: String?) throws {
        let state = Lock(State(refusal: refusal))
        self.state = state
        server = try TestServer { request in
            state.withLock { state in
                state.posts.append(request.body)
                if let refusal = state.refusal {
                    return [.respond(refusal, Array("no such\r\nendpoint \u{1B}[31mhere (the-password)".utf8))]
                }
                if case .array(let statements)? = try? JSONValue(parsing: request.body) { state.stored += statements }
                return [.respond("200 OK", Array("[]".utf8))]
            }
        }
    }

    var address: String { server.url("/xapi") }
    func refuse(_ refusal: String?) { state.withLock { $0.refusal = refusal } }
    var statements: [JSONValue] { state.withLock { $0.stored } }
    var verbs: [String] {
        statements.compactMap { $0["verb"]?["id"]?.string?.split(separator: "/").last.map(String.init) }
    }
    var objects: Set<String> { Set(statements.compactMap { $0["object"]?["id"]?.string }) }
    var times: [String] { statements.compactMap { $0["timestamp"]?.string } }
    func reset() { state.withLock { $0.stored = [] } }
}

// One after another, for the same reason as the other runs of the command line.
@Suite("player-monitor: undelivered samples", .earlyOnOwnThread, .serialized)
struct UndeliveredTests {
    private static let whole = [
        "initialized", "played", "interacted", "interacted", "completed", "paused", "terminated",
    ]
    private let queue = NSTemporaryDirectory() + "instrument-\(UUID().uuidString)"

    private func play(_ lrs: SwitchedLRS, _ more: String...) throws -> Run {
        let backend = ["--backend", "xapi:" + lrs.address, "--credentials-from", "LRS"]
        return try Run.playerMonitor(
            ["play", "--speed", "max"] + backend + more,
            environment: ["LRS": "user:the-password"]
        )
    }

    private func expectWords(_ run: Run) {
        #expect(run.status == 3)
        #expect(run.errors.contains("samples were not delivered to xapi"))
        #expect(run.errors.contains("HTTP 400: no such endpoint [31mhere (…)"))
        #expect(!run.errors.contains("the-password") && !run.errors.contains("\u{1B}"))
    }

    @Test(
        "A playback whose samples the server refused gives exit code 3, the server's reason and the remedy",
        arguments: [1, 3]
    )
    func refused(sources: Int) throws {
        let lrs = try SwitchedLRS(refusal: "400 Bad Request")
        for quiet in [[], ["-q"]] {
            let backend = ["--backend", "xapi:" + lrs.address, "--credentials-from", "LRS"]
            let paths = (0..<sources).map { _ in Sample.path }
            let run = try Run.playerMonitor(
                ["play", "--speed", "max"] + quiet + backend + paths,
                environment: ["LRS": "user:the-password"]
            )
            expectWords(run)
            #expect(run.errors.contains("--queue"))
            #expect(run.output.isEmpty)
        }
    }

    @Test("A retry of all dead letters delivers the whole session, with the bytes of the first attempt")
    func retried() throws {
        defer { try? FileManager.default.removeItem(atPath: queue) }
        let lrs = try SwitchedLRS(refusal: "400 Bad Request")
        let run = try play(lrs, "--queue", queue, Sample.path)
        expectWords(run)
        #expect(run.errors.contains("queue dead --retry all \(queue)"))
        let dead = try Run.playerMonitor("queue", "dead", queue).output
        #expect(dead.contains("HTTP 400: no such endpoint [31mhere (…)"))
        #expect(try Run.playerMonitor("queue", "dead", "--retry", "all", queue).status == 0)
        let flush = ["queue", "flush", "--backend", "xapi:" + lrs.address, queue]
        // Refused again: not delivered again.
        let again = try Run.playerMonitor(flush)
        #expect(again.status == 3)
        #expect(again.errors.contains("HTTP 400: no such endpoint"))
        lrs.refuse(nil)
        #expect(try Run.playerMonitor("queue", "dead", "--retry", "all", queue).status == 0)
        #expect(try Run.playerMonitor(flush).status == 0)
        #expect(lrs.verbs == Self.whole)
        let session = "https://w3id.org/xapi/video/extensions/session-id"
        let first = lrs.statements.first?["id"]?.string
        #expect(lrs.statements.allSatisfy { $0["context"]?["extensions"]?[session]?.string == first })
        // Losses of an earlier run do not count for this one.
        #expect(try play(lrs, "--queue", queue, Sample.path).status == 0)
    }

    @Test("Dead letters of an earlier run do not affect the exit code of a later run")
    func earlierLosses() throws {
        defer { try? FileManager.default.removeItem(atPath: queue) }
        let lrs = try SwitchedLRS(refusal: "400 Bad Request")
        #expect(try play(lrs, "--queue", queue, Sample.path).status == 3)
        lrs.refuse(nil)
        let run = try play(lrs, "--queue", queue, Sample.path)
        #expect(run.status == 0)
        #expect(!run.errors.contains("not delivered"))
    }

    @Test("A queue whose consent is pending sends nothing, by flush or playback, until somebody grants it")
    func pendingConsent() throws {
        defer { try? FileManager.default.removeItem(atPath: queue) }
        let lrs = try SwitchedLRS(refusal: "401 Unauthorized")
        #expect(try play(lrs, "--queue", queue, "--duration", "1", Sample.path).status == 3)
        #expect(try Run.playerMonitor(["queue", "consent", queue, "pending"]).status == 0)
        lrs.refuse(nil)
        let flush = ["queue", "flush", "--backend", "xapi:" + lrs.address, queue]
        let held = try Run.playerMonitor(flush)
        #expect(held.status != 0 && held.errors.contains("pending"), "\(held.status): \(held.errors)")
        let played = try play(lrs, "--queue", queue, "--duration", "1", Sample.path)
        #expect(played.errors.contains("is pending"), "\(played.errors)")
        #expect(lrs.statements.isEmpty)
        #expect(try Run.playerMonitor(["queue", "consent", queue, "granted"]).status == 0)
        #expect(try Run.playerMonitor(flush).status == 0)
        // Both playbacks.
        #expect(lrs.verbs.filter { $0 == "initialized" }.count == 2)
    }

    @Test("A flush that cannot read a folder of the queue says so and ends with exit code 3")
    func unreadFolder() throws {
        defer { try? FileManager.default.removeItem(atPath: queue) }
        let lrs = try SwitchedLRS(refusal: "401 Unauthorized")
        #expect(try play(lrs, "--queue", queue, "--duration", "1", Sample.path).status == 3)
        // The folder of another process, beside that of the second run.
        let files = FileManager.default
        let folder = try #require(files.contentsOfDirectory(atPath: queue).first { $0.hasSuffix(".queue") })
        try files.moveItem(atPath: queue + "/" + folder, toPath: queue + "-aside")
        #expect(try play(lrs, "--queue", queue, "--duration", "1", Sample.path).status == 3)
        let other = queue + "/00000009.queue"
        try files.moveItem(atPath: queue + "-aside", toPath: other)
        // A folder of another user is left unchanged. Needs the permission to give files away; without it, nothing is
        // checked.
        guard chown(other, 12_345, 12_345) == 0 else { return }
        lrs.refuse(nil)
        let flush = ["queue", "flush", "--backend", "xapi:" + lrs.address, queue]
        let run = try Run.playerMonitor(flush)
        #expect(run.status == 3 && run.errors.contains("were not read"), "\(run.status): \(run.errors)")
        #expect(chown(other, getuid(), getgid()) == 0)
        #expect(try Run.playerMonitor(flush).status == 0)
    }

    @Test("Samples that wait for credentials are reported with the server's message, and stay in the queue")
    func waiting() throws {
        defer { try? FileManager.default.removeItem(atPath: queue) }
        let lrs = try SwitchedLRS(refusal: "401 Unauthorized")
        let run = try play(lrs, "--queue", queue, "--duration", "1", Sample.path)
        #expect(run.status == 3)
        #expect(run.errors.contains("waiting: HTTP 401: no such endpoint"))
        #expect(run.errors.contains("queue flush"))
    }

    @Test(
        "Playback faster than real time has no times in the future: several sources, loops, seeks back",
        arguments: [
            (3, ["--spacing", "0"], []), (1, ["--loop", "3"], []), (2, ["--loop", "2"], []),
            (1, ["--seek", "1=0"], ["--seek", "2=0"]),
        ]
    )
    func past(sources: Int, options: [String], more: [String]) throws {
        let lrs = try SwitchedLRS(refusal: nil)
        let paths = (0..<sources).map { _ in Sample.path }
        let run = try Run.playerMonitor(
            ["play", "--speed", "max", "--backend", "xapi:" + lrs.address] + options + more + paths
        )
        #expect(run.status == 0)
        #expect(run.errors.contains("retr") == false)
        #expect(lrs.verbs.count > 4)
        let now = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 1))
        #expect(lrs.times.allSatisfy { $0 < now }, "\(lrs.times)")
        #expect(lrs.times == lrs.times.sorted())
    }

    @Test("A local file is one object in any spelling of its path")
    func oneObject() throws {
        let lrs = try SwitchedLRS(refusal: nil)
        let folder = NSTemporaryDirectory() + "films \(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder + "/sub", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.copyItem(atPath: Sample.path, toPath: folder + "/a film.ts")
        try FileManager.default.createSymbolicLink(atPath: folder + "/link.ts", withDestinationPath: "a film.ts")
        let escaped = folder.replacingOccurrences(of: " ", with: "%20")
        let spellings = [
            "a film.ts", "./a film.ts", "sub/../a film.ts", folder + "/a film.ts", folder + "//./a film.ts",
            "file://" + escaped + "/a%20film.ts", "file://localhost" + escaped + "/a%20film%2Ets", "link.ts",
        ]
        for spelling in spellings {
            let run = try Run.playerMonitor(
                ["play", "-q", "--speed", "max", "--backend", "xapi:" + lrs.address, spelling],
                directory: folder
            )
            #expect(run.status == 0, "\(run.errors)")
        }
        #expect(lrs.objects.count == 1, "\(lrs.objects)")
        let object = try #require(lrs.objects.first)
        #expect(object.hasPrefix("file:///") && object.hasSuffix("/a%20film.ts"))
        #expect(lrs.verbs.filter { $0 == "initialized" }.count == spellings.count)
    }

    @Test("Sift receives the first event during playback")
    func siftAtOnce() throws {
        let arrived = Lock(false)
        let server = try TestServer { _ in
            arrived.withLock { $0 = true }
            return [.respond("200 OK")]
        }
        _ = try Run.playerMonitor(
            ["play", "--backend", "json", "--backend", "sift:" + server.url(), "--credentials-from", "K", Sample.path],
            environment: ["K": "account:key"]
        ) { process, wait in
            // It would wait for a minute, or for the end; the sample plays for twelve seconds.
            while !arrived.withLock({ $0 }), process.isRunning { usleep(10_000) }
            #expect(process.isRunning && arrived.withLock { $0 })
            kill(process.processIdentifier, SIGINT)
        }
        #expect(server.requests.count > 0)
    }

    @Test(
        "A command gives a message and exit code 4 when standard output cannot be written",
        arguments: [
            ["--help"], ["play", "--help"], ["privacy"], ["privacy", "--format", "json"], ["abr"],
            ["abr", "--format", "json"],
            ["device"], ["device", "--format", "json"], ["sensors"], ["sensors", "--watch"], ["--version"],
            ["check", "--list"], ["explain"], ["scte35", "/DAhAAAAAAAAAP/wEAUAAALRf+9//gAaF7DAAAAAAAA+MhNj"],
            ["replay", ReplayCommandTests.golden], ["replay", "--backend", "json", ReplayCommandTests.golden],
            ["report", "--text", ReplayCommandTests.golden], ["report", "-o", "-", ReplayCommandTests.golden],
            ["xapi", "validate", "STATEMENTS"], ["seer", "validate", "tincan", "STATEMENTS"],
        ]
    )
    func fullOutput(arguments: [String]) throws {
        try FileManager.default.createDirectory(atPath: queue, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: queue) }
        let statements = queue + "/statements.ndjson"
        try Data(#"{"actor":{"mbox":"mailto:a@example.org"},"verb":{"id":"urn:saw"},"object":{"id":"urn:film"}}"#.utf8)
            .write(to: URL(fileURLWithPath: statements))
        let run = try Run.playerMonitor(
            arguments.map { $0 == "STATEMENTS" ? statements : $0 },
            outputPath: "/dev/full"
        )
        #expect(run.status == 4)
        #expect(run.errors.contains("cannot write to standard output: No space left on device"))
    }

    @Test("Queue commands and playbacks give exit code 4 when standard output is full")
    func fullOutputOfQueues() throws {
        defer { try? FileManager.default.removeItem(atPath: queue) }
        let lrs = try SwitchedLRS(refusal: "400 Bad Request")
        #expect(try play(lrs, "--queue", queue, Sample.path).status == 3)
        let commands = [["status"], ["dead"], ["dead", "--json"], ["verify"]]
        for command in commands {
            let run = try Run.playerMonitor(["queue"] + command + [queue], outputPath: "/dev/full")
            #expect(run.status == 4, "\(command)")
            #expect(run.errors.contains("cannot write to standard output"), "\(command)")
        }
        for backend in ["console", "json"] {
            let run = try Run.playerMonitor(
                ["play", "--speed", "max", "--backend", backend, Sample.path],
                outputPath: "/dev/full"
            )
            #expect(run.status == 4)
            #expect(run.errors.contains("samples were not delivered to \(backend)"))
            #expect(run.errors.hasSuffix("player-monitor: cannot write to standard output: No space left on device\n"))
        }
    }
}
