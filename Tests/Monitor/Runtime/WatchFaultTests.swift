import Foundation
import Instrument
import InstrumentJSON
import InstrumentOrigin
import LoopbackServers
import TestTraits
import Testing

/// Faults of the machine, of the fleet and of streams around a running `player-monitor watch`.
@Suite("player-monitor watch among faults", .serialized, .earlyOnOwnThread)
struct WatchFaultTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// The samples in files, each once, by their numbers in the queue.
    private func samples(_ names: String...) -> [Int: JSONValue] {
        var samples: [Int: JSONValue] = [:]
        for name in names {
            for line in scratch.bytes(name).split(separator: UInt8(ascii: "\n")) {
                guard let json = try? JSONValue(parsing: Array(line)), let number = json["sequence"]?.int else {
                    continue
                }
                samples[number] = json
            }
        }
        return samples
    }

    private func sample(_ name: String, of backend: String) -> String {
        "instrument_backend_\(name)_samples\(name == "queued" || name == "dead" ? "" : "_total"){backend=\"\(backend)\"}"
    }

    @Test(
        "After kill -9 and a restart, the file has every sample that was queued",
        .enabled(if: LastingMemory.isThere, "\(LastingMemory.whyNot)")
    )
    func killed() async throws {
        try await withOrigin { origin in
            let url = origin.url("live/ts/master.m3u8", session: "a")
            let file = try scratch.write(
                """
                streams:
                  - { name: one, url: "\(url)", continuous: true }
                  - { name: two, url: "\(url)", continuous: true }
                backends: { samples: { file: "\(scratch.file("samples.ndjson"))" } }
                """,
                "m.yaml"
            )
            let arguments = ["--listen", "127.0.0.1:0", "--state", scratch.file("state"), file]
            let first = try RunningWatch(arguments)
            let port = await first.port()
            await first.wait(for: "one plays")
            await first.wait(for: "two plays")
            // From here on, the file cannot be written, so that the queue has samples when the process is killed.
            let files = FileManager.default
            try files.moveItem(atPath: scratch.file("samples.ndjson"), toPath: scratch.file("before.ndjson"))
            try files.createDirectory(atPath: scratch.file("samples.ndjson"), withIntermediateDirectories: false)
            let page = try await first.metrics(port: port) { ($0[sample("queued", of: "samples")] ?? 0) >= 20 }
            let emitted = Int(try #require(page[sample("emitted", of: "samples")]))
            first.send(SIGKILL)
            _ = await first.waitUntilExit()
            try files.removeItem(atPath: scratch.file("samples.ndjson"))
            let second = try RunningWatch(arguments)
            await second.wait(for: "one plays")
            await second.wait(for: "two plays")
            second.send(SIGTERM)
            #expect(await second.waitUntilExit() == 0, "\(second.output)")
            let found = samples("before.ndjson", "samples.ndjson")
            #expect(found.count > emitted)
            // Without a gap: nothing was lost between the first and the last sample of both processes.
            #expect(found.keys.sorted() == Array(0..<found.count))
            // Both processes played both streams.
            let starts = found.values.filter { $0["action"]?.string == "Start" }
            #expect(
                starts.compactMap { $0["attributes"]?["monitorStream"]?.string }.sorted() == [
                    "one", "one", "two", "two",
                ]
            )
        }
    }

    @Test("After kill -9 and a restart, a stream that was down is down at once, since then, for the first cause")
    func killedWhileDown() async throws {
        let file = try scratch.write(
            """
            streams:
              - { name: one, url: "http://127.0.0.1:\(try TestServer.closedPort())/x.m3u8", continuous: true }
            alerts:
              - { name: down, when: up == 0, to: ops }
            notify: { ops: { webhook: "http://127.0.0.1:\(try TestServer.closedPort())/" } }
            """,
            "m.yaml"
        )
        let arguments = ["--dry-run", "--listen", "127.0.0.1:0", "--state", scratch.file("state"), file]
        func row(_ port: Int) throws -> JSONValue? {
            let body = try RawClient.get("/api/state", port: port).body
            guard case .array(let rows)? = try JSONValue(parsing: Array(body.utf8))["streams"] else { return nil }
            return rows.first
        }
        let first = try RunningWatch(arguments)
        let port = await first.port()
        await first.wait(for: "one is down: Connection fails")
        _ = try await first.metrics(port: port) { $0["instrument_monitor_alert_firing{alert=\"down\"}"] == 1 }
        let old = try #require(try row(port))
        #expect(old["cause"]?["kind"]?.string == "network")
        let state = scratch.file("state/monitor.json")
        while !((try? String(contentsOfFile: state, encoding: .utf8)) ?? "").contains("\"state\":\"firing\"") {
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(100)))
        }
        first.send(SIGKILL)
        _ = await first.waitUntilExit()
        let second = try RunningWatch(arguments)
        let later = await second.port()
        let new = try #require(try row(later))
        #expect(new["state"]?.string == "down")
        #expect(new["stateSince"] == old["stateSince"])
        #expect(new["cause"]?["since"] == old["cause"]?["since"])
        let page = try await second.metrics(port: later) { _ in true }
        #expect(page["instrument_monitor_alert_firing{alert=\"down\"}"] == 1)
        #expect(page["instrument_stream_up{stream=\"one\"}"] == 0)
        second.send(SIGTERM)
        #expect(await second.waitUntilExit() == 0, "\(second.output)")
    }

    private func run(_ arguments: String...) async throws -> Bool { try await command(arguments).status == 0 }

    // The alert's message waits in that memory while the disk is full.
    @Test(
        "On a full disk, streams play on and pages are served; when there is room again, delivery continues",
        .enabled(if: LastingMemory.isThere, "\(LastingMemory.whyNot)")
    )
    func fullDisk() async throws {
        let disk = scratch.file("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let mount = try await command(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk])
        guard mount.status == 0 else {
            let reason = mount.errors.split(separator: "\n").first ?? "mount failed"
            return print("SKIPPED: watch on a full disk, because no file system can be mounted (\(reason))")
        }
        do { try await playOnFullDisk(disk) } catch {
            _ = try await run("umount", "-l", disk)
            throw error
        }
        _ = try await run("umount", "-l", disk)
    }

    private func playOnFullDisk(_ disk: String) async throws {
        try await withOrigin { origin in
            let url = origin.url("live/ts/master.m3u8", session: "a")
            let file = try scratch.write(
                """
                streams:
                  - { name: one, url: "\(url)", continuous: true }
                  - { name: gone, url: "http://127.0.0.1:\(try TestServer.closedPort())/x.m3u8", continuous: true }
                alerts:
                  - { name: down, when: up == 0, for: 20s, to: ops }
                backends: { samples: { file: "\(disk)/samples.ndjson" } }
                notify: { ops: { webhook: "http://127.0.0.1:\(try TestServer.closedPort())/" } }
                """,
                "m.yaml"
            )
            let watch = try RunningWatch(["--listen", "127.0.0.1:0", "--state", disk + "/state", file])
            let port = await watch.port()
            await watch.wait(for: "one plays")
            _ = try await run("dd", "if=/dev/zero", "of=\(disk)/filler", "bs=1M")
            // The last bytes, which no whole block of a megabyte fills.
            _ = try await run("dd", "if=/dev/zero", "of=\(disk)/filler2", "bs=1k")
            await watch.wait(for: "disk is full")
            let playing = "instrument_stream_playing_seconds_total{stream=\"one\"}"
            let full = try await watch.metrics(port: port) { ($0[playing] ?? 0) > 1 }
            let later = try await watch.metrics(port: port) { ($0[playing] ?? 0) > (full[playing] ?? 0) + 5 }
            #expect(later["instrument_stream_up{stream=\"one\"}"] == 1)
            // The alert fires while its message cannot be written to the disk, is shown, and keeps its message.
            _ = try await watch.metrics(port: port) { $0["instrument_monitor_alert_firing{alert=\"down\"}"] == 1 }
            await watch.wait(for: "alert FIRING down")
            #expect(try RawClient.get("/healthz", port: port).status == 200)
            let delivered = later[sample("acknowledged", of: "samples")] ?? 0
            for name in ["/filler", "/filler2"] { try FileManager.default.removeItem(atPath: disk + name) }
            let end = try await watch.metrics(port: port) {
                ($0[sample("acknowledged", of: "samples")] ?? 0) > delivered
                    && $0[sample("queued", of: "samples")] ?? 1 < 10
            }
            #expect(end[sample("dead", of: "samples")] == 0)
            #expect(end[sample("queued", of: "alerts:ops")] == 1)
            watch.send(SIGTERM)
            // The message about the alert has no receiver.
            #expect(await watch.waitUntilExit() == 3, "\(watch.output)")
            // A line for each attempt would fill the log of a machine whose disk is full.
            let lines = watch.output.split(separator: "\n")
            #expect(lines.count { $0.contains("the state is kept in memory") } <= 1, "\(watch.output)")
        }
    }

    @Test("Streams that lie, attack or never answer are down, and a good stream among them does not notice")
    func hostileStreams() async throws {
        let attacks: [(String, String)] = [
            ("endless", "endless on *.m3u8"), ("hang", "hang on *.m3u8"), ("loop", "redirect loop on *.m3u8"),
            ("page", "html on *.m3u8"), ("trickle", "trickle 1 every 50ms on *.m3u8"), ("reset", "reset on *.m3u8"),
            ("nothing", "hang after 0 on *.ts"), ("noise", "body of live/ts/master.m3u8 on *.ts"),
        ]
        var origins: [Origin] = []
        let media = [ServedMedia.fixtures(try await Fixtures.make(in: MediaCache.origin))]
        for (_, fault) in attacks {
            origins.append(try await Origin.start(media: media, faults: [try FaultRule(fault)]))
        }
        do { try await watchGoodStream(among: zip(attacks.map(\.0), origins).map { ($0, $1) }) } catch {
            for origin in origins { await origin.stop() }
            throw error
        }
        for origin in origins { await origin.stop() }
    }

    private func watchGoodStream(among hostile: [(name: String, origin: Origin)]) async throws {
        try await withOrigin { good in
            let lines = (hostile + [("good", good)]).map { name, origin in
                "  - { name: \(name), url: \"\(origin.url("live/ts/master.m3u8", session: name))\" }\n"
            }
            let defaults = "defaults: { continuous: true, checks: { rules: true, stale: 3x } }\n"
            let file = try scratch.write(defaults + "streams:\n" + lines.joined(), "m.yaml")
            let watch = try RunningWatch(["--listen", "127.0.0.1:0", file])
            let port = await watch.port()
            await watch.wait(for: "good plays")
            for (name, _) in hostile { await watch.wait(for: "\(name) is down") }
            let page = try await watch.metrics(port: port) {
                ($0["instrument_stream_playing_seconds_total{stream=\"good\"}"] ?? 0) > 20
            }
            #expect(page["instrument_stream_up{stream=\"good\"}"] == 1)
            #expect(page["instrument_stream_sessions_total{stream=\"good\"}"] == 1)
            #expect(!page.text.contains("instrument_stream_errors_total{stream=\"good\""))
            #expect(!page.text.contains("instrument_stream_check_failed{stream=\"good\""))
            for (name, _) in hostile { #expect(page["instrument_stream_up{stream=\"\(name)\"}"] == 0, "\(name)") }
            // An endless playlist is not kept.
            #expect(try #require(page["process_resident_memory_bytes"]) < 1e9)
            watch.send(SIGTERM)
            #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
        }
    }

    @Test("Ten thousand streams in the file start, are served, and stop; a stream among them plays")
    func tenThousandStreams() async throws {
        let port = try TestServer.closedPort()
        try await withOrigin { origin in
            let good =
                "  - { name: good, url: \"\(origin.url("live/ts/master.m3u8", session: "a"))\", continuous: true }\n"
            let lines = (0..<10_000).map { number in
                "  - { name: s\(number), url: \"http://127.0.0.1:\(port)/\(number).m3u8\", labels: { channel: c\(number % 100) } }\n"
            }
            let text = "defaults: { every: 1h, for: 10s }\nstreams:\n" + good + lines.joined()
            let watch = try RunningWatch(["--listen", "127.0.0.1:0", try scratch.write(text, "m.yaml")])
            let listening = await watch.port()
            await watch.wait(for: "good plays")
            await watch.wait(for: "is down")
            // Some twenty megabytes, which curl reads faster than a client of a test.
            let (page, state) = (scratch.file("page"), scratch.file("state.json"))
            #expect(try await run("curl", "-s", "-o", page, "http://127.0.0.1:\(listening)/metrics"))
            #expect(try await run("grep", "-qx", "instrument_monitor_streams 10001", page))
            #expect(try await run("grep", "-qx", "instrument_stream_up{stream=\"good\"} 1", page))
            #expect(
                try await run("grep", "-q", "^instrument_stream_up{stream=\"s[0-9]*\",channel=\"c[0-9]*\"} 0$", page)
            )
            #expect(try await run("curl", "-s", "-o", state, "http://127.0.0.1:\(listening)/api/state"))
            let counted = try await command(["sh", "-c", "grep -o '\"bars\":' '\(state)' | wc -l"])
            #expect(counted.output.trimmingCharacters(in: .whitespacesAndNewlines) == "10001")
            watch.send(SIGTERM)
            #expect(await watch.waitUntilExit() == 0)
        }
    }
}
