import Foundation
import Instrument
import InstrumentJSON
import InstrumentOrigin
import LoopbackServers
import TestTraits
import Testing

/// `watch` with a real Chromium beside the probe.
@Suite("watch with a browser", .serialized, .earlyOnOwnThread, .timeLimit(.minutes(30)))
struct RealBrowserWatchAloneTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// A program that starts Chromium with the options of tests, and writes its process identifier; nil without one.
    private func makeBrowser() throws -> String? {
        guard let program = Chromium.program else {
            print("SKIPPED: watch with a browser, because there is no chromium")
            return nil
        }
        let path = try scratch.write(
            """
            #!/bin/sh
            echo $$ > "\(scratch.file("pid"))"
            exec "\(program)" "$@" --no-proxy-server --disable-dev-shm-usage "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"

            """,
            "browser.sh"
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    private func state(_ port: Int) throws -> JSONValue {
        try JSONValue(parsing: try RawClient.get("/api/state", port: port).body)
    }

    @Test("Film, page and probe play side by side; a browser that dies is the monitor's incident and starts again")
    func plays() async throws {
        guard let browser = try makeBrowser() else { return }
        try await withOrigin { origin in
            let film = origin.url("vod/movie.mp4", session: "film")
            let pages = try TestServer { request in
                guard request.target == "/watch" else { return [.respond("404 Not Found")] }
                let text = "<!doctype html><title>A page</title><video autoplay muted loop src='\(film)'></video>"
                return [.respond("200 OK", Array(text.utf8), "Content-Type: text/html; charset=utf-8")]
            }
            let samples = scratch.file("samples.ndjson")
            let file = try scratch.write(
                """
                defaults: { continuous: true }
                streams:
                  - { name: film, url: "\(film)", player: chrome, labels: { channel: f } }
                  - { name: page, page: "\(pages.url("/watch"))", labels: { channel: p } }
                  - { name: probe, url: "\(origin.url("live/ts/master.m3u8", session: "probe"))" }
                backends: { samples: { file: "\(samples)" } }
                """,
                "m.yaml"
            )
            let watch = try RunningWatch(["--listen", "127.0.0.1:0", "--browser", browser, "--max-tabs", "2", file])
            let port = await watch.port()
            for name in ["film", "page", "probe"] { await watch.wait(for: "\(name) plays") }
            let up = { (name: String, channel: String) in
                "instrument_stream_up{stream=\"\(name)\",channel=\"\(channel)\"}"
            }
            let playing = try await watch.metrics(port: port) {
                $0[up("film", "f")] == 1 && $0[up("page", "p")] == 1 && $0["instrument_browser_tabs"] == 2
            }
            #expect(playing["instrument_browser_up"] == 1, "\(watch.output)")
            let requests = try await watch.metrics(port: port) {
                $0.text.contains("instrument_stream_requests_total{stream=\"film\",channel=\"f\",kind=\"segment\"")
            }
            #expect(requests["instrument_stream_startup_seconds_count{stream=\"page\",channel=\"p\"}"] == 1)

            let number = try String(contentsOfFile: scratch.file("pid"), encoding: .utf8)
            let process = try #require(pid_t(number.split(separator: "\n").first ?? ""))
            kill(process, SIGKILL)
            let lost = try await watch.metrics(port: port) { $0["instrument_browser_lost_sessions_total"] ?? 0 >= 2 }
            #expect(lost[up("film", "f")] == 1 && lost[up("page", "p")] == 1, "nothing is known of the streams")
            while !(try state(port)["incidents"]?.description.contains("browser of the monitor") ?? false) {
                try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(100)))
            }
            // Another browser plays both.
            let again = try await watch.metrics(port: port) {
                $0["instrument_stream_startup_seconds_count{stream=\"page\",channel=\"p\"}"] ?? 0 >= 2
                    && $0["instrument_stream_startup_seconds_count{stream=\"film\",channel=\"f\"}"] ?? 0 >= 2
            }
            #expect(again["instrument_stream_failed_sessions_total{stream=\"page\",channel=\"p\"}"] ?? 0 == 0)
            #expect(watch.output.contains("browser:"))
            watch.send(SIGTERM)
            #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
            let lines = String(decoding: scratch.bytes("samples.ndjson"), as: UTF8.self).split(separator: "\n")
            for name in ["film", "page", "probe"] {
                #expect(lines.contains { $0.contains("\"Start\"") && $0.contains("\"monitorStream\":\"\(name)\"") })
            }
            #expect(!lines.contains { $0.contains("\"Error\"") && !$0.contains("\"monitorStream\":\"probe\"") })
            // The browser ends with the monitor.
            let last = try String(contentsOfFile: scratch.file("pid"), encoding: .utf8)
            let child = try #require(pid_t(last.split(separator: "\n").first ?? ""))
            #expect(child != process && kill(child, 0) != 0)
        }
    }

    @Test("A page that cannot be opened, and a page that plays nothing, are down, and no incident of the browser")
    func failures() async throws {
        guard let browser = try makeBrowser() else { return }
        let pages = try TestServer { _ in
            [.respond("200 OK", Array("<!doctype html><p>nothing".utf8), "Content-Type: text/html")]
        }
        let file = try scratch.write(
            """
            streams:
              - { name: closed, page: "http://127.0.0.1:9/", continuous: true }
              - { name: quiet, page: "\(pages.url())", continuous: true }
            """,
            "m.yaml"
        )
        let watch = try RunningWatch(["--listen", "127.0.0.1:0", "--browser", browser, file])
        let port = await watch.port()
        let page = try await watch.metrics(port: port) {
            $0["instrument_stream_up{stream=\"closed\"}"] == 0 && $0["instrument_stream_up{stream=\"quiet\"}"] == 0
        }
        #expect(page["instrument_browser_lost_sessions_total"] == 0)
        let document = try state(port).description
        #expect(document.contains("pageFailed") && document.contains("nothingPlays"), "\(document)")
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 0)
    }

    @Test(
        "Streams that need more tabs than there are, and options that do not reach a browser, are refused with the place",
        arguments: [
            (["--max-tabs", "1"], "need 2 tabs at the same time, and --max-tabs allows 1"),
            (["--refuse-private-addresses"], "--refuse-private-addresses cannot hold for a browser"),
            (["--header", "X-Test: 1"], "do not reach a browser"),
        ]
    )
    func refusals(options: [String], words: String) async throws {
        let file = try scratch.write(
            """
            defaults: { continuous: true, player: chrome }
            streams: [{ name: a, url: "http://127.0.0.1:9/a.m3u8" }, { name: b, page: "http://127.0.0.1:9/" }]
            """,
            "m.yaml"
        )
        let watch = try RunningWatch(["--check"] + options + [file])
        #expect(await watch.waitUntilExit() == 1)
        #expect(watch.output.hasPrefix(file + ":2:") && watch.output.contains(words), "\(watch.output)")
    }
}
