import Foundation
import Instrument
import InstrumentJSON
import InstrumentOrigin
import LoopbackServers
import TestTraits
import Testing

/// `player-monitor play --ads` from the document to the beacon.
@Suite("player-monitor: ads", .ownThread, .timeLimit(.minutes(30)))
struct AdCommandTests {
    private func run(_ origin: Origin, _ session: String, _ more: [String]) async throws -> CommandResult {
        try await command(
            [
                siblingProgram("player-monitor"), "play", "--speed", "max", "--backend", "json", "--ads",
                origin.url("ads/vast.xml", session: session),
            ] + more + [origin.url("vod/ts/v0.m3u8", session: session)]
        )
    }

    private func beacons(_ origin: Origin, _ session: String) -> [String] {
        origin.requests(of: session).filter { $0.path == "/ads/beacon" }.map { record in
            record.query.split(separator: "&").first.map { String($0.dropFirst("event=".count)) } ?? ""
        }
    }

    @Test("A run with ads prints events and metrics of ads, and calls the ad server in order")
    func beaconsInOrder() async throws {
        let origin = try await Stage.origin()
        let result = try await run(origin, "command", ["--ad-macro", "CONTENTID=film"])
        #expect(result.status == 0, "\(result.errors)")
        let lines = try result.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        let actions = lines.compactMap { $0["action"]?.string }
        for action in ["AdBreakBegin", "AdBegin", "AdFirstQuartile", "AdFinish", "AdBreakFinish", "Start", "End"] {
            #expect(actions.filter { $0 == action }.count == 1, "\(action)")
        }
        let metrics = lines.compactMap { $0["name"]?.string }
        for metric in ["AdStartTime", "AdTime", "NumAds", "NumAdBreaks", "AdFillRate"] {
            #expect(metrics.filter { $0 == metric }.count == 1, "\(metric)")
        }
        // A recording has the beacons, marked as samples for ad servers alone.
        let marked = lines.filter { $0["action"]?.string == "AdBeacon" }
        #expect(marked.count == 7 && marked.allSatisfy { $0["service"] == "beacons" })
        #expect(
            beacons(origin, "command") == [
                "impression-1", "creativeView-1", "start-1", "firstQuartile-1", "midpoint-1", "thirdQuartile-1",
                "complete-1",
            ]
        )
    }

    @Test("The summary of a run has the result of its ads, and counts the content's time with its signals")
    func summary() async throws {
        let origin = try await Stage.origin()
        func summary(_ arguments: [String]) async throws -> [String] {
            let program = [siblingProgram("player-monitor"), "play", "--speed", "max", "--no-beacons"]
            let file = try Scratch().file("samples.ndjson")
            let result = try await command(program + ["--backend", "file:" + file] + arguments)
            #expect(result.status == 0, "\(result.errors)")
            return result.errors.split(separator: "\n").map(String.init)
        }
        let content = origin.url("vod/ts/v0.m3u8")
        let played = try await summary(["--ads", origin.url("ads/vast.xml?ads=2"), content])
        #expect(played.contains("  ads              2 in 1 break"), "\(played)")
        let failed = try await summary(["--ads", origin.url("ads/broken.xml"), content])
        #expect(failed.contains { $0.hasPrefix("  ads              none, 1 error: the document is not well-formed") })
        // A signal is an event of the tracker of ads; the time up to there is the content's.
        let signals = origin.url("vod/ts/ads-orphaned.m3u8")
        let program = [siblingProgram("player-monitor"), "play", "--speed", "max", "--interstitials"]
        let result = try await command(program + ["--backend", "json", signals])
        #expect(result.errors.contains("  played           24.000 s\n"), "\(result.errors)")
        let lines = try result.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        let times = lines.filter { $0["name"] == "PlayTime" }
        #expect(times.count > 1 && Set(times.map { $0["attributes"]?["senderId"] }).count == 1)
        #expect(Set(times.map { $0["tracker"] }).count == 1, "\(times)")
    }

    @Test("Each turn of --loop asks for its ads again, plays them, and calls the ad server for each of them")
    func loop() async throws {
        let origin = try await Stage.origin()
        let result = try await run(origin, "loop", ["--loop", "2"])
        #expect(result.status == 0, "\(result.errors)")
        let lines = try result.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        let actions = lines.compactMap { $0["action"]?.string }
        for action in ["AdBreakBegin", "AdBegin", "AdFinish", "AdBreakFinish", "Start", "End"] {
            #expect(actions.filter { $0 == action }.count == 2, "\(action)")
        }
        #expect(origin.requests(of: "loop").filter { $0.path == "/ads/vast.xml" }.count == 2)
        let once = [
            "impression-1", "creativeView-1", "start-1", "firstQuartile-1", "midpoint-1", "thirdQuartile-1",
            "complete-1",
        ]
        #expect(beacons(origin, "loop") == once + once)
    }

    @Test("Each turn of --loop plays a schedule with pre-, mid- and post-rolls, and interstitials, from the start")
    func loopOfBreaks() async throws {
        let origin = try await Stage.origin()
        let program = [siblingProgram("player-monitor"), "play", "--speed", "max", "--backend", "json", "--loop", "2"]
        for (arguments, breaks) in [
            (["--ads", origin.url("ads/vmap.xml", session: "loop-vmap"), origin.url("vod/ts/v0.m3u8")], 3),
            (["--interstitials", origin.url("vod/ts/ads-interstitials.m3u8")], 2),
        ] {
            let result = try await command(program + arguments)
            #expect(result.status == 0, "\(result.errors)")
            let lines = try result.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
            let begins = lines.filter { $0["action"] == "AdBreakBegin" }
            let rolls = begins.compactMap { $0["attributes"]?["adRoll"]?.string }
            let turn = ["pre", "mid", "post"].prefix(breaks)
            #expect(rolls == Array(turn + turn), "\(arguments)")
            let actions = lines.compactMap { $0["action"]?.string }
            #expect(actions.filter { $0 == "AdFinish" }.count == 2 * breaks)
            #expect(actions.filter { $0 == "End" }.count == 2 && !actions.contains("AdError"))
        }
        let beacons = beacons(origin, "loop-vmap")
        #expect(beacons.filter { $0 == "breakStart-mid" }.count == 2)
        #expect(beacons.filter { $0 == "complete-1" }.count == 6)
    }

    @Test("Metrics of ads that replay recomputes equal those of the playback")
    func recompute() async throws {
        let origin = try await Stage.origin()
        let scratch = try Scratch()
        let result = try await run(origin, "recompute", [])
        #expect(result.status == 0, "\(result.errors)")
        let (recording, computed) = (scratch.file("samples.ndjson"), scratch.file("computed.ndjson"))
        try result.output.write(toFile: recording, atomically: true, encoding: .utf8)
        let replay = try await command(
            [
                siblingProgram("player-monitor"), "replay", "-q", "--recompute", "--backend", "file:" + computed,
                recording,
            ]
        )
        #expect(replay.status == 0, "\(replay.errors)")
        let (live, again) = (try metrics(result.output), try metrics(String(contentsOfFile: computed, encoding: .utf8)))
        #expect(live.contains { $0.hasPrefix("AdTime ") } && live.contains { $0.hasPrefix("NumAds ") })
        #expect(live == again)
    }

    /// The metrics of a recording, as `name value`, in order.
    private func metrics(_ text: String) throws -> [String] {
        try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }.compactMap { line in
            line["name"]?.string.map { "\($0) \(line["value"].map(String.init(describing:)) ?? "")" }
        }.sorted()
    }

    @Test("An ad server that takes beacons and never answers stops no playback, and gets them from the next run")
    func hangingBeacons() async throws {
        let origin = try await Stage.origin()
        let (scratch, isHanging) = (try Scratch(), Lock(true))
        let server = try TestServer { request in
            if request.target.hasPrefix("/b/") {
                return isHanging.withLock { $0 } ? [.hang] : [.respond("204 No Content", [])]
            }
            return [.respond("200 OK", Array(Self.document("http://" + (request.header("Host") ?? ""), origin).utf8))]
        }
        let arguments = [
            siblingProgram("player-monitor"), "play", "--speed", "max", "--quiet", "--queue", scratch.file("queue"),
            "--backend", "file:" + scratch.file("samples.ndjson"), "--ads", server.url("/doc.xml"),
            origin.url("vod/ts/v0.m3u8"),
        ]
        let first = try await command(arguments)
        #expect(first.status == 3, "\(first.errors)")
        // The other samples that wait behind them are no beacons.
        #expect(first.errors.contains("3 samples were not delivered to beacons: 3 waiting"), "\(first.errors)")
        let samples = try String(contentsOfFile: scratch.file("samples.ndjson"), encoding: .utf8)
        #expect(samples.contains("\"AdFinish\"") && samples.contains("\"End\""))
        isHanging.withLock { $0 = false }
        let before = server.requests.count
        let second = try await command(arguments)
        #expect(second.status == 0, "\(second.errors)")
        let called = server.requests.dropFirst(before).map(\.target).filter { $0.hasPrefix("/b/") }
        #expect(called == ["/b/impression", "/b/start", "/b/complete", "/b/impression", "/b/start", "/b/complete"])
        let ids = server.requests.dropFirst(before).compactMap { $0.header("X-Beacon-ID") }
        #expect(Set(ids).count == 6)
    }

    private static func document(_ base: String, _ origin: Origin) -> String {
        "<VAST version=\"3.0\"><Ad id=\"1\"><InLine><AdSystem>x</AdSystem><AdTitle>x</AdTitle>"
            + "<Impression>\(base)/b/impression</Impression><Creatives><Creative><Linear><Duration>00:00:02</Duration>"
            + "<TrackingEvents><Tracking event=\"start\">\(base)/b/start</Tracking>"
            + "<Tracking event=\"complete\">\(base)/b/complete</Tracking></TrackingEvents><MediaFiles>"
            + "<MediaFile delivery=\"streaming\" type=\"application/x-mpegurl\" width=\"1\" height=\"1\">"
            + "\(origin.url("vod/ts/v0.m3u8"))</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>"
    }

    @Test("A report of a recording with ads has the ads' figures, as text and as a page")
    func report() async throws {
        let origin = try await Stage.origin()
        let scratch = try Scratch()
        let result = try await run(origin, "report", [])
        #expect(result.status == 0, "\(result.errors)")
        let file = scratch.file("samples.ndjson")
        try result.output.write(toFile: file, atomically: true, encoding: .utf8)
        let text = try await command([siblingProgram("player-monitor"), "report", file, "--text"])
        #expect(text.status == 0, "\(text.errors)")
        let rows = text.output.split(separator: "\n").drop { $0 != "Ads" }.dropFirst().map {
            $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }
        #expect(rows.contains("Ad breaks 1 (in 1 session)"))
        #expect(rows.contains { $0.hasPrefix("Ads 1 (") })
        #expect(rows.contains("Fill rate, mean 100.0 % (1 break with a number of expected ads)"))
        #expect(rows.contains { $0.hasPrefix("Ad start time, median 0.0") })
        #expect(rows.contains("Ad errors 0 (no errors)"))
        let page = try await command([siblingProgram("player-monitor"), "report", file, "-o", "-"])
        #expect(page.output.contains("<h2 id=\"ads\">Ads</h2>"))
    }

    @Test("Without beacons, and without consent, no ad server is called for an event", arguments: [false, true])
    func silence(isConsentDenied: Bool) async throws {
        let origin = try await Stage.origin()
        let scratch = try Scratch()
        let session = "silent-\(isConsentDenied)"
        var options = ["--no-beacons"]
        if isConsentDenied {
            let first = try await command(
                [
                    siblingProgram("player-monitor"), "play", "--speed", "max", "--quiet", "--queue",
                    scratch.file("queue"), "--backend", "file:" + scratch.file("all.ndjson"),
                    origin.url("vod/ts/v0.m3u8"),
                ]
            )
            #expect(first.status == 0, "\(first.errors)")
            let denial = try await command(
                [siblingProgram("player-monitor"), "queue", "consent", scratch.file("queue"), "denied"]
            )
            #expect(denial.status == 0, "\(denial.errors)")
            options = ["--queue", scratch.file("queue")]
        }
        let result = try await run(origin, session, options)
        #expect(result.status == 0, "\(result.errors)")
        #expect(beacons(origin, session).isEmpty)
        #expect(origin.requests(of: session).contains { $0.path == "/ads/vast.xml" })
    }

    @Test("Options that need ads are refused without them, and a bad value names what was expected")
    func options() async throws {
        for arguments in [
            ["--no-beacons"], ["--ad-macro", "A=1"], ["--ads", ""], ["--ads", "vast.xml"],
            ["--ads", "http://x", "--ad-timeout", "0"],
        ] {
            let result = try await command([siblingProgram("player-monitor"), "play"] + arguments + ["film.mp4"])
            #expect(result.status != 0 && result.errors.contains("must"), "\(arguments)")
        }
    }
}
