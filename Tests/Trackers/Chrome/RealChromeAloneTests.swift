import Foundation
import Instrument
import InstrumentChrome
import LoopbackServers
import TestTraits
import Testing

/// A real Chromium over pages of this machine. How exact the figures are measures `scripts/compare-chrome.sh`: here the
/// order counts.
@Suite("A real Chromium", .serialized, .earlyOnOwnThread, .timeLimit(.minutes(30)))
struct RealChromeAloneTests {
    private func withPages(
        _ pages: [String: String],
        _ configuration: ChromeConfiguration = ChromeConfiguration(),
        _ body: (ChromeStage, PageServer) async throws -> Void
    ) async throws {
        guard let stage = try ChromeStage.start(configuration) else { return }
        let server = try await PageServer(pages)
        try await body(stage, server)
        await stage.end()
        await server.stop()
    }

    @Test("An element's playback is reported from its request to its end when a page plays it")
    func plays() async throws {
        let page = """
            <!doctype html><title>A film</title><video id="v" muted src="FILM"></video><script>
            const video = document.getElementById("v")
            const next = (name) => new Promise((done) => video.addEventListener(name, done, { once: true }))
            const moved = async (seconds) => { const begin = video.currentTime
              while (video.currentTime < begin + seconds) await next("timeupdate") }
            ;(async () => {
              await video.play()
              await moved(1)
              video.pause(); await next("pause")
              video.play(); await moved(0.5)
              video.currentTime = 10; await next("seeked"); await moved(0.5)
              video.playbackRate = 2; await next("ratechange")
              video.volume = 0.5; await next("volumechange")
              video.currentTime = video.duration - 1; await next("ended")
            })()
            </script>
            """
        try await withPages(["/": page]) { stage, server in
            stage.browser.open(server.url())
            await stage.wait(for: .end)
            #expect(
                stage.actions() == [
                    .streamLoad, .start, .pauseBegin, .pauseFinish, .seekBegin, .seekFinish, .playbackRateChange,
                    .volumeChange, .seekBegin, .seekFinish, .end,
                ],
                "\(stage.diagnostics)"
            )
            let signals = stage.signals()
            let start = try #require(signals.first { $0.action == .start })
            #expect(start.status?.resolutionWidth == 320 && start.status?.resolutionHeight == 180)
            #expect(start.status?.title == "A film")
            #expect(start.status?.source == server.origin.url("vod/movie.mp4"))
            #expect(start.status?.duration.map { abs($0.seconds - 24) < 0.2 } == true)
            let seek = try #require(signals.first { $0.action == .seekFinish })
            #expect(seek.status?.position.map { $0 >= .seconds(10) && $0 < .seconds(11) } == true)
            let instants = signals.compactMap(\.instant)
            #expect(instants.count == signals.count && instants == instants.sorted())
        }
    }
}
