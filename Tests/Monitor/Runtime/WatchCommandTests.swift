import Foundation
import Instrument
import InstrumentJSON
import InstrumentMonitor
import InstrumentOrigin
import InstrumentWatch
import LoopbackServers
import TestTraits
import Testing

/// A receiver of webhooks that keeps what it got.
final class Receiver: Sendable {
    private struct State {
        var bodies: [(body: [UInt8], signature: String?, id: String?)] = []
        var gates: [(count: Int, gate: Gate)] = []
    }

    private let state: Lock<State>
    private let server: TestServer

    init(hangs: Bool = false, failures: Int = 0) throws {
        let state = Lock(State())
        self.state = state
        let failed = Lock(0)
        server = try TestServer { request in
            let isFailure = failed.withLock { count in
                count += 1
                return count <= failures
            }
            if isFailure { return [.respond("503 Service Unavailable")] }
            let gates = state.withLock { state in
                state.bodies.append(
                    (request.body, request.header("X-Instrument-Signature"), request.header("X-Instrument-Delivery"))
                )
                let count = state.bodies.count
                let ready = state.gates.filter { $0.count <= count }
                state.gates.removeAll { $0.count <= count }
                return ready.map(\.gate)
            }
            for gate in gates { gate.open() }
            return hangs ? [.hang] : [.respond("200 OK")]
        }
    }

    var url: String { server.url("/hook") }
    var received: [(body: [UInt8], signature: String?, id: String?)] { state.withLock { $0.bodies } }
    var statuses: [String] {
        received.compactMap { try? JSONValue(parsing: $0.body) }.compactMap { $0["status"]?.string }
    }

    func wait(for count: Int) async {
        let gate = Gate()
        let isThere = state.withLock { state in
            if state.bodies.count >= count { return true }
            state.gates.append((count, gate))
            return false
        }
        if !isThere { _ = await gate.wait() }
    }
}

@Suite("player-monitor watch", .serialized, .earlyOnOwnThread)
struct WatchCommandTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func write(_ text: String, _ name: String = "m.yaml") throws -> String { try scratch.write(text, name) }

    @Test("A watched stream plays, its metrics and samples arrive, and SIGTERM ends the process with exit code 0")
    func plays() async throws {
        try await withOrigin { origin in
            let url = origin.url("live/ts/master.m3u8", session: "a")
            let samples = scratch.file("samples.ndjson")
            let file = try write(
                """
                defaults: { backends: [samples, prometheus] }
                streams:
                  - { name: news, url: "\(url)", continuous: true, labels: { channel: n }, checks: { stale: 1.5x, rules: true } }
                  - { name: other, url: "\(url)", continuous: true, backends: [prometheus] }
                backends: { samples: { file: "\(samples)" } }
                """
            )
            let watch = try RunningWatch(["--listen", "127.0.0.1:0", "--state", scratch.file("state"), file])
            let port = await watch.port()
            await watch.wait(for: "news plays")
            await watch.wait(for: "other plays")
            let metrics = try RawClient.get("/metrics", port: port).body
            #expect(metrics.contains("instrument_stream_up{stream=\"news\",channel=\"n\"} 1\n"), "\(watch.output)")
            #expect(
                metrics.contains(
                    "instrument_stream_requests_total{stream=\"news\",channel=\"n\",kind=\"segment\",status=\"200\"}"
                )
            )
            #expect(metrics.contains("instrument_stream_startup_seconds_count{stream=\"news\",channel=\"n\"} 1\n"))
            let probe = try RawClient.get("/probe?target=news", port: port)
            #expect(probe.body.contains("probe_success 1\n"), "\(probe)")
            watch.send(SIGTERM)
            #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
            let lines = String(decoding: scratch.bytes("samples.ndjson"), as: UTF8.self).split(separator: "\n")
            #expect(lines.contains { $0.contains("\"Start\"") && $0.contains("\"monitorStream\":\"news\"") })
            #expect(!lines.contains { $0.contains("\"monitorStream\":\"other\"") })
        }
    }

    @Test("Every sample carries stream, labels and location, and labels that a reload changes hold from then on")
    func labels() async throws {
        try await withOrigin { origin in
            let url = origin.url("live/ts/master.m3u8", session: "a")
            let samples = scratch.file("samples.ndjson")
            func configuration(_ cdn: String) -> String {
                """
                location: oslo
                defaults: { continuous: true, labels: { isp: x } }
                streams:
                  - { name: a, url: "\(url)", labels: { cdn: \(cdn), title: "no title" } }
                  - { name: b, url: "\(url)", labels: { cdn: beta }, profile: hlsjs }
                backends: { samples: { file: "\(samples)" } }

                """
            }
            let file = try write(configuration("alpha"))
            let watch = try RunningWatch(["--listen", "127.0.0.1:0", "--location", "bergen", file])
            _ = await watch.port()
            await watch.wait(for: "a plays")
            await watch.wait(for: "b plays")
            _ = try write(configuration("gamma"))
            watch.send(SIGHUP)
            await watch.wait(for: "configuration reloaded: 2 streams")
            watch.send(SIGTERM)
            #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
            let lines = String(decoding: scratch.bytes("samples.ndjson"), as: UTF8.self).split(separator: "\n")
            let all = try lines.map { try JSONValue(parsing: String($0)) }
            #expect(all.contains { $0["type"] == "metric" } && all.contains { $0["action"] == "Stop" })
            var found: [String: [String]] = [:]
            for sample in all {
                let attributes = try #require(sample["attributes"])
                let stream = try #require(attributes["monitorStream"]?.string)
                #expect(attributes["monitorLocation"] == "bergen" && attributes["monitorLabels"]?["isp"] == "x")
                #expect(attributes["monitorLabels"]?["title"]?.string == (stream == "a" ? "no title" : nil))
                let cdn = try #require(attributes["monitorLabels"]?["cdn"]?.string)
                if found[stream]?.last != cdn { found[stream, default: []].append(cdn) }
                if sample["action"] == "MediaRequest" {
                    #expect(attributes["playerProfile"]?.string == (stream == "a" ? "standard" : "hlsjs"))
                }
            }
            // One session each: a reload of labels ends none.
            #expect(found == ["a": ["alpha", "gamma"], "b": ["beta"]])
            #expect(all.count { $0["action"] == "MediaRequest" } == 2)
        }
    }

    @Test("With `segments`, the rules on segments are applied to a watched stream")
    func segmentRules() async throws {
        try await withOrigin { origin in
            let url = origin.url("break/expired-segment-listed/live/ts/master.m3u8", session: "a")
            let file = try write(
                """
                streams:
                  - { name: a, url: "\(url)", continuous: true, checks: { rules: true, segments: 2 } }
                """
            )
            let watch = try RunningWatch(["--listen", "127.0.0.1:0", "--state", scratch.file("state"), file])
            let port = await watch.port()
            let failed = "instrument_stream_check_failed{stream=\"a\",rule=\"expired-segment-listed\"}"
            _ = try await watch.metrics(port: port) { $0[failed] == 1 }
            watch.send(SIGTERM)
            #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
        }
    }

    @Test(
        "SIGHUP with a bad configuration keeps the last good one, and with a good one keeps streams that did not change"
    )
    func reload() async throws {
        try await withOrigin { origin in
            let url = origin.url("live/ts/master.m3u8", session: "a")
            let first = "streams:\n  - { name: one, url: \"\(url)\", continuous: true }\n"
            let file = try write(first)
            let watch = try RunningWatch(["--listen", "127.0.0.1:0", file])
            let port = await watch.port()
            await watch.wait(for: "one plays")
            _ = try write(first + "  - { name: two, urll: x }\n")
            watch.send(SIGHUP)
            await watch.wait(for: "the new configuration is not used")
            #expect(watch.output.contains("m.yaml:3:"))
            #expect(watch.output.contains("Did you mean `url`?"))
            #expect(
                try RawClient.get("/metrics", port: port).body.contains("instrument_monitor_configuration_valid 0\n")
            )
            let broken = try JSONValue(parsing: RawClient.get("/api/state", port: port).body)["monitor"]
            guard case .array(let problems)? = broken?["configurationProblems"] else {
                return #expect(Bool(false), "the dashboard's data have no problems: \(String(describing: broken))")
            }
            #expect(broken?["configurationProblemCount"]?.int == problems.count)
            #expect(problems.first?["file"]?.string == file && problems.first?["line"]?.int == 3)
            #expect(problems.contains { $0["message"]?.string?.contains("Did you mean `url`?") == true })
            _ = try write(first + "  - { name: two, url: \"\(url)\", continuous: true }\n")
            watch.send(SIGHUP)
            await watch.wait(for: "two plays")
            // Rendered metrics stay for half a second.
            let metrics = try await watch.metrics(port: port) { $0["instrument_monitor_configuration_valid"] == 1 }
            #expect(metrics["instrument_stream_sessions_total{stream=\"one\"}"] == 1, "\(watch.output)")
            let good = try JSONValue(parsing: RawClient.get("/api/state", port: port).body)["monitor"]
            #expect(good?["configurationProblems"] == nil)
            watch.send(SIGTERM)
            #expect(await watch.waitUntilExit() == 0)
        }
    }

    @Test("A changed file is read again without a signal")
    func changedFile() async throws {
        try await withOrigin { origin in
            let url = origin.url("live/ts/master.m3u8", session: "a")
            let file = try write("streams:\n  - { name: one, url: \"\(url)\", continuous: true }\n")
            let watch = try RunningWatch([file])
            await watch.wait(for: "one plays")
            _ = try write("streams:\n  - { name: two, url: \"\(url)\", continuous: true }\n")
            await watch.wait(for: "two plays")
            #expect(watch.output.contains("configuration reloaded: 1 stream"))
            watch.send(SIGINT)
            #expect(await watch.waitUntilExit() == 0)
        }
    }

    @Test(
        "A file that an include finds later is read, and read again when its mistake is corrected in place",
        arguments: ["d/*.yaml", "inc-*.yaml"]
    )
    func includedFile(_ pattern: String) async throws {
        try await withOrigin { origin in
            let url = origin.url("live/ts/master.m3u8", session: "a")
            let folder = scratch.file("d")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            _ = try write(
                "streams:\n  - { name: one, url: \"\(url)\", continuous: true }\n  - include: \"\(pattern)\"\n"
            )
            // A relative name, so that the folder of the include is the working directory itself.
            let watch = try RunningWatch(["m.yaml"], in: scratch.file(""))
            await watch.wait(for: "one plays")
            let included = scratch.file(pattern.replacingOccurrences(of: "*", with: "x"))
            try "- { name: two, urll: \"\(url)\", continuous: true }\n"
                .write(toFile: included, atomically: false, encoding: .utf8)
            await watch.wait(for: "the new configuration is not used")
            #expect(watch.output.contains("Did you mean `url`?"))
            try "- { name: two, url: \"\(url)\", continuous: true }\n"
                .write(toFile: included, atomically: false, encoding: .utf8)
            await watch.wait(for: "two plays")
            try FileManager.default.removeItem(atPath: included)
            await watch.wait(for: "configuration reloaded: 1 stream")
            watch.send(SIGTERM)
            #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
        }
    }

    @Test("Processes with different shards share a directory for their state, each with its streams and queues")
    func sharedState() async throws {
        try await withOrigin { origin in
            let url = origin.url("live/ts/master.m3u8", session: "a")
            let names = (0..<6).map { "s\($0)" }
            let streams = names.map { "  - { name: \($0), url: \"\(url)\", continuous: true }\n" }.joined()
            // Each process has a file of samples: one process cannot know what another one writes.
            let files = try (1...2).map { number in
                try write(
                    "streams:\n\(streams)backends: { samples: { file: \"\(scratch.file("\(number).ndjson"))\" } }\n",
                    "m\(number).yaml"
                )
            }
            let state = scratch.file("state")
            for _ in 0..<2 {
                let processes = try (1...2).map { number in
                    try RunningWatch(["--shard", "\(number)/2", "--state", state, files[number - 1]])
                }
                for (number, process) in zip(1...2, processes) {
                    let shard = try #require(Shard(number: number, of: 2))
                    for name in names where shard.contains(name) { await process.wait(for: "\(name) plays") }
                }
                for process in processes { process.send(SIGTERM) }
                for process in processes { #expect(await process.waitUntilExit() == 0, "\(process.output)") }
            }
            // Each process keeps the states of its alerts; nothing is left in the queues.
            let kept = try FileManager.default.contentsOfDirectory(atPath: state).filter { $0.hasPrefix("monitor") }
            #expect(kept.sorted() == ["monitor-1-of-2.json", "monitor-2-of-2.json"])
            let starts = (1...2).map { number in
                String(decoding: scratch.bytes("\(number).ndjson"), as: UTF8.self).split(separator: "\n")
                    .count { $0.contains("\"action\":\"Start\"") }
            }
            #expect(starts.reduce(0, +) == 2 * names.count)
        }
    }

    @Test("--check finds an address of a backend that watch could not use")
    func backendAddresses() async throws {
        let cases = [
            ("kafka: \"k1.example.org:9092\"", "3:15: `kafka` must be `HOST:PORT"),
            ("nats: n.example.org", "3:14: `nats` must be `HOST[:PORT]"),
            ("graphite: \"h:99999\"", "3:18: `graphite` must be `HOST[:PORT]"),
            ("newrelic: x@eu, credentials: { env: K }", "3:18: `newrelic` must be `ACCOUNT`"),
            ("newrelic: 1234567@eu", "3:6: A backend of kind `newrelic` must have `credentials`"),
            ("influx: \"http://h.example/\"", "3:16: `influx` must be a URL with `?db=NAME`"),
        ]
        for (backend, problem) in cases {
            let file = try write("streams: []\nbackends:\n  a: { \(backend) }\n")
            let watch = try RunningWatch(["--check", file])
            #expect(await watch.waitUntilExit() == 1)
            #expect(watch.output.contains(problem), "\(backend): \(watch.output)")
        }
        let good = try write(
            """
            streams: []
            backends:
              a: { kafka: "k1:9092,k2:9092/samples?tls" }
              b: { nats: "n:4222/samples" }
              c: { graphite: "h/players" }
              d: { newrelic: "1234567@eu", credentials: { env: K } }
              e: { influx: "http://h.example/?db=x" }
              f: { sift: "https://h.example", credentials: { env: K } }
            """
        )
        let watch = try RunningWatch(["--check", good])
        #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
    }

    @Test("Wrong configurations and addresses end the process at once, with the reason")
    func refusals() async throws {
        let good = try write("streams: []\n")
        let bad = try write("streams:\n  - { nam: x }\n", "bad.yaml")
        let taken = try TestServer { _ in [] }
        let cases: [([String], Int32, String)] = [
            ([bad], 1, "Did you mean `name`?"), (["--listen", "127.0.0.1:\(taken.port)", good], 1, "cannot listen on"),
            (["--listen", "0.0.0.0:0", good], 2, "needs --token-from"),
            (["--listen", "nonsense", good], 2, "HOST:PORT"),
            (["--token-from", "X", good], 2, "needs --listen"), (["--max-sessions", "0", good], 2, "--max-sessions"),
            ([scratch.file("missing.yaml")], 1, "Cannot read"),
        ]
        for (arguments, status, text) in cases {
            let watch = try RunningWatch(arguments)
            #expect(await watch.waitUntilExit() == status, "\(arguments)")
            #expect(watch.output.contains(text), "\(watch.output)")
        }
    }

    @Test("A secret that is not set is an error with its place, and no output holds a secret")
    func secrets() async throws {
        let text = """
            streams: []
            notify: { ops: { webhook: "http://127.0.0.1:1/?key=hidden-key", secret: { env: NO_SUCH_SECRET } } }
            """
        let watch = try RunningWatch([try write(text)])
        #expect(await watch.waitUntilExit() == 2)
        #expect(watch.output.contains("set the environment variable NO_SUCH_SECRET"))
        #expect(!watch.output.contains("hidden-key"))
        let backend = "streams: []\nbackends: { a: { newrelic: 1234567, credentials: { env: NO_SUCH_KEY } } }\n"
        let second = try RunningWatch([try write(backend)])
        #expect(await second.waitUntilExit() == 2)
        #expect(second.output.contains("set the environment variable NO_SUCH_KEY to a license key"))
    }

    @Test("The path of a webhook, which may be a secret, is in no output")
    func webhookPath() async throws {
        let file = try write(
            """
            streams:
              - { name: gone, url: "http://127.0.0.1:\(try TestServer.closedPort())/x.m3u8", continuous: true }
            alerts:
              - { name: down, when: up == 0, to: ops }
            notify: { ops: { webhook: "http://127.0.0.1:\(try TestServer.closedPort())/services/hidden-path" } }
            """
        )
        let watch = try RunningWatch([file])
        await watch.wait(for: "the queue retries backend alerts:ops")
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 3, "\(watch.output)")
        #expect(!watch.output.contains("hidden-path"))
    }

    @Test("A configuration behind a link is read again when the link has another target")
    func exchangedLink() async throws {
        try await withOrigin { origin in
            let url = origin.url("live/ts/master.m3u8", session: "a")
            let first = try write("streams:\n  - { name: one, url: \"\(url)\", continuous: true }\n", "1.yaml")
            let second = try write("streams:\n  - { name: two, url: \"\(url)\", continuous: true }\n", "2.yaml")
            let link = scratch.file("link.yaml")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: first)
            let watch = try RunningWatch([link])
            await watch.wait(for: "one plays")
            try FileManager.default.removeItem(atPath: link)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: second)
            await watch.wait(for: "two plays")
            watch.send(SIGTERM)
            #expect(await watch.waitUntilExit() == 0)
        }
    }

    private func alerting(_ receiver: Receiver, port: UInt16) throws -> String {
        try write(
            """
            streams:
              - { name: gone, url: "http://127.0.0.1:\(port)/x.m3u8", continuous: true }
            alerts:
              - { name: down, when: up == 0, to: ops }
            notify: { ops: { webhook: "\(receiver.url)", secret: { env: HOOK } } }
            """
        )
    }

    @Test("An alert reaches a receiver that fails first, signed and once, also after kill -9 and a restart")
    func alerts() async throws {
        let receiver = try Receiver(failures: 1)
        let file = try alerting(receiver, port: try TestServer.closedPort())
        let arguments = ["--state", scratch.file("state"), file]
        let first = try RunningWatch(arguments, environment: ["HOOK": "the secret"])
        await receiver.wait(for: 1)
        let message = receiver.received[0]
        #expect(message.signature == MessageSignature.header(message.body, key: Array("the secret".utf8)))
        let json = try JSONValue(parsing: message.body)
        #expect(json["alert"]?.string == "down")
        #expect(json["id"]?.string == message.id)
        guard case .array(let streams)? = json["streams"] else { return #expect(Bool(false)) }
        #expect(streams.map { $0["name"]?.string } == ["gone"])
        await first.wait(for: "alert FIRING down")
        // The file knows of the message.
        let state = scratch.file("state/monitor.json")
        while (try? String(contentsOfFile: state, encoding: .utf8))?.contains(#""told":["ops"]"#) != true {
            try #require(first.isRunning, "\(first.output)")
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(20)))
        }
        first.send(SIGKILL)
        _ = await first.waitUntilExit()
        let second = try RunningWatch(arguments, environment: ["HOOK": "the secret"])
        await second.wait(for: "gone is down")
        _ = try write(
            "streams: []\nalerts:\n  - { name: down, when: up == 0, to: ops }\nnotify: { ops: { webhook: \"\(receiver.url)\", secret: { env: HOOK } } }\n"
        )
        second.send(SIGHUP)
        while !receiver.statuses.contains("resolved") { await receiver.wait(for: receiver.received.count + 1) }
        second.send(SIGTERM)
        #expect(await second.waitUntilExit() == 0, "\(second.output)")
        // A copy, if the process was killed before the queue had written the delivery, has the identifier of the first.
        #expect(Set(receiver.received.map(\.id)).count == 2)
        #expect(receiver.statuses.first == "firing" && receiver.statuses.last == "resolved")
    }

    @Test("A secret in a file is replaced without a restart, also one that the receiver has refused")
    func rotation() async throws {
        let (refused, accepted) = (Gate(), Gate())
        let server = try TestServer { request in
            let isNew =
                request.header("X-Instrument-Signature")
                == MessageSignature.header(request.body, key: Array("new".utf8))
            (isNew ? accepted : refused).open()
            return [.respond(isNew ? "200 OK" : "401 Unauthorized")]
        }
        let secret = try scratch.write("old\n", "secret")
        let file = try write(
            """
            streams:
              - { name: gone, url: "http://127.0.0.1:\(try TestServer.closedPort())/x.m3u8", continuous: true }
            alerts:
              - { name: down, when: up == 0, to: ops }
            notify: { ops: { webhook: "\(server.url("/hook"))", secret: { file: "\(secret)" } } }
            """
        )
        let watch = try RunningWatch(["--state", scratch.file("state"), file])
        _ = await refused.wait()
        // Messages wait while the file is away, too.
        try FileManager.default.removeItem(atPath: secret)
        _ = try scratch.write("new\n", "secret")
        _ = await accepted.wait()
        await watch.wait(for: "the secret of ops has changed")
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
        #expect(!watch.output.contains("old"))
    }

    @Test("A receiver that hangs delays neither the streams nor the stop, and the message stays queued")
    func hangingReceiver() async throws {
        let receiver = try Receiver(hangs: true)
        let file = try alerting(receiver, port: try TestServer.closedPort())
        let watch = try RunningWatch(
            ["--listen", "127.0.0.1:0", "--state", scratch.file("state"), file],
            environment: ["HOOK": "x"]
        )
        let port = await watch.port()
        await receiver.wait(for: 1)
        #expect(try RawClient.get("/healthz", port: port).status == 200)
        #expect(
            try RawClient.get("/metrics", port: port).body.contains(
                "instrument_backend_queued_samples{backend=\"alerts:ops\"} 1\n"
            )
        )
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 3, "\(watch.output)")
        #expect(watch.output.contains("alerts:ops"))
    }

    @Test("Names and labels that attack a reader of JSON arrive in a webhook as they are")
    func hostileNames() async throws {
        let receiver = try Receiver()
        let name = #"</script><b>"x\"', {"a":1} é😀 %0d%0a ${jndi:ldap://h}"# + "\u{202E}"
        let quoted = { (text: String) in "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        let file = try write(
            """
            streams:
              - { name: \(quoted(name)), url: "http://127.0.0.1:\(try TestServer.closedPort())/x.m3u8", continuous: true, labels: { cdn: \(quoted(name)) } }
            alerts:
              - { name: \(quoted(name)), when: up == 0, to: ops }
            notify: { ops: { webhook: "\(receiver.url)", secret: { env: HOOK } } }
            """
        )
        let watch = try RunningWatch([file], environment: ["HOOK": "the secret"])
        await receiver.wait(for: 1)
        let message = receiver.received[0]
        #expect(message.signature == MessageSignature.header(message.body, key: Array("the secret".utf8)))
        let json = try JSONValue(parsing: message.body)
        guard case .array(let streams)? = json["streams"] else { return #expect(Bool(false)) }
        #expect(streams.map { $0["name"]?.string } == [name])
        #expect(streams.map { $0["labels"]?["cdn"]?.string } == [name])
        #expect(json["alert"]?.string == name)
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
    }

    @Test("What a crash left of a file that was about to be replaced is deleted at the start, and nothing else")
    func leftovers() async throws {
        let state = scratch.file("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        let digits = "0123456789abcdef"
        let leftovers = ["monitor.json.\(digits).new", "history.bin.\(digits).new"]
        let others = ["history-1-of-2.bin.\(digits).new", "notes.new", "history.bin.old"]
        for name in leftovers + others { _ = try write("x", "state/" + name) }
        let watch = try RunningWatch(["--listen", "127.0.0.1:0", "--state", state, try write("streams: []\n")])
        #expect(await watch.port() != 0, "\(watch.output)")
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
        let names = try FileManager.default.contentsOfDirectory(atPath: state)
        for name in leftovers { #expect(!names.contains(name)) }
        for name in others { #expect(names.contains(name)) }
    }

    @Test("State files that cannot be read get a second name, and the monitor continues with new ones")
    func unreadable() async throws {
        let state = scratch.file("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        let files = ["monitor.json": "{\"version\":2,\"alerts\":[]}", "history.bin": "IMHIST3\nabc"]
        for (name, text) in files { _ = try write(text, "state/" + name) }
        // What an earlier start has kept.
        _ = try write("older", "state/monitor.json.unreadable")
        let watch = try RunningWatch(["--listen", "127.0.0.1:0", "--state", state, try write("streams: []\n")])
        #expect(await watch.port() != 0, "\(watch.output)")
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
        let kept = ["monitor.json": "monitor.json.unreadable-2", "history.bin": "history.bin.unreadable"]
        for (name, text) in files {
            let copy = try #require(kept[name])
            #expect(watch.output.contains("state/\(name) is not a"), "\(watch.output)")
            #expect(watch.output.contains("is kept as \(state)/\(copy);"), "\(watch.output)")
            #expect(try String(contentsOfFile: state + "/" + copy, encoding: .utf8) == text)
            #expect(try String(contentsOfFile: state + "/" + name, encoding: .utf8) != text)
        }
        #expect(try String(contentsOfFile: state + "/monitor.json.unreadable", encoding: .utf8) == "older")
    }

    @Test("`keep` deletes rotated files that are too old, and no other file")
    func keep() async throws {
        let names = [
            "samples.000001.ndjson", "samples.000002.ndjson", "samples.ndjson", "samples.00000x.ndjson",
            "other.000001.ndjson",
        ]
        for name in names {
            _ = try write("", name)
            let age: TimeInterval = name.contains("000002") ? 3_000 : 8_000
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -age)],
                ofItemAtPath: scratch.file(name)
            )
        }
        let file = try write(
            "streams: []\nbackends: { samples: { file: \"\(scratch.file("samples.ndjson"))\", keep: 2h } }\n"
        )
        let watch = try RunningWatch([file])
        let old = scratch.file("samples.000001.ndjson")
        while FileManager.default.fileExists(atPath: old), watch.isRunning {
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(50)))
        }
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
        for name in names.dropFirst() {
            #expect(FileManager.default.fileExists(atPath: scratch.file(name)), "\(name)")
        }
    }

    @Test("With --dry-run, messages are printed and not sent")
    func dryRun() async throws {
        let receiver = try Receiver()
        let file = try alerting(receiver, port: try TestServer.closedPort())
        let watch = try RunningWatch(["--dry-run", file])
        await watch.wait(for: "alert (dry run) FIRING down: gone")
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 0)
        #expect(receiver.received.isEmpty)
    }

    @Test("top prints the table of a running monitor, and exits with 1 without one")
    func top() async throws {
        let file = try write(
            "streams:\n  - { name: gone, url: \"http://127.0.0.1:\(try TestServer.closedPort())/x.m3u8\" }\n"
        )
        let watch = try RunningWatch(["--listen", "127.0.0.1:0", file])
        let port = await watch.port()
        await watch.wait(for: "gone is down")
        let shown = try await command([siblingProgram("player-monitor"), "top", "http://127.0.0.1:\(port)"])
        #expect(shown.status == 0, "\(shown)")
        #expect(shown.output.contains("1 stream, 1 down"))
        // The columns stand under their heads, and no line is marked.
        let lines = shown.output.split(separator: "\n")
        let head = try #require(lines.first { $0.hasPrefix("STREAM") })
        let row = try #require(lines.first { $0.hasPrefix("gone") })
        let column = try #require(
            head.range(of: "STATE").map { head.distance(from: head.startIndex, to: $0.lowerBound) }
        )
        #expect(row.dropFirst(column).hasPrefix("down"), "\(shown.output)")
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 0)
        let alone = try await command([
            siblingProgram("player-monitor"), "top", "http://127.0.0.1:\(try TestServer.closedPort())",
        ])
        #expect(alone.status == 1)
    }

    @Test("incidents lists, acknowledges, silences and closes over HTTP, and exits with 1 for a refusal")
    func incidents() async throws {
        let file = try write(
            """
            streams:
              - { name: gone, url: "http://127.0.0.1:\(try TestServer.closedPort())/x.m3u8", labels: { cdn: a }, continuous: true }
            alerts: [{ name: down, when: up == 0, to: ops }]
            incidents: { group_wait: 1s }
            notify: { ops: { webhook: "http://127.0.0.1:\(try TestServer.closedPort())/x" } }
            access: { tokens: [{ name: ana, role: act, secret: { env: ANA } }] }
            """
        )
        let watch = try RunningWatch(["--dry-run", "--listen", "127.0.0.1:0", file], environment: ["ANA": "the token"])
        let port = await watch.port()
        await watch.wait(for: "alert (dry run) FIRING down: gone")
        let token = try write("the token", "token")
        let run = { (arguments: [String]) async throws -> CommandResult in
            let access = ["--at", "http://127.0.0.1:\(port)", "--token-from", "file:" + token]
            return try await command([siblingProgram("player-monitor"), "incidents"] + arguments + access)
        }
        let list = try JSONValue(parsing: try await run(["list", "--json"]).output)
        guard case .array(let incidents)? = list["incidents"], let id = incidents.first?["id"]?.string else {
            return #expect(Bool(false), "\(list)")
        }
        #expect(try await run(["ack", id, "--for", "2h", "--note", "calls"]).output == "acknowledged \(id)\n")
        #expect(try await run(["list"]).output.contains("acknowledged"))
        #expect(try await run(["show", id]).output.contains("ana has the incident"))
        let silence = try await run(["silence", "cdn=~a|b", "--for", "30m", "--reason", "move"])
        #expect(silence.status == 0, "\(silence)")
        let silenced = try #require(silence.output.split(whereSeparator: { $0 == " " || $0 == "\n" }).last)
        #expect(try await run(["list"]).output.contains("cdn=~\"a|b\""))
        #expect(try await run(["unsilence", String(silenced)]).status == 0)
        let work = try await run(["maintain", "cdn=a", "--for", "30m", "--name", "encoder"])
        let worked = try #require(work.output.split(whereSeparator: { $0 == " " || $0 == "\n" }).last, "\(work)")
        let listed = try await run(["list"]).output
        #expect(listed.contains("maintenance \(worked)  cdn=\"a\"  from 20") && listed.contains("encoder"), "\(listed)")
        #expect(try await run(["end-maintenance", String(worked)]).status == 0)
        #expect(try await run(["end-maintenance", String(worked)]).status == 1)
        #expect(try await run(["maintain", "--for", "30m", "--name", "x", "--begin", "soon"]).status == 2)
        let log = try await run(["log"]).output.split(separator: "\n")
        #expect(log.first?.contains("ana") == true && log.first?.contains("end maintenance") == true, "\(log)")
        #expect(try await run(["close", id]).output == "closed \(id)\n")
        #expect(try await run(["list"]).output.contains("no open incidents"))
        #expect(try await run(["close", id]).status == 1)
        #expect(try await run(["silence", "cdn", "--for", "30m"]).status == 2)
        // The monitor's words, and not that something else answers.
        let unknown = try await run(["show", "none"])
        #expect(unknown.status == 1 && unknown.errors.contains("no incident has this identifier"), "\(unknown)")
        for name in ["top", "incidents"] {
            let at = name == "top" ? [] : ["--at"]
            let refused = try await command(
                [siblingProgram("player-monitor"), name] + at + ["http://127.0.0.1:\(port)"]
            )
            #expect(refused.status == 1 && refused.errors.contains("refuses (status 401)"), "\(refused)")
        }
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
    }

    @Test("`objectives` shows the month of a running monitor as text, JSON, page and PDF")
    func objectives() async throws {
        let file = try write(
            """
            defaults: { continuous: true }
            streams: [{ name: gone, url: "http://127.0.0.1:\(try TestServer.closedPort())/x.m3u8" }]
            alerts: [{ name: down, when: up == 0, to: ops }]
            incidents: { group_wait: 1s }
            notify: { ops: { webhook: "http://127.0.0.1:\(try TestServer.closedPort())/x" } }
            objectives: [{ name: up, up: 99%, by: stream, to: [ops] }]
            """
        )
        let watch = try RunningWatch(["--dry-run", "--listen", "127.0.0.1:0", file])
        let port = await watch.port()
        await watch.wait(for: "alert (dry run) FIRING down: gone")
        let run = { (arguments: [String]) async throws -> CommandResult in
            let access = ["--at", "http://127.0.0.1:\(port)"]
            return try await command([siblingProgram("player-monitor"), "objectives"] + arguments + access)
        }
        let text = try await run([])
        #expect(text.status == 0 && text.output.contains("1 incident, "), "\(text)")
        #expect(try JSONValue(parsing: try await run(["--json"]).output)["incidents"]?.elements?.count == 1)
        let page = FileManager.default.temporaryDirectory.appending(path: "month-\(UUID().uuidString)").path
        defer { for end in ["html", "pdf"] { try? FileManager.default.removeItem(atPath: "\(page).\(end)") } }
        #expect(try await run(["-o", page + ".html"]).status == 0)
        #expect(try String(contentsOfFile: page + ".html", encoding: .utf8).contains("<h2 id=\"incidents\">"))
        #expect(try await run(["--month", "2026-13"]).status == 1)
        #expect(try await run(["--json", "-o", "-"]).status == 2)
        let missing = try await run(["--pdf", page + ".pdf", "--browser", "no-such-browser"])
        #expect(missing.status == 2 && missing.errors.contains("no-such-browser"), "\(missing)")
        if installedProgram("chromium") != nil {
            let printed = try await run(["--pdf", page + ".pdf"])
            #expect(printed.status == 0, "\(printed)")
            #expect(try Data(contentsOf: URL(filePath: page + ".pdf")).starts(with: Data("%PDF-".utf8)))
        }
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
    }
}
