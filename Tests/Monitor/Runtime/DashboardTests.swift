import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentMonitor
import InstrumentWatch
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentMonitorRuntime

@Suite("The dashboard in a browser", .serialized, .ownThread)
struct DashboardTests {
    /// The page as the browser shows it after some virtual seconds.
    private func shown(_ address: String) async throws -> String {
        let program = try #require(Chromium.program)
        let profile = try Scratch()
        let options =
            Chromium.options(profile)
            + ["--virtual-time-budget=8000", "--timeout=600000", "--dump-dom", address]
        return try await command([program] + options, environment: Chromium.environment(profile)).output
    }

    @Test(
        "The dashboard shows hostile names and titles as text, and one stream in detail",
        .enabled(if: Chromium.program != nil, "SKIPPED: there is no chromium")
    )
    func page() async throws {
        let name = "<img src=x onerror=document.title='broken'>"
        let served = try await ServedMonitor([try stream(name, labels: ["cdn": "</script><b>"]), try stream("other")])
        served.source.emit(.gauges(PlaybackGauges(bitrate: 2_500_000, title: "<u>title</u>")), to: name)
        let fragment = "#stream=" + PercentCoding.encoded(name)
        let text = try await shown("http://127.0.0.1:\(served.server.port)/\(fragment)")
        await served.stop()
        #expect(text.contains("&lt;img src=x onerror=document.title='broken'&gt;"))
        #expect(!text.contains("<img src=x"))
        #expect(!text.contains("<title>broken"))
        #expect(text.contains("cdn=&lt;/script&gt;&lt;b&gt;"))
        #expect(text.contains("&lt;u&gt;title&lt;/u&gt;"))
        #expect(text.contains("monitor ok"))
        #expect(text.contains("2.50 Mbit/s"))
        #expect(text.contains("session 1 begins") || text.contains("first picture after"))
    }

    /// Runs `body` with a browser that shows the dashboard of two streams.
    private func withDashboard(
        _ settings: ServerConfiguration = ServerConfiguration(),
        _ body: (ServedMonitor, DrivenBrowser) async throws -> Void
    ) async throws {
        let served = try await ServedMonitor([try stream("film"), try stream("news")], settings)
        do {
            let browser = try await DrivenBrowser(
                try #require(Chromium.program),
                opening: "http://127.0.0.1:\(served.server.port)/"
            )
            defer { browser.end() }
            try await body(served, browser)
        } catch {
            await served.stop()
            throw error
        }
        await served.stop()
    }

    /// Names the element that has the focus; `!` marks one that does not show it.
    private static let focused = """
        (() => { const e = document.activeElement, s = getComputedStyle(e);
          const isShown = e === document.body || s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2;
          return (e.id || e.dataset.name || e.getAttribute("aria-label") || e.textContent.trim() || e.tagName)
            .slice(0, 40) + (e === document.body ? " body" : "") + (isShown ? "" : "!") })()
        """

    private func isFocused(_ name: String) -> String { "\(Self.focused) === \"\(name)\"" }

    /// The names of the elements that Tab reaches, in the order of the page.
    private static let stops = """
        [...document.querySelectorAll("a[href],button,input,select,summary,[tabindex='0']")]
          .filter(e => e.tabIndex >= 0 && e.checkVisibility())
          .map(e => (e.id || e.dataset.name || e.getAttribute("aria-label") || e.textContent.trim() || e.tagName).slice(0, 40)).join("|")
        """
    private static let listed =
        "[...document.querySelectorAll('#rows .row')].map(e => e.dataset.name).join()"

    @Test(
        "With the keyboard alone, every control is reached, shows the focus, and keeps it while the page is drawn again",
        .enabled(if: Chromium.program != nil, "SKIPPED: there is no chromium"),
        .timeLimit(.minutes(30))
    )
    func keyboard() async throws {
        try await withDashboard { served, browser in
            let listed = Self.listed
            // The rows may have got their order while one of the streams was starting.
            try await browser.wait(until: "document.querySelector('#tiles').textContent.includes('2playing')")
            _ = try await browser.evaluate("arrange()")
            try await browser.wait(until: "\(listed) === 'film,news'")
            // Every control, in the order of the page, and back; of the rows, one.
            let text = try await browser.evaluate(Self.stops).string
            let names = try #require(text).split(separator: "|").map(String.init)
            #expect(names.contains("filter") && names.contains("film") && !names.contains("news"))
            for name in names {
                try await browser.press(.tab)
                #expect(try await browser.evaluate(Self.focused).string == name)
            }
            for name in names.dropLast().reversed().prefix(3) {
                try await browser.press(.tab, shift: true)
                #expect(try await browser.evaluate(Self.focused).string == name)
            }
            // The filter.
            try await browser.press(.character("/"))
            try await browser.type("new")
            try await browser.wait(until: "\(listed) === 'news'")
            try await browser.press(.escape)
            try await browser.wait(until: "\(listed) === 'film,news'")
            #expect(try await browser.evaluate("document.activeElement === document.body") == true)
            try await browser.press(.character("/"))
            #expect(try await browser.evaluate(Self.focused).string == "filter")
            #expect(try await browser.evaluate("document.activeElement.value").string == "")
            // The rows: what is drawn again stays the same element, with the focus and a selection of its text.
            try await browser.press(.down)
            try await browser.press(.down)
            #expect(try await browser.evaluate(Self.focused).string == "news")
            _ = try await browser.evaluate(
                """
                window.before = document.activeElement;
                getSelection().selectAllChildren(document.activeElement)
                """
            )
            served.source.emit(.gauges(PlaybackGauges(bitrate: 2_500_000, title: "drawn again")), to: "news")
            try await browser.wait(until: "document.body.textContent.includes('drawn again')")
            #expect(try await browser.evaluate("document.activeElement === window.before") == true)
            #expect(try await browser.evaluate("getSelection().toString()").string == "news")
            // One stream in the panel, and back.
            try await browser.press(.enter)
            try await browser.wait(until: isFocused("panel"))
            try await browser.wait(until: "document.querySelectorAll('#panel .log li').length >= 1")
            #expect(try await browser.evaluate("location.hash").string == "#stream=news")
            try await browser.press(.tab)
            #expect(try await browser.evaluate(Self.focused).string == "Close")
            _ = try await browser.evaluate("document.querySelector('.timeline').focus()")
            served.source.emit(.gauges(PlaybackGauges(bitrate: 1_000_000, title: "in the panel")), to: "news")
            try await browser.wait(until: "document.querySelector('#panel').textContent.includes('in the panel')")
            // The arrows move the cursor of the time axis here, and choose no row.
            try await browser.press(.down)
            #expect(try await browser.evaluate(Self.focused).string == "Time of the cursor")
            try await browser.press(.escape)
            try await browser.wait(until: isFocused("news"))
            #expect(try await browser.evaluate("document.querySelector('#panel').hidden") == true)
            // The button does what Escape does.
            try await browser.press(.up)
            try await browser.wait(until: isFocused("film"))
            try await browser.press(.enter)
            // The panel of the other stream may still be in the document.
            try await browser.wait(until: isFocused("panel"))
            try await browser.wait(until: "location.hash === '#stream=film'")
            try await browser.press(.tab)
            try await browser.wait(until: isFocused("Close"))
            try await browser.press(.enter)
            try await browser.wait(until: isFocused("film"))
        }
    }

    @Test(
        "Rows stay where they are when their order changes, until a person asks for the new order",
        .enabled(if: Chromium.program != nil, "SKIPPED: there is no chromium"),
        .timeLimit(.minutes(30))
    )
    func order() async throws {
        try await withDashboard { served, browser in
            try await browser.wait(until: "document.querySelector('#tiles').textContent.includes('2playing')")
            _ = try await browser.evaluate("arrange()")
            try await browser.wait(until: "\(Self.listed) === 'film,news'")
            #expect(try await browser.evaluate("document.querySelector('#changed').hidden") == true)
            served.source.emit(
                .event(Event(.bufferBegin, tracker: TrackerID(0), time: SystemClock().timestamp)),
                to: "news"
            )
            try await browser.wait(until: "document.querySelector('#tiles').textContent.includes('1stalled')")
            try await browser.wait(until: "!document.querySelector('#changed').hidden")
            #expect(try await browser.evaluate(Self.listed).string == "film,news")
            try await browser.press(.character("o"))
            try await browser.wait(until: "\(Self.listed) === 'news,film'")
            #expect(try await browser.evaluate("document.querySelector('#changed').hidden") == true)
        }
    }

    @Test(
        "Of a long table, the first picture has what a screen shows, and then every row is there in order",
        .enabled(if: Chromium.program != nil, "SKIPPED: there is no chromium"),
        .timeLimit(.minutes(30))
    )
    func longTable() async throws {
        let names = (100..<500).map { "s\($0)" }
        let served = try await ServedMonitor(try names.map { try stream($0) })
        let browser = try await DrivenBrowser(
            try #require(Chromium.program),
            opening: "http://127.0.0.1:\(served.server.port)/"
        )
        defer { browser.end() }
        try await browser.wait(until: "document.querySelectorAll('#rows .row').length === 400")
        _ = try await browser.evaluate("choices.sort = 'name'; arrange()")
        #expect(try await browser.evaluate(Self.listed).string == names.joined(separator: ","))
        // The same again, seen between the two parts: the keyboard reaches the last row, and no row is there twice.
        let first = try await browser.evaluate(
            """
            (() => { for (const entry of [...shells.keys()]) drop(entry);
              arrange();
              const first = $("rows").childElementCount;
              choose("s499", true);
              return first })()
            """
        )
        #expect(first == 150)
        #expect(try await browser.evaluate(Self.listed).string == names.joined(separator: ","))
        #expect(try await browser.evaluate(Self.focused).string == "s499")
        // The local time is the hint of the clock under the pointer.
        #expect(try await browser.evaluate("document.querySelector('#clock').title").string == "")
        _ = try await browser.evaluate(
            "document.querySelector('#clock').dispatchEvent(new PointerEvent('pointerover', { bubbles: true }))"
        )
        #expect(try await browser.evaluate("document.querySelector('#clock').title.endsWith(' local')") == true)
        await served.stop()
    }

    @Test(
        "An action is a POST of JSON, a refusal is shown, and without the role no action is offered",
        .enabled(if: Chromium.program != nil, "SKIPPED: there is no chromium"),
        .timeLimit(.minutes(30)),
        arguments: ["act", "read"]
    )
    func actions(_ role: String) async throws {
        let state = """
            {"time":"2026-11-26T22:04:10Z","streams":[{"name":"news","state":"down","up":false,"labels":{"cdn":"a"},"broken":[]}],
            "incidents":[{"id":"i/1","title":"503 for playlists","severity":"critical","state":"open","since":"2026-11-26T22:00:00Z",
            "streams":["news"],"streamCount":1,"labels":{"cdn":"a"}}],"backends":[],"monitor":{},
            "maintenance":[{"id":"w/1","kind":"maintenance","name":"encoder","by":"Ben","matchers":[]}],"role":"\(role)"}
            """.filter { $0 != "\n" }
        let server = try TestServer { request in
            func reply(_ status: String, _ body: String, _ headers: String = "") -> [TestServer.Step] {
                let head = "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n"
                return [.send(Array((head + body).utf8))]
            }
            switch request.target {
            case "/":
                let page = DashboardPage.reply
                let headers = page.headers.map { "\($0.0): \($0.1)\r\n" }.joined()
                let body =
                    if case .bytes(let bytes) = page.content { String(decoding: bytes, as: UTF8.self) } else { "" }
                return reply("200 OK", body, headers)
            case "/events":
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
                return [.send(Array((head + "event: state\ndata: \(state)\n\n").utf8)), .hang]
            case "/api/silences", "/api/maintenance", "/api/maintenance/w%2F1": return reply("200 OK", "{}")
            default: return reply("403 Forbidden", "the token of Ana has the role 'read'")
            }
        }
        let browser = try await DrivenBrowser(try #require(Chromium.program), opening: server.url())
        defer { browser.end() }
        try await browser.wait(until: "document.querySelectorAll('#alerting .incident').length === 1")
        let buttons = "[...document.querySelectorAll('#alerting button')].map(e => e.textContent).join()"
        #expect(try await browser.evaluate(buttons).string == (role == "act" ? "Acknowledge,Silence…" : ""))
        _ = try await browser.evaluate("location.hash = 'view=incidents'")
        try await browser.wait(until: "document.querySelector('#works').textContent.includes('encoder: all streams')")
        let works = "document.querySelectorAll('#works button, #maintain:not([hidden])').length"
        #expect(try await browser.evaluate(works).int == (role == "act" ? 2 : 0))
        guard role == "act" else { return }
        _ = try await browser.evaluate("document.querySelector('#alerting button').click()")
        _ = try await browser.evaluate("document.querySelector('#field-by').value = 'Ana'")
        _ = try await browser.evaluate("document.querySelector('#dialog .primary').click()")
        try await browser.wait(until: "!document.querySelector('#dialogerror').hidden")
        let words = try await browser.evaluate("document.querySelector('#dialogerror').textContent").string
        #expect(words?.contains("the token of Ana has the role 'read'") == true)
        let refused = try #require(server.requests.last { $0.head.hasPrefix("POST") })
        #expect(refused.target == "/api/incidents/i%2F1/acknowledge")
        #expect(refused.header("Content-Type") == "application/json")
        #expect(try JSONValue(parsing: refused.body) == ["by": "Ana", "for": "1h", "note": ""])
        _ = try await browser.evaluate("document.querySelector('[data-cancel]').click()")
        _ = try await browser.evaluate("document.querySelectorAll('#alerting button')[1].click()")
        _ = try await browser.evaluate("document.querySelector('#field-reason').value = 'planned work'")
        _ = try await browser.evaluate("document.querySelector('#dialog .primary').click()")
        try await browser.wait(until: "!document.querySelector('#dialog').open")
        let silence = try #require(server.requests.last { $0.target == "/api/silences" })
        #expect(
            try JSONValue(parsing: silence.body) == [
                "matchers": [["label": "cdn", "value": "a"]], "for": "1h", "by": "Ana", "reason": "planned work",
            ]
        )
        _ = try await browser.evaluate("document.querySelector('#maintain').click()")
        _ = try await browser.evaluate("document.querySelector('#field-name').value = 'new encoder'")
        _ = try await browser.evaluate("document.querySelector('#field-matchers').value = 'cdn=~a.*'")
        _ = try await browser.evaluate("document.querySelector('#field-begin').value = '2099-12-01T16:00'")
        _ = try await browser.evaluate("document.querySelector('#dialog .primary').click()")
        try await browser.wait(until: "!document.querySelector('#dialog').open")
        let work = try #require(server.requests.last { $0.target == "/api/maintenance" })
        #expect(
            try JSONValue(parsing: work.body) == [
                "name": "new encoder", "for": "1h", "by": "Ana", "begin": "2099-12-01T16:00:00.000Z",
                "matchers": [["label": "cdn", "value": "a.*", "isRegex": true]],
            ]
        )
        _ = try await browser.evaluate("document.querySelector('#works button').click()")
        try await browser.wait(until: "document.querySelector('#message').textContent === 'The maintenance has ended.'")
        #expect(server.requests.contains { $0.head.hasPrefix("DELETE /api/maintenance/w%2F1 ") })
    }

    @Test(
        "The dashboard says when the connection is lost, keeps its figures, and continues when the monitor is back",
        .enabled(if: Chromium.program != nil, "SKIPPED: there is no chromium"),
        .timeLimit(.minutes(30))
    )
    func lostConnection() async throws {
        let first = try await ServedMonitor([try stream("news")])
        let port = first.server.port
        let browser = try await DrivenBrowser(
            try #require(Chromium.program),
            opening: "http://127.0.0.1:\(port)/"
        )
        defer { browser.end() }
        let notice = "document.querySelector('#connection')"
        try await browser.wait(until: "document.querySelectorAll('#rows .row').length === 1")
        #expect(try await browser.evaluate("\(notice).hidden") == true)
        await first.stop()
        try await browser.wait(until: "!\(notice).hidden && \(notice).textContent.startsWith('Connection lost')")
        #expect(try await browser.evaluate("\(notice).getAttribute('role')").string == "alert")
        #expect(try await browser.evaluate("document.querySelectorAll('#rows .row').length") == 1)
        #expect(try await browser.evaluate("document.body.classList.contains('stale')") == true)
        #expect(try await browser.evaluate("document.querySelector('#health').textContent").string == "")
        var settings = ServerConfiguration()
        settings.port = port
        let second = try await ServedMonitor([try stream("news"), try stream("sport")], settings)
        try await browser.wait(until: "document.querySelectorAll('#rows .row').length === 2")
        #expect(try await browser.evaluate("\(notice).hidden") == true)
        await second.stop()
    }

    /// What is wrong with the page as it is shown: an element that is wider than the page, and text whose contrast to
    /// its background is below 4.5 (WCAG 2.2, 1.4.3).
    private static let faults = """
        (() => {
          const faults = [], color = c => c.match(/[\\d.]+/g).map(Number);
          const over = (a, b) => a[3] === undefined || a[3] === 1 ? a : [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3]));
          const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b };
          const root = document.documentElement;
          if (root.scrollWidth > innerWidth) faults.push("the page is " + root.scrollWidth + " px wide");
          for (const e of document.body.querySelectorAll("*")) {
            const box = e.getBoundingClientRect();
            if (!box.width || !e.checkVisibility()) continue;
            if (box.right > innerWidth + 1 && !e.closest(".scroll,.side")) faults.push(e.tagName + " ends at " + box.right);
            const isText = e instanceof SVGTextElement || [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
            if (!isText || e instanceof SVGElement) continue;
            let under = [255, 255, 255]; const layers = [];
            for (let p = e; p; p = p.parentElement) layers.push(color(getComputedStyle(p).backgroundColor));
            for (const layer of layers.reverse()) under = over(layer, under);
            const [a, b] = [light(over(color(getComputedStyle(e).color), under)), light(under)].sort((x, y) => y - x);
            if ((a + 0.05) / (b + 0.05) < 4.5) faults.push(e.tagName + " '" + e.textContent.slice(0, 30) + "' has contrast " + ((a + 0.05) / (b + 0.05)).toFixed(2));
          }
          return faults.slice(0, 20).join("; ") })()
        """

    @Test(
        "On a phone and on a wide screen, in light and dark, nothing is cut off and every text can be read",
        .enabled(if: Chromium.program != nil, "SKIPPED: there is no chromium"),
        .timeLimit(.minutes(30)),
        arguments: [390, 1_440],
        ["light", "dark"]
    )
    func appearance(_ width: Int, _ scheme: String) async throws {
        let long = String(repeating: "a-name-without-spaces-", count: 8)
        let served = try await ServedMonitor(
            [
                try stream("news", labels: ["cdn": "a"]), try stream(long, labels: ["channel": long]),
                try stream("gone"),
            ],
            alerts: [try alert("down", "up == 0"), try alert("pending", "up == 1", for: .seconds(3_600))]
        )
        do {
            let browser = try await DrivenBrowser(
                try #require(Chromium.program),
                opening: "http://127.0.0.1:\(served.server.port)/"
            )
            defer { browser.end() }
            try await browser.emulate(width: width, scheme: scheme)
            let failure = Event(
                .error,
                tracker: TrackerID(0),
                time: SystemClock().timestamp,
                attributes: ["errorCode": "httpStatus", "errorDescription": .string(long + long), "isFatal": true]
            )
            served.source.emit(.event(failure), to: "gone")
            served.source.emit(
                .event(Event(.bufferBegin, tracker: TrackerID(0), time: SystemClock().timestamp)),
                to: long
            )
            served.source.emit(
                .gauges(PlaybackGauges(bitrate: 2_500_000, buffered: .seconds(9), title: long)),
                to: "news"
            )
            let broken = CheckObservation(broken: [.init(rule: "stale", message: long)], playlistAge: .seconds(9))
            for name in ["news", long] { served.source.emit(.checked(broken), to: name) }
            for (kind, isFailure) in [("segment", false), ("playlist", true)] {
                let request = RequestObservation(
                    kind: kind,
                    status: isFailure ? 404 : 200,
                    isFailure: isFailure,
                    total: .milliseconds(80),
                    byteCount: 9_999_999
                )
                served.source.emit(.request(request), to: "news")
            }
            try await browser.wait(until: "document.querySelectorAll('#rows .row').length === 3")
            try await browser.wait(until: "document.body.textContent.includes('Error status')")
            try await browser.wait(until: "document.querySelectorAll('#alerting .incident').length >= 1")
            #expect(try await browser.evaluate(Self.faults).string == "")
            _ = try await browser.evaluate("location.hash = 'stream=news'")
            try await browser.wait(until: "document.querySelectorAll('#panel .waterfall li').length >= 2")
            #expect(try await browser.evaluate("matchMedia('(prefers-color-scheme: \(scheme))').matches") == true)
            #expect(try await browser.evaluate("innerWidth") == .int(width))
            #expect(try await browser.evaluate(Self.faults).string == "")
            #expect(try await browser.screenshot().count > 10_000)
        } catch {
            await served.stop()
            throw error
        }
        await served.stop()
    }

    @Test(
        "Evidence of a fault is a picture, text and a file, and the markup in a playlist never runs",
        .enabled(if: Chromium.program != nil, "SKIPPED: there is no chromium"),
        .timeLimit(.minutes(30))
    )
    func evidence() async throws {
        var watched = try stream("news")
        watched.checks.black = .seconds(5)
        let served = try await ServedMonitor([watched], alerts: [try alert("black", "check_failed > 0")])
        do {
            let browser = try await DrivenBrowser(
                try #require(Chromium.program),
                opening: "http://127.0.0.1:\(served.server.port)/#stream=news"
            )
            defer { browser.end() }
            let picture = EvidencePiece(.picture, ending: "jpg", text: "<b>black</b>", bytes: Self.redPicture)
            served.source.emit(finding([picture, .playlist, .segment]), to: "news")
            try await showsEvidence(browser)
            try await browser.wait(until: "store.incidents.length === 1")
            _ = try await browser.evaluate("location.hash = 'incident=' + store.incidents[0].id")
            try await browser.wait(until: "panel.incident && panel.detail?.log?.length >= 1")
            try await showsEvidence(browser)
            // The first list has what changed before.
            let log = "[...document.querySelectorAll('#panel .log')].at(-1)"
            #expect(try await browser.evaluate("\(log).textContent.includes('opens: ')") == true)
            #expect(try await browser.evaluate("document.querySelectorAll('#panel .links a').length") == 1)
        } catch {
            await served.stop()
            throw error
        }
        await served.stop()
    }

    private func showsEvidence(_ browser: DrivenBrowser) async throws {
        try await browser.wait(until: "document.querySelectorAll('#panel .piece').length === 3")
        let image = "document.querySelector('#panel .piece img')"
        try await browser.wait(until: "\(image).complete && \(image).naturalWidth === 1")
        #expect(try await browser.evaluate("\(image).alt.includes('<b>black</b>')") == true)
        let open = "document.querySelector('#panel .piece.playlist button')"
        _ = try await browser.evaluate("\(open).click()")
        try await browser.wait(until: "document.querySelector('#panel .piece pre').textContent.startsWith('<script>')")
        #expect(try await browser.evaluate("\(open).getAttribute('aria-expanded')").string == "true")
        #expect(try await browser.evaluate("document.title !== 'broken'") == true)
        #expect(try await browser.evaluate("document.querySelectorAll('#panel script, #panel b').length") == 0)
        let save = """
            (() => { globalThis.saved = ""; HTMLAnchorElement.prototype.click = function () { globalThis.saved = this.download };
              document.querySelector('#panel .piece.segment button').click() })()
            """
        _ = try await browser.evaluate(save)
        try await browser.wait(until: "saved.startsWith('news-black-') && saved.endsWith('.ts')")
    }

    /// One red pixel.
    private static let redPicture: [UInt8] = [
        0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 0xFF, 0, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0,
        0,
        2, 2, 0x44, 1, 0, 0x3B,
    ]

    @Test(
        "A token is entered with the keyboard",
        .enabled(if: Chromium.program != nil, "SKIPPED: there is no chromium"),
        .timeLimit(.minutes(30))
    )
    func login() async throws {
        let settings = ServerConfiguration()
        settings.access.replace(tokens: [(ServerClient(name: "", role: .act), Array("the token".utf8))])
        try await withDashboard(settings) { _, browser in
            try await browser.wait(until: "!document.querySelector('#login').hidden")
            try await browser.wait(until: isFocused("token"))
            try await browser.type("the token")
            try await browser.press(.enter)
            try await browser.wait(until: "document.querySelectorAll('#rows .row').length === 2")
            #expect(try await browser.evaluate("document.querySelector('#login').hidden") == true)
        }
    }
}
