import Foundation
import Instrument
import InstrumentOrigin
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentChrome

/// Ads of real pages in a real Chromium: the order of what they report.
@Suite("Ads of pages in a real Chromium", .serialized, .earlyOnOwnThread, .timeLimit(.minutes(30)))
struct RealAdsAloneTests {
    private static let whole: [Action] = [.adBegin, .adFirstQuartile, .adSecondQuartile, .adThirdQuartile, .adFinish]

    private func withPage(
        _ page: String,
        _ more: [String: String] = [:],
        _ body: (ChromeStage, PageServer) async throws -> Void
    ) async throws {
        guard let stage = try ChromeStage.start() else { return }
        let pages = ["/": page, "/ima3.js": StubOfIMA.script].merging(more) { $1 }
        let server = try await PageServer(pages)
        stage.browser.open(server.url())
        try await body(stage, server)
        await stage.end()
        await server.stop()
    }

    /// The actions of an element without waits for data, of the content and of ads.
    private func actions(_ stage: ChromeStage, of player: Int = 0) -> [Action] {
        stage.actions(of: player).filter { $0 != .adBufferBegin && $0 != .adBufferFinish }
    }

    @Test("Ads before, in and behind the content are its ads, and neither stall, stop nor end it")
    func ima() async throws {
        let page = StubOfIMA.page(
            """
            await show("1,1.5", 0)
            await pass(1)
            await show("1", 1)
            await pass(0.5)
            video.currentTime = video.duration - 1
            await next("ended")
            loader.contentComplete()
            await show("1")
            """
        )
        try await withPage(page) { stage, server in
            await stage.wait(for: .adBreakFinish, 3)
            #expect(stage.players.count == 1, "\(stage.entries.map { "\($0.player) \($0.signal.action)" })")
            #expect(
                actions(stage) == [.streamLoad, .adBreakBegin] + Self.whole + Self.whole + [.adBreakFinish, .start]
                    + [.adBreakBegin, .pauseBegin] + Self.whole + [.adBreakFinish, .pauseFinish]
                    + [.seekBegin, .seekFinish, .end, .adBreakBegin] + Self.whole + [.adBreakFinish]
            )
            let begins = stage.signals().filter { $0.action == .adBegin }.map(\.attributes)
            #expect(begins.map { $0[.adId] } == ["ad-0-1", "ad-0-2", "ad-1-1", "ad--1-1"])
            #expect(begins.map { $0[.adRoll] } == [.pre, .pre, .mid, .post])
            #expect(begins.first?[.adTitle] == "Soap" && begins.first?[.adDuration] == .seconds(1))
            #expect(begins.first?[.adBitrate] == 800_000 && begins.first?[.adSystem] == "Stub")
            let instants = stage.signals().compactMap(\.instant)
            #expect(instants.count == stage.signals().count && instants == instants.sorted())
        }
    }

    @Test("Ads that a person skips or pauses, and a request without ads, are reported as such")
    func skipped() async throws {
        let page = StubOfIMA.page(
            """
            await show("error")
            await pass(0.5)
            const over = show("20", 1)
            await next("pause")
            while (!adsManagerOfPage?.video?.currentTime) await new Promise((done) => setTimeout(done, 20))
            await pass(0.3, adsManagerOfPage.video)
            adsManagerOfPage.pause()
            adsManagerOfPage.tell("CLICK")
            adsManagerOfPage.resume()
            adsManagerOfPage.skip()
            await over
            """
        )
        try await withPage(page) { stage, _ in
            await stage.wait(for: .pauseFinish)
            #expect(
                actions(stage) == [
                    .adError, .streamLoad, .start, .adBreakBegin, .pauseBegin, .adBegin, .adPauseBegin, .adClick,
                    .adPauseFinish, .adSkip, .adFinish, .adBreakFinish, .pauseFinish,
                ]
            )
            let error = try #require(stage.signals().first { $0.action == .adError }).attributes
            #expect(error[.errorCode] == "303" && error[.adErrorType] == "adLoadError")
            #expect(error[.errorDescription]?.contains("secret") == false)
        }
    }

    @Test("An ad whose end is not told ends with the content that plays on, and with the page that is left")
    func lost() async throws {
        let page = StubOfIMA.page(
            """
            video.play()
            await pass(0.5)
            show("20", 1)
            await next("pause")
            while (!adsManagerOfPage?.video?.currentTime) await new Promise((done) => setTimeout(done, 20))
            adsManagerOfPage.destroy()
            video.play()
            await pass(0.5)
            if (location.search === "") { show("20", 1); await next("pause") }
            while (adsManagerOfPage.isDestroyed || !adsManagerOfPage.video?.currentTime) await new Promise((done) => setTimeout(done, 20))
            location.search = "?next"
            """
        )
        try await withPage(page, ["/?next": "<!doctype html>"]) { stage, _ in
            await stage.wait(for: .stop)
            let ad: [Action] = [.adBreakBegin, .pauseBegin, .adBegin]
            let all = actions(stage)
            #expect(Array(all.prefix(5)) == [.streamLoad, .start] + ad)
            #expect(Set(all[5..<8]) == [.pauseFinish, .adFinish, .adBreakFinish])
            #expect(Array(all.dropFirst(8)) == ad + [.adFinish, .adBreakFinish, .pauseFinish, .stop])
        }
    }

    @Test(
        "A hostile page changes nothing of what it does, and at most has no ads",
        arguments: [
            "google.ima.AdsManagerLoadedEvent.prototype = {}; Object.freeze(google.ima.AdsManagerLoadedEvent.prototype)",
            "Object.prototype.get = Object.prototype.set = () => { throw new Error() }",
            "Object.defineProperty(google.ima.Ad.prototype, 'getTitle', { get() { throw new Error() } })",
            "google.ima.Ad.prototype.getDuration = () => NaN; google.ima.Ad.prototype.getAdPodInfo = () => { throw 1 }",
            "Object.defineProperty(window, 'player', { get() { throw 1 } }); window.hls = { levels: [], get media() { throw 1 } }",
            "WeakSet.prototype.has = EventTarget.prototype.dispatchEvent = JSON.stringify = () => { throw 1 }",
        ]
    )
    func hostile(_ script: String) async throws {
        let page = StubOfIMA.page(
            """
            await show("1", 0)
            await pass(0.5)
            video.volume = failures === 0 ? 0.5 : 0.25
            await next("volumechange")
            video.pause()
            """,
            before: "let failures = 0; onerror = onunhandledrejection = () => { failures += 1 }; \(script);"
        )
        try await withPage(page) { stage, _ in
            await stage.wait { entries in
                guard let change = entries.firstIndex(where: { $0.signal.action == .volumeChange }) else {
                    return false
                }
                let player = entries[change].player
                return entries[change...].contains { $0.signal.action == .pauseBegin && $0.player == player }
            }
            // Without its ads, the page has two playbacks.
            let content = try #require(stage.entries.first { $0.signal.action == .volumeChange }?.player)
            let contents = stage.actions(of: content).filter { !$0.description.hasPrefix("Ad") }
            #expect(contents == [.streamLoad, .start, .volumeChange, .pauseBegin])
            #expect(stage.signals(of: content).last?.status?.volume == 50)
        }
    }

    // MARK: - hls.js

    /// A playlist of segments of two seconds.
    private func playlist(_ segments: Int, _ tags: [String] = []) -> String {
        let date = "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.000Z"
        let head = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:2", "#EXT-X-MAP:URI=\"MEDIA/init.mp4\"", date,
        ]
        let entries = (0..<segments).map { "#EXTINF:2,\nMEDIA/\($0).m4s" }
        return (head + tags + entries + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
    }

    private func interstitial(_ id: String, at second: Int, _ rest: String) -> String {
        "#EXT-X-DATERANGE:CLASS=\"com.apple.hls.interstitial\",ID=\"\(id)\","
            + "START-DATE=\"2026-01-01T00:00:0\(second).000Z\",X-RESUME-OFFSET=0,\(rest)"
    }

    /// Plays a playlist with the real hls.js.
    private func withInterstitials(
        _ tags: [String],
        _ script: String = "",
        _ body: (ChromeStage) async throws -> Void
    ) async throws {
        let directory = ProcessInfo.processInfo.environment["HLS_JS_DIRECTORY"] ?? packageRoot.path + "/.build/hls-js"
        guard let library = FileManager.default.contents(atPath: directory + "/hls.js") else {
            return print("SKIPPED: interstitials of hls.js, because there is no hls.js (scripts/install-hls-js.sh)")
        }
        let page = """
            <!doctype html><title>A film</title><video id="v" muted></video><script type="module">
            import { t as load } from "/hls.js"
            const video = document.getElementById("v")
            // An interstitial takes the place of the content while the content is about to play.
            const start = () => video.play().catch(() => setTimeout(start, 100))
            window.hls = load(video, "/film.m3u8", start)
            \(script)
            </script>
            """
        let pages = [
            "/hls.js": String(decoding: library, as: UTF8.self), "/film.m3u8": playlist(4, tags),
            "/ad.m3u8": playlist(1), "/long.m3u8": playlist(4),
            "/two.json": #"{"ASSETS":[{"URI":"ad.m3u8","DURATION":2},{"URI":"ad.m3u8","DURATION":2}]}"#,
        ]
        try await withPage(page, pages) { stage, _ in try await body(stage) }
    }

    @Test("Interstitials that hls.js plays in the content's element are ads, and the content is one playback")
    func interstitials() async throws {
        let tags = [
            interstitial("before", at: 0, "CUE=\"PRE\",X-ASSET-URI=\"ad.m3u8\",DURATION=2"),
            interstitial("within", at: 4, "X-ASSET-LIST=\"two.json\""),
            interstitial("behind", at: 8, "CUE=\"POST\",X-ASSET-URI=\"ad.m3u8\",DURATION=2"),
        ]
        try await withInterstitials(tags) { stage in
            await stage.wait { $0.contains { [.end, .stop].contains($0.signal.action) } }
            let (begin, end): ([Action], [Action]) = ([.adBreakBegin, .pauseBegin], [.adBreakFinish, .pauseFinish])
            #expect(
                actions(stage) == [.streamLoad, .adBreakBegin] + Self.whole + [.adBreakFinish, .start]
                    + begin + Self.whole + Self.whole + end + begin + Self.whole + end + [.end]
            )
            #expect(stage.players.count == 1)
            let breaks = stage.signals().filter { $0.action == .adBreakBegin }.map(\.attributes)
            #expect(breaks.map { $0[.adId] } == ["before", "within", "behind"])
            #expect(breaks.map { $0[.adRoll] } == [.pre, .mid, .post])
            let ads = stage.signals().filter { $0.action == .adBegin }.map(\.attributes)
            #expect(ads.map { $0[.adDuration] } == Array(repeating: .seconds(2), count: 4))
            // The content's positions are its own.
            let pauses = stage.signals().filter { $0.action == .pauseBegin }
            #expect(pauses.first?.status?.position.map { abs($0.seconds - 4) < 0.5 } == true)
        }
    }

    @Test("An interstitial that hls.js skips is skipped, and one that it cannot load fails and holds nothing")
    func brokenInterstitials() async throws {
        let tags = [
            interstitial("long", at: 2, "X-ASSET-URI=\"long.m3u8\",DURATION=8"),
            interstitial("broken", at: 4, "X-ASSET-URI=\"nothing.m3u8\",DURATION=2"),
        ]
        let script = """
            hls.on("hlsInterstitialAssetStarted", (_, { asset }) => {
              if (asset.duration > 4) setTimeout(() => hls.interstitialsManager.skip(), 1500)
            })
            """
        try await withInterstitials(tags, script) { stage in
            await stage.wait { $0.contains { [.end, .stop].contains($0.signal.action) } }
            let all = actions(stage)
            #expect(all.contains(.adSkip) && all.contains(.adError) && all.count { $0 == .adBegin } == 1)
            #expect(all.count { $0 == .adBreakBegin } == all.count { $0 == .adBreakFinish })
            let content = all.filter { !$0.description.hasPrefix("Ad") && ![.pauseBegin, .pauseFinish].contains($0) }
            #expect(content == [.streamLoad, .start, .end])
        }
    }
}
