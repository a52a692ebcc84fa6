import Foundation
import Instrument
import InstrumentJSON
import InstrumentOrigin
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

// One after another, for the same reason as the other runs of the command line.
@Suite("player-monitor with many streams", .earlyOnOwnThread, .serialized)
struct FleetCommandTests {
    private let directory = NSTemporaryDirectory() + "fleet-\(UUID().uuidString)"

    /// Gives the body an origin and a folder, and takes both away.
    private func withOrigin(
        faults: [FaultRule] = [],
        _ body: (Origin) async throws -> Void
    ) async throws {
        let fixtures = try await Fixtures.make(in: MediaCache.origin)
        let origin = try await Origin.start(media: [.fixtures(fixtures)], faults: faults)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await body(origin)
        await origin.stop()
    }

    /// On a separate thread, because a run blocks.
    private func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Run {
        let arguments = ["play", "--backend", "file:" + directory + "/samples.ndjson"] + arguments
        return try await withCheckedThrowingContinuation { continuation in
            Thread {
                continuation.resume(with: Result { try Run.playerMonitor(arguments, environment: environment) })
            }.start()
        }
    }

    @Test("Several sources give aligned rows in order, and totals; one failure gives exit code 1")
    func several() async throws {
        try await withOrigin { origin in
            let stream = origin.url("vod/ts/master.m3u8", session: "a")
            let run = try await run(["--speed", "max", stream, "/nowhere/film.mp4", Sample.path])
            #expect(run.status == 1 && run.output.isEmpty)
            let lines = run.errors.split(separator: "\n").map(String.init)
            try #require(lines.count >= 8, "\(run.errors)")
            let column = try #require(lines[0].range(of: "source")).lowerBound
            let sources = lines[1...3].map { String($0[column...]) }
            #expect(sources == [stream, "/nowhere/film.mp4", Sample.path])
            #expect(lines[1].contains("24.000 s  854x480  ended"))
            #expect(lines[2].contains("failed: notFound"))
            #expect(lines[4].hasPrefix("#2: there is no such file; check the path"))
            #expect(lines[5] == "3 streams: 2 ended, 1 failed")
            #expect(lines[6].contains("median 0 ms"))
            #expect(lines[8] == "  stalls           0")
        }
    }

    @Test("A list may have comments and empty lines; a hundred smooth streams are only counted")
    func list() async throws {
        try await withOrigin { _ in
            let list = directory + "/list.txt"
            let lines = ["# a hundred", "", "  "] + Array(repeating: "  " + Sample.path + "\r", count: 100)
            try lines.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
            let run = try await run(["--speed", "max", "--duration", "1", "--list", list])
            #expect(run.status == 0)
            #expect(run.errors.hasPrefix("… 100 more streams without problems\n100 streams: 100 stopped\n"))
            #expect(run.errors.contains("played           100.000 s"))
            #expect(try await self.run(["--list", directory + "/none"]).status == 2)
            try "# nothing\n".write(toFile: list, atomically: true, encoding: .utf8)
            #expect(try await self.run(["--list", list]).status == 2)
        }
    }

    @Test("In real time streams play at once, stall independently, and stop after their duration")
    func atOnce() async throws {
        // The second segment of a session never arrives whole: its stream stalls, however busy the machine is.
        try await withOrigin(faults: [try FaultRule("hang after 1000 on *.ts nth 2")]) { origin in
            let hasEnded = Lock(false)
            async let ended = {
                defer { hasEnded.withLock { $0 = true } }
                return try await self.run([
                    "--duration", "8", "--spacing", "0.2", "--max-bitrate", "500",
                    origin.url("vod/ts/master.m3u8", session: "a"), origin.url("vod/ts/master.m3u8", session: "b"),
                    Sample.path,
                ])
            }()
            // At one instant, both wait for their segment.
            let waiting = { Set(origin.requests.filter { $0.outcome == .hanging }.map(\.session)) }
            while waiting() != ["a", "b"] {
                try #require(!hasEnded.withLock { $0 }, "\(origin.requests)")
                try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(20)))
            }
            let run = try await ended
            #expect(run.status == 0)
            #expect(run.errors.contains("3 streams: 3 stopped"))
            let rows = run.errors.split(separator: "\n").dropFirst().prefix(3)
            #expect(rows.allSatisfy { $0.contains("stopped") })
            #expect(rows.prefix(2).allSatisfy { $0.contains("320x180") && $0.contains(" ms       1  ") })
            #expect(run.errors.contains("in 2 of 3 streams"))
        }
    }

    #if os(Linux)
    @Test(
        "Mistyped hosts, and one whose resolver hangs, change neither requests nor figures of the streams beside them"
    )
    func mistypedHosts() async throws {
        try await withOrigin { origin in
            // A program that the tests start has the names of the tests by this library.
            let library = directory + "/test-resolver.so"
            let source = Sample.root + "/Tests/Shared/CTestResolver/"
            let built = try await command([
                "clang", "-shared", "-fPIC", "-I", source + "include", "-o", library, source + "test_resolver.c",
                "-ldl",
            ])
            try #require(built.status == 0, "\(built.errors)")
            let healthy = ["vod/ts/master.m3u8", "live/ts/master.m3u8"]
            let mistyped = ["a", "b", "c", "d"].map { "http://\($0).typo.invalid/master.m3u8" }
            // Three failures before the first healthy stream, and one before the second.
            let mixed =
                Array(mistyped[..<3]) + healthy[..<1] + [mistyped[3], "http://e.hanging.invalid/master.m3u8"]
                + healthy[1...]
            var shown: [[String]] = []
            let machine = MachineLoad()
            for (number, sources) in [healthy, mixed].enumerated() {
                let file = directory + "/requests-\(number).ndjson"
                let run = try await run(
                    ["--duration", "8", "--requests", file]
                        + sources.map { $0.contains(":") ? $0 : origin.url($0, session: "\(number)-\($0.prefix(3))") },
                    environment: ["LD_PRELOAD": library]
                )
                let log = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
                    .map { try JSONValue(parsing: String($0)) }
                // Whether the last of the random retries comes before the end of the playback is left to chance.
                let unresolved = log.filter { $0["failure"]?.string?.contains("Couldn't resolve host name") == true }
                let mistypedHosts = Set(unresolved.compactMap { $0["url"]?.string })
                #expect(mistypedHosts == Set(number == 0 ? [] : mistyped), "\(run.errors)")
                let requests = log.filter { $0["url"]?.string?.contains("127.0.0.1") == true }
                // A stream that stops cancels the request that runs.
                let failed = requests.filter {
                    $0["status"]?.int != 200 && $0["failure"]?.string?.contains("cancelled") != true
                }
                #expect(requests.count > 10 && failed.isEmpty, "\(failed)")
                shown.append(run.errors.split(separator: "\n").filter { $0.contains("127.0.0.1") }.map(String.init))
            }
            try #require(shown.allSatisfy { $0.count == 2 })
            guard machine.allowsJudging("start and stalls of streams beside mistyped hosts") else { return }
            for line in shown.joined() {
                // `#  start  stalls  stalled`: the start in milliseconds.
                let fields = line.split(separator: " ")
                #expect(fields.count > 3 && fields[2] == "ms" && fields[3] == "0", "\(line)")
                #expect(Int(fields[1]).map { $0 < 500 } == true, "\(line)")
            }
        }
    }
    #endif

    @Test("The request log has one JSON line per request, with its stream and without queries")
    func requests() async throws {
        try await withOrigin { origin in
            let file = directory + "/requests.ndjson"
            let run = try await run([
                "--speed", "max", "--requests", file, "--max-height", "200",
                origin.url("vod/ts/master.m3u8") + "?token=secret",
                origin.url("vod/fmp4/master.m3u8") + "?token=secret",
            ])
            #expect(run.status == 0)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(!text.contains("secret") && !run.errors.contains("secret"))
            let lines = try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
            #expect(lines.count == origin.requests.count)
            #expect(Set(lines.compactMap { $0["stream"]?.int }) == [1, 2])
            #expect(lines.allSatisfy { $0["status"]?.int == 200 && $0["failure"] == .null })
            let segments = lines.filter { $0["stream"]?.int == 1 && $0["kind"]?.string == "segment" }
            #expect(segments.count == 12)
            #expect(segments.allSatisfy { $0["url"]?.string?.contains("/vod/ts/v0/") == true })
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test("Play computes quality metrics, and with --request-events those of each request")
    func qualityMetrics() async throws {
        try await withOrigin { origin in
            let stream = origin.url("vod/ts/master.m3u8")
            for arguments in [[], ["--request-events"]] {
                let run = try await run(["--speed", "max", "--backend", "json", stream] + arguments)
                #expect(run.status == 0)
                let lines = try run.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
                let names = lines.filter { $0["type"]?.string == "metric" }.compactMap { $0["name"]?.string }
                #expect(names.count { $0 == "RebufferRatio" } == 1, "\(names)")
                #expect(names.contains("AverageBitrate") && names.contains("WatchTime"))
                let requests = lines.count { $0["action"]?.string == "RequestFinish" }
                #expect(requests == (arguments.isEmpty ? 0 : origin.requests.count / 2))
                #expect(names.count { $0 == "TimeToFirstByte" } == requests)
            }
        }
    }

    @Test("Options for rule, start, seek and loop take effect")
    func player() async throws {
        try await withOrigin { origin in
            let stream = origin.url("vod/ts/master.m3u8")
            let run = try await run([
                "--speed", "max", "--profile", "hlsjs", "--abr", "highest", "--start-at", "4", "--seek", "2=20",
                "--loop",
                "2", "--backend", "json", stream,
            ])
            #expect(run.status == 0)
            let events = try run.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
            let positions = { (action: String) in
                events.filter { $0["action"]?.string == action }.map { $0["attributes"]?["position"]?.int ?? -1 }
            }
            // The jump comes once, two seconds after playback was asked for; hls.js works for 8 and 6 ms on two
            // playlists, and for 125 ms on the first picture.
            #expect(positions("Start") == [4000, 4000])
            #expect(positions("SeekBegin") == [5861])
            #expect(positions("End") == [24_000, 24_000])
            #expect(origin.requests.contains { $0.path.contains("/v2/") })
        }
    }

    @Test("A pause and a change of the rate take effect at their times")
    func viewer() async throws {
        try await withOrigin { origin in
            let run = try await run([
                "--speed", "max", "--pause", "2=3", "--rate", "8=2", "--backend", "json",
                origin.url("vod/ts/master.m3u8"),
            ])
            #expect(run.status == 0)
            let events = try run.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
            let times = { (action: String) in
                // The wall clock of a stream in virtual time stays at the real one.
                events.filter { $0["action"]?.string == action }
                    .compactMap { $0["instant"]?.int.map { $0 / 1_000_000 } }
            }
            let requested = try #require(times("MediaRequest").first)
            #expect(times("PauseBegin") == [requested + 2000])
            #expect(times("PauseFinish") == [requested + 5000])
            #expect(times("PlaybackRateChange") == [requested + 8000])
            // The first 8 s without the start and the pause are played; the rest follows at twice the rate.
            let start = try #require(times("Start").first) - requested
            let played = 8000 - 3000 - start
            #expect(abs(try #require(times("End").first) - requested - (8000 + (24_000 - played) / 2)) <= 1)
        }
    }

    @Test("Private addresses are refused in every source")
    func refused() async throws {
        try await withOrigin { origin in
            let run = try await run([
                "--refuse-private-addresses", "--profile", "mpv", origin.url("vod/ts/master.m3u8"),
                origin.url("vod/movie.mp4"),
            ])
            #expect(run.status == 1 && origin.requests.isEmpty)
            #expect(run.errors.contains("2 failed") && run.errors.contains("private addresses are refused"))
        }
    }

    @Test(
        "Wrong arguments give exit code 2 and list the known values",
        arguments: [
            (["--profile", "vlc", "x"], "exoplayer"), (["--abr", "best", "x"], "bola-e"),
            (["--seek", "5", "x"], "at=to"),
            (["--seek", "-1=4", "x"], "at=to"), (["--pause", "5", "x"], "two times such as 10s=5s"),
            (["--rate", "5=0", "x"], "a factor of 0.0625 to 16"),
            (["--player", "chrome", "--rate", "5=2", "x"], "--player probe"),
            (["--max-bitrate", "0", "x"], "--max-bitrate"),
            (["--start-at", "-1", "x"], "start-at"), (["--loop", "-2", "x"], "loop"),
            (["--spacing", "nan", "x", "y"], "--spacing"), (["--bandwidth-limit", "0", "x"], "--bandwidth-limit"),
            (["--bandwidth-limit", "300", "--speed", "max", "x"], "--bandwidth-limit needs --speed real"),
            (["--bandwidth-limit", "300", "http://127.0.0.1:1/film.mp4"], "(found http://127.0.0.1:1/film.mp4)"),
            (["--bandwidth-limit", "300", "http://127.0.0.1:1/a.m3u8", "film"], "of HLS and DASH (found film)"),
            (["--requests", "/dev/null/r", "x"], "/dev/null/r"), ([], "--list"),
        ]
    )
    func wrongUse(arguments: [String], expected: String) async throws {
        let run = try await run(arguments)
        #expect(run.status == 2)
        #expect(run.errors.contains(expected), "\(run.errors)")
    }

    @Test("A wait for a presentation that has not begun is one line on standard error, and none with --quiet")
    func notBegun() async throws {
        let manifest = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" availabilityStartTime="2199-01-01T00:00:00Z" \
            minimumUpdatePeriod="PT2S"><Period id="p" start="PT0S"><AdaptationSet mimeType="video/mp4">\
            <SegmentTemplate duration="2" media="$Number$.m4s"/><Representation id="a" bandwidth="100000"/>\
            </AdaptationSet></Period></MPD>
            """
        let server = try TestServer { _ in [.respond("200 OK", Array(manifest.utf8))] }
        try await withOrigin { _ in
            for option in [[], ["--quiet"]] {
                let run = try await run(["--speed", "max", "--duration", "9s", server.url("/live.mpd")] + option)
                let notices = run.errors.split(separator: "\n").count { line in
                    line.hasPrefix(server.url("/live.mpd") + ": the presentation begins at 2199-01-01T00:00:00.000Z")
                }
                #expect(run.status == 0 && notices == (option.isEmpty ? 1 : 0), "\(run.errors)")
            }
        }
    }

    @Test("HTTP/3 is refused before anything is requested where libcurl has none")
    func http3() async throws {
        try await withOrigin { origin in
            let run = try await run(["--http3", origin.url("vod/movie.mp4")])
            if TransportConfiguration.supportsHTTP3 { return #expect(run.status == 0) }
            #expect(run.status == 2 && run.errors.contains("--http3 needs a libcurl with HTTP/3"), "\(run.errors)")
            #expect(origin.requests.isEmpty)
        }
    }

    @Test("Help lists profiles, rules and options")
    func help() async throws {
        let run = try Run.playerMonitor("play", "--help")
        for word in ["exoplayer", "dashjs", "bola-e", "--refuse-private-addresses", "--list"] {
            #expect(run.output.contains(word))
        }
    }
}
