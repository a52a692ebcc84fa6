import Foundation
import Instrument
import InstrumentJSON
import InstrumentMonitor
import InstrumentOrigin
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
            _ = try write(first + "  - { name: two, url: \"\(url)\", continuous: true }\n")
            watch.send(SIGHUP)
            await watch.wait(for: "two plays")
            let metrics = try RawClient.get("/metrics", port: port).body
            #expect(metrics.contains("instrument_stream_sessions_total{stream=\"one\"} 1\n"), "\(watch.output)")
            #expect(metrics.contains("instrument_monitor_configuration_valid 1\n"))
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
            #expect(watch.output.contains("configuration reloaded: 1 streams"))
            watch.send(SIGINT)
            #expect(await watch.waitUntilExit() == 0)
        }
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
        // The end of the delivery is written before the next evaluation.
        try await SystemClock().sleep(until: SystemClock().now.advanced(by: .seconds(1)))
        first.send(SIGKILL)
        _ = await first.waitUntilExit()
        let second = try RunningWatch(arguments, environment: ["HOOK": "the secret"])
        await second.wait(for: "gone is down")
        // The message that the alert is resolved comes after any copy of the first message would.
        _ = try write(
            "streams: []\nalerts:\n  - { name: down, when: up == 0, to: ops }\nnotify: { ops: { webhook: \"\(receiver.url)\", secret: { env: HOOK } } }\n"
        )
        second.send(SIGHUP)
        await receiver.wait(for: 2)
        #expect(receiver.statuses == ["firing", "resolved"])
        second.send(SIGTERM)
        #expect(await second.waitUntilExit() == 0, "\(second.output)")
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
        #expect(shown.output.contains("1 streams, 1 down"))
        #expect(shown.output.contains("gone"))
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 0)
        let alone = try await command([
            siblingProgram("player-monitor"), "top", "http://127.0.0.1:\(try TestServer.closedPort())",
        ])
        #expect(alone.status == 1)
    }
}
