import Foundation
import Instrument
import InstrumentOrigin
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentChrome

/// A real Chromium over pages of this machine. How exact the figures are measures `make compare-players`: here the
/// order counts.
@Suite("A real Chromium", .serialized, .earlyOnOwnThread, .timeLimit(.minutes(30)))
struct RealChromeAloneTests {
    private func withPages(
        _ pages: [String: String],
        _ configuration: ChromeConfiguration = ChromeConfiguration(),
        arguments: [String] = [],
        _ body: (ChromeStage, PageServer) async throws -> Void
    ) async throws {
        guard let stage = try ChromeStage.start(configuration, arguments: arguments) else { return }
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
            #expect(start.status?.resolutionWidth == 640 && start.status?.resolutionHeight == 360)
            #expect(start.status?.title == "A film")
            #expect(start.status?.source == server.origin.url("vod/movie.mp4"))
            #expect(start.status?.duration.map { abs($0.seconds - 24) < 0.2 } == true)
            let seek = try #require(signals.first { $0.action == .seekFinish })
            #expect(seek.status?.position.map { $0 >= .seconds(9.5) && $0 < .seconds(11) } == true)
            let instants = signals.compactMap(\.instant)
            #expect(instants.count == signals.count && instants == instants.sorted())
        }
    }

    @Test("Elements in frames, in shadow roots and outside of the document are measured, each by itself")
    func hiddenElements() async throws {
        let page = """
            <!doctype html><iframe srcdoc='<video autoplay muted src="FILM&frame"></video>'></iframe>
            <div id="open"></div><div id="closed"></div><script>
            function add(root) {
              const video = document.createElement("video")
              video.muted = true
              video.src = "FILM"
              root?.append(video)
              video.play()
              return video
            }
            window.kept = [add(null)]
            for (const mode of ["open", "closed"]) add(document.getElementById(mode).attachShadow({ mode }))
            </script>
            """
        try await withPages(["/": page]) { stage, server in
            stage.browser.open(server.url())
            await stage.wait(for: .start, 4)
            #expect(stage.players.count == 4 && Set(stage.entries.map(\.player)).count == 4)
            for player in 0..<4 { #expect(stage.actions(of: player).prefix(2) == [.streamLoad, .start]) }
        }
    }

    @Test("A page that forges events and replaces the functions of prototypes changes nothing")
    func hostilePage() async throws {
        let page = """
            <!doctype html><video id="v" muted src="FILM"></video><script>
            Object.defineProperty(HTMLMediaElement.prototype, "currentTime", { get() { throw 1 } })
            JSON.stringify = Map.prototype.get = EventTarget.prototype.dispatch = () => { throw 2 }
            performance.now = () => 1e12
            v.onplaying = () => { for (let count = 0; count < 1000; count += 1) {
              v.dispatchEvent(new Event("ended")); v.dispatchEvent(new Event("error")); v.volume = count / 1000
            } setTimeout(() => v.pause(), 500) }
            v.play()
            </script>
            """
        try await withPages(["/": page]) { stage, server in
            stage.browser.open(server.url())
            await stage.wait { $0.contains { $0.signal.action == .pauseBegin } }
            let actions = stage.actions().filter { $0 != .volumeChange }
            #expect(actions == [.streamLoad, .start, .pauseBegin])
            #expect(stage.entries.count < 300)
        }
    }

    @Test("A playback ends with the page that is left, and with the browser that the tracker ends")
    func leaves() async throws {
        let page = """
            <!doctype html><video id="v" muted src="FILM"></video><script>v.play()
            v.ontimeupdate = () => { if (v.currentTime > 0.5 && location.search === "") location.search = "?next" }</script>
            """
        try await withPages(["/": page, "/?next": page]) { stage, server in
            stage.browser.open(server.url())
            await stage.wait(for: .start, 2)
            await stage.end()
            #expect(stage.actions(of: 0) == [.streamLoad, .start, .stop])
            #expect(stage.actions(of: 1) == [.streamLoad, .start, .stop])
            #expect(stage.goneCount == 2)
        }
    }

    @Test("A tab that crashes is lost, and its playback does not fail; one that nobody opened separately fails")
    func crashes() async throws {
        let page = "<!doctype html><video autoplay muted loop src='FILM'></video>"
        try await withPages(["/": page]) { stage, server in
            let tab = stage.browser.openTab(server.url())
            await stage.wait(for: .start)
            stage.browser.open(server.url())
            await stage.wait(for: .start, 2)
            #expect(Renderers.crash(of: stage.scratch) > 0)
            await stage.wait { $0.count { [.error, Action("Detach")].contains($0.signal.action) } >= 2 }
            #expect(stage.events(of: tab) == [.opened, .lost("the browser's tab crashed")])
            #expect(stage.actions(of: 0).last == Action("Detach") && stage.actions(of: 1).last == .error)
            // The browser plays on in another tab.
            let next = stage.browser.openTab(server.url())
            await stage.wait(for: .start, 3)
            stage.browser.close(next)
            await stage.wait(forEventsOf: next, 2)
            #expect(stage.events(of: next) == [.opened, .closed] && stage.actions(of: 2).last == .stop)
        }
    }

    @Test("A tab whose page never returns from its script is closed")
    func hangingPage() async throws {
        let page = """
            <!doctype html><video id="v" autoplay muted loop src="FILM"></video>
            <script>v.ontimeupdate = () => { while (true) {} }</script>
            """
        try await withPages(["/": page]) { stage, server in
            let tab = stage.browser.openTab(server.url())
            await stage.wait(for: .streamLoad)
            stage.browser.close(tab)
            await stage.wait(forEventsOf: tab, 2)
            #expect(stage.events(of: tab) == [.opened, .closed])
        }
    }

    @Test("Tabs share no cookie and no cache, and an element in a frame of another process belongs to its page's tab")
    func separateTabs() async throws {
        let frame = "<!doctype html><video autoplay muted loop src='FILM'></video>"
        let page = """
            <!doctype html><script>
            document.cookie = "visits=" + (document.cookie ? 2 : 1)
            document.title = document.cookie
            document.write("<iframe src='" + location.href.replace("127.0.0.1", "localhost") + "frame'></iframe>")
            </script><video autoplay muted loop src="FILM"></video>
            """
        let arguments = [
            "--site-per-process", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
        ]
        try await withPages(["/": page, "/frame": frame], arguments: arguments) { stage, server in
            let tabs = [stage.browser.openTab(server.url()), stage.browser.openTab(server.url())]
            await stage.wait(for: .start, 4)
            #expect(stage.players.count == 4)
            for tab in tabs { #expect(stage.players.count { $0.tab == tab } == 2) }
            let titles = stage.signals().compactMap(\.status?.title) + stage.signals(of: 1).compactMap(\.status?.title)
            #expect(!titles.contains("visits=2"))
            // Each page and each frame is a target.
            #expect(stage.browser.session.state.withLock { $0.model.targets.count { $0.value.tab != nil } } == 4)
            for tab in tabs {
                stage.browser.close(tab)
                await stage.wait(forEventsOf: tab, 2)
            }
            #expect(stage.goneCount == 4)
        }
    }

    @Test("An element that the page takes out of the document stops, and one that the page moves plays on")
    func removedElement() async throws {
        let page = """
            <!doctype html><div id="a"></div><div id="b"></div><script>
            function add(id) {
              const video = document.createElement("video")
              video.muted = true
              video.src = "FILM"
              document.getElementById(id).append(video)
              video.play()
              return new Promise((done) => { video.ontimeupdate = () => { if (video.currentTime > 0.5) done(video) } })
            }
            ;(async () => {
              const first = await add("a")
              document.getElementById("b").append(first)
              await new Promise((done) => setTimeout(done, 1500))
              first.remove()
              await add("a")
            })()
            </script>
            """
        try await withPages(["/": page]) { stage, server in
            stage.browser.open(server.url())
            await stage.wait(for: .stop)
            await stage.wait { $0.contains { $0.player == 1 && $0.signal.action == .start } }
            #expect(stage.actions(of: 0) == [.streamLoad, .start, .pauseBegin, .pauseFinish, .stop])
            #expect(stage.actions(of: 1) == [.streamLoad, .start])
            // A wait for the element's return is no time of the pause.
            let times = stage.signals().suffix(3).compactMap(\.instant)
            #expect(times.count == 3 && Set(times).count == 1)
        }
    }

    @Test("An element that is out of the document, and that nothing refers to any more, is gone")
    func collectedElement() async throws {
        let page = """
            <!doctype html><body><script>
            let video = document.createElement("video")
            video.muted = true
            video.src = "FILM"
            document.body.append(video)
            video.play()
            const next = () => { if (video?.currentTime > 0.5) { video.remove(); video = null; setInterval(gc, 200) } }
            video.ontimeupdate = next
            </script>
            """
        try await withPages(["/": page], arguments: ["--js-flags=--expose-gc"]) { stage, server in
            stage.browser.open(server.url())
            await stage.wait(for: .stop)
            #expect(stage.actions() == [.streamLoad, .start, .pauseBegin, .pauseFinish, .stop])
            while stage.goneCount == 0 { try await Task.sleep(for: .milliseconds(20)) }
            #expect(stage.browser.session.state.withLock { $0.model.elements.isEmpty })
        }
    }

    @Test("Of a thousand elements that load, the one that plays is measured; too many that play are reported once")
    func crowd() async throws {
        let page = """
            <!doctype html><body><script>
            const videos = []
            for (let count = 0; count < 1000; count += 1) {
              const video = document.createElement("video")
              video.muted = true
              if (count < 70) video.src = "FILM"
              document.body.append(video)
              videos.push(video)
            }
            setTimeout(() => { videos[999].src = "FILM"; videos[999].play() }, 1500)
            videos[999].ontimeupdate = () => {
              if (videos[999].currentTime > 0.5) for (const video of videos.slice(0, 70)) video.play()
            }
            </script>
            """
        try await withPages(["/": page]) { stage, server in
            stage.browser.open(server.url())
            await stage.wait(for: .start)
            await stage.wait(for: .streamLoad, 50)
            #expect(stage.actions(of: 0).prefix(2) == [.streamLoad, .start])
            #expect(stage.players.count <= 64)
        }
    }

    @Test("A page that asks a person, whom a browser without a window does not have, plays on")
    func dialogs() async throws {
        let page = """
            <!doctype html><video id="v" muted src="FILM"></video><script>
            alert("Cookies?")
            document.title = `${confirm("More?")} ${prompt("Name?")}`
            onbeforeunload = (event) => { event.preventDefault(); return "Stay?" }
            v.play()
            </script>
            """
        try await withPages(["/": page]) { stage, server in
            let tab = stage.browser.openTab(server.url())
            await stage.wait(for: .start)
            #expect(stage.signals().first?.status?.title == "false null")
            stage.browser.close(tab)
            await stage.wait(forEventsOf: tab, 2)
            #expect(stage.events(of: tab) == [.opened, .closed])
        }
    }

    @Test(
        "The tracker distinguishes bad media: a film that ends early has failed, noise fails, sound alone plays",
        arguments: BadMedia.allCases
    )
    func badMedia(media: BadMedia) async throws {
        guard let stage = try ChromeStage.start() else { return }
        let film = try Array(Data(contentsOf: URL(fileURLWithPath: media.path)))
        let server = try TestServer { request in
            guard request.target == "/film.mp4" else {
                let page = Array("<!doctype html><video autoplay muted src='/film.mp4'></video>".utf8)
                return [.respond("200 OK", page, "Content-Type: text/html")]
            }
            return [.respond("200 OK", film, "Content-Type: video/mp4")]
        }
        stage.browser.open(server.url())
        await stage.wait { $0.contains { [.end, .error].contains($0.signal.action) } }
        let expected: [Action] =
            switch media {
            case .truncated: [.streamLoad, .start, .error]
            case .random: [.streamLoad, .error]
            case .sound: [.streamLoad, .start, .end]
            }
        #expect(stage.actions() == expected)
        await stage.end()
    }

    @Test("A browser at a port is joined, plays on after the tracker has gone, and is an error when it ends")
    func attaches() async throws {
        guard let program = Chromium.program else {
            return print("SKIPPED: a browser at a port, because there is no chromium")
        }
        let server = try await PageServer(["/": "<!doctype html><video autoplay muted loop src='FILM'></video>"])
        let scratch = try Scratch()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments =
            Chromium.options(scratch) + [
                "--autoplay-policy=no-user-gesture-required", "--remote-debugging-port=0", server.url(),
            ]
        process.environment = Chromium.environment(scratch)
        for pipe in [FileHandle.nullDevice] { (process.standardOutput, process.standardError) = (pipe, pipe) }
        try process.start()
        defer { process.terminate() }
        var port: Substring?
        while port == nil, process.isRunning {
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(50)))
            let text = try? String(contentsOfFile: scratch.path + "/profile/DevToolsActivePort", encoding: .utf8)
            port = text?.split(separator: "\n").first
        }
        let address = String(try #require(port))
        let first = try ChromeStage.attach(to: address)
        await first.wait(for: .start)
        await first.end()
        #expect(first.actions().last == Action("Detach"))
        let second = try ChromeStage.attach(to: "localhost:" + address)
        await second.wait(for: .start)
        #expect(second.signals().first?.attributes[.joinedLate] == true)
        process.terminate()
        await second.wait(for: .error)
        #expect(second.actions().last == .error && second.signals().last?.attributes[.isFatal] == true)
        await server.stop()
    }
}
