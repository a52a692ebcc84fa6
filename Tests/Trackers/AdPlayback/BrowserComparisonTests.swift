import Foundation
import Instrument
import InstrumentAds
import InstrumentHTTP
import InstrumentJSON
import InstrumentOrigin
import InstrumentProbe
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

/// The probe beside hls.js in Chromium: which interstitials play, in which order, and where the content resumes.
@Suite("Interstitials in a browser", .ownThread, .timeLimit(.minutes(60)))
struct BrowserComparisonTests {
    /// What a player says of one playlist: its interstitials in the order in which they began, with their assets, and
    /// the positions at which the content began or resumed.
    private struct Course: Codable, Equatable {
        var started: [String]
        var assets: Int
        var resumed: [Double]
        var error: String?
    }

    private static let asset2 = "X-ASSET-URI=\"ad2.m3u8\",DURATION=2"

    /// Six playlists of 8 s of content, by their names.
    private static let playlists: [(name: String, tags: [String])] = [
        (
            "pre",
            [Playlist.interstitial("pre", at: 0, "CUE=\"PRE\"," + asset2 + ",X-RESUME-OFFSET=0")]
        ),
        ("mid", [Playlist.interstitial("mid", at: 4, asset2 + ",X-RESUME-OFFSET=0")]),
        ("replace", [Playlist.interstitial("replace", at: 2, asset2)]),
        (
            "limit",
            [
                Playlist.interstitial(
                    "limit",
                    at: 2,
                    "X-ASSET-URI=\"ad4.m3u8\",DURATION=4,X-PLAYOUT-LIMIT=2,X-RESUME-OFFSET=0"
                )
            ]
        ),
        ("list", [Playlist.interstitial("list", at: 4, "X-ASSET-LIST=\"list.json\",X-RESUME-OFFSET=1")]),
        (
            "two",
            [
                Playlist.interstitial("first", at: 4, asset2 + ",X-RESUME-OFFSET=1"),
                Playlist.interstitial("second", at: 4, asset2 + ",X-RESUME-OFFSET=1"),
            ]
        ),
    ]

    private static func answer(_ path: String) -> String? {
        switch path {
        case "/ad2.m3u8": return Playlist.text(1)
        case "/ad4.m3u8": return Playlist.text(2)
        case "/list.json":
            return "{\"ASSETS\":[{\"URI\":\"ad2.m3u8\",\"DURATION\":2},{\"URI\":\"ad2.m3u8\",\"DURATION\":2}]}"
        default:
            guard let found = playlists.first(where: { "/\($0.name).m3u8" == path }) else { return nil }
            return Playlist.text(4, tags: [0: found.tags])
        }
    }

    @Test("hls.js and the probe play the same interstitials in the same order, and resume at the same positions")
    func equal() async throws {
        let root = packageRoot.path
        let directory = ProcessInfo.processInfo.environment["HLS_JS_DIRECTORY"] ?? root + "/.build/hls-js"
        guard let script = FileManager.default.contents(atPath: directory + "/hls.js") else {
            return print("SKIPPED: the comparison with hls.js, because there is no hls.js (scripts/install-hls-js.sh)")
        }
        let courses: [String: Course]
        do {
            courses = try await browse(Array(script))
        } catch let error as Browser.Unavailable {
            return print("SKIPPED: the comparison with hls.js, because \(error.reason)")
        }
        for playlist in Self.playlists {
            let shown = try #require(courses[playlist.name])
            let played = try await probe(playlist.name)
            #expect(shown.error == nil, "\(playlist.name)")
            #expect(shown.started == played.started, "\(playlist.name)")
            #expect(shown.assets == played.assets, "\(playlist.name)")
            #expect(shown.resumed.count == played.resumed.count, "\(playlist.name): \(shown) \(played)")
            for (left, right) in zip(shown.resumed, played.resumed) {
                // A browser reports a position once it shows the content again, which takes a moment.
                #expect(abs(left - right) < 0.5, "\(playlist.name): \(shown) \(played)")
            }
        }
    }

    private func probe(_ name: String) async throws -> Course {
        let played = try await Stage.play("\(name).m3u8") { path, _ in Self.answer(path).map { .text($0) } }
        #expect(played.outcome == .ended)
        var started: [String] = []
        for event in played.all(.adBegin) {
            let id: String = event[.adId] ?? ""
            if started.last != id { started.append(id) }
        }
        let resumed = played.events.filter { event in
            event.action == .pauseFinish || (event.action == .start && started.first == "pre")
        }
        return Course(
            started: started,
            assets: played.all(.adBegin).count,
            resumed: resumed.compactMap { $0[.position]?.milliseconds }.map { Double($0) / 1_000 }
        )
    }

    /// Plays all playlists at the same time in one page.
    private func browse(_ script: [UInt8]) async throws -> [String: Course] {
        let transport = try SystemTransport()
        var segments: [String: [UInt8]] = [:]
        for name in ["init.mp4"] + (0..<4).map({ "\($0).m4s" }) {
            let path = "/vod/fmp4/v0/" + name
            let url = try HTTPURL(try await Stage.origin().url(path))
            segments[path] = try await transport.send(HTTPRequest(.get, url)).body
        }
        let names = Self.playlists.map { "\"\($0.name)\"" }.joined(separator: ",")
        let page = Array(Self.page.replacingOccurrences(of: "NAMES", with: names).utf8)
        let (reports, continuation) = AsyncStream.makeStream(of: Result<[UInt8], Browser.Unavailable>.self)
        let server = try TestServer { [segments] request in
            let path = String(request.target.prefix { $0 != "?" })
            if path == "/report" {
                continuation.yield(.success(request.body))
                return [.respond("204 No Content")]
            }
            if path == "/hls.js" { return [.respond("200 OK", script, "Content-Type: text/javascript")] }
            if let bytes = segments[path] { return [.respond("200 OK", bytes, "Content-Type: video/mp4")] }
            if let text = Self.answer(path) {
                let type = path.hasSuffix(".json") ? "application/json" : "application/vnd.apple.mpegurl"
                return [.respond("200 OK", Array(text.utf8), "Content-Type: \(type)")]
            }
            guard path == "/" else { return [.respond("404 Not Found")] }
            return [.respond("200 OK", page, "Content-Type: text/html")]
        }
        let browser = try Browser(opening: server.url()) { errors in
            continuation.yield(.failure(Browser.Unavailable(reason: "it ended before the page reported: \(errors)")))
        }
        defer { browser.end() }
        for await report in reports {
            return try JSONDecoder().decode([String: Course].self, from: Data(try report.get()))
        }
        throw Browser.Unavailable(reason: "the page did not report")
    }

    /// A video ends when the content has; a page that waits for two minutes reports what it has.
    private static let page = """
        <!doctype html><meta charset="utf-8"><title>interstitials</title><script type="module">
        import { t as load } from "/hls.js"
        function play(name) {
          const video = document.createElement("video")
          video.muted = true
          document.body.append(video)
          const course = { started: [], assets: 0, resumed: [], error: null }
          return new Promise(done => {
            // A pre-roll takes the place of the content while the content is about to play.
            const start = () => video.play().catch(() => setTimeout(start, 100))
            const hls = load(video, "/" + name + ".m3u8", start)
            // Content lasts 8 s, ads 2 s or 4 s.
            const showsContent = () => video.duration > 7 && !video.seeking
            hls.on("hlsInterstitialStarted", (_, data) => course.started.push(data.event.identifier))
            hls.on("hlsInterstitialAssetStarted", () => course.assets += 1)
            hls.on("hlsInterstitialsPrimaryResumed", () => {
              if (course.started.length === 0) return
              let isTaken = false
              const take = () => {
                if (isTaken || !showsContent()) return
                isTaken = true
                course.resumed.push(video.currentTime)
              }
              take()
              for (const name of ["seeked", "playing"]) video.addEventListener(name, take)
            })
            hls.on("hlsInterstitialAssetError", (_, data) => course.error = String(data.details))
            hls.on("hlsError", (_, data) => { if (data.fatal) course.error = String(data.details) })
            const end = () => done([name, course])
            video.addEventListener("ended", () => { if (video.duration > 7) end() })
            setTimeout(end, 120000)
          })
        }
        const courses = await Promise.all([NAMES].map(play))
        await fetch("/report", { method: "POST", body: JSON.stringify(Object.fromEntries(courses)) })
        </script>
        """
}
