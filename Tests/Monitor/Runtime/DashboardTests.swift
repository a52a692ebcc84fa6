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
        #expect(text.contains("2 streams, 2 sessions, 0 down"))
        #expect(text.contains("2.5 Mbit/s"))
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

    @Test(
        "With the keyboard alone, every control is reached, shows the focus, and keeps it while the page is drawn again",
        .enabled(if: Chromium.program != nil, "SKIPPED: there is no chromium"),
        .timeLimit(.minutes(30))
    )
    func keyboard() async throws {
        try await withDashboard { served, browser in
            let listed = "[...document.querySelectorAll('#rows tr')].map(e => e.dataset.name).join()"
            try await browser.wait(until: "\(listed) === 'film,news'")
            // Every control, in the order of the page.
            for name in ["filter", "sort", "film", "news", "Delivery"] {
                try await browser.press(.tab)
                #expect(try await browser.evaluate(Self.focused).string == name)
            }
            for name in ["news", "film", "sort", "filter"] {
                try await browser.press(.tab, shift: true)
                #expect(try await browser.evaluate(Self.focused).string == name)
            }
            // The filter.
            try await browser.type("new")
            try await browser.wait(until: "\(listed) === 'news'")
            try await browser.press(.escape)
            try await browser.wait(until: "\(listed) === 'film,news'")
            #expect(try await browser.evaluate("document.activeElement === document.body") == true)
            try await browser.press(.character("/"))
            #expect(try await browser.evaluate(Self.focused).string == "filter")
            #expect(try await browser.evaluate("document.activeElement.value").string == "")
            // The rows, which are drawn again with every event.
            try await browser.press(.down)
            try await browser.press(.down)
            #expect(try await browser.evaluate(Self.focused).string == "news")
            _ = try await browser.evaluate("window.before = document.activeElement")
            served.source.emit(.gauges(PlaybackGauges(bitrate: 2_500_000, title: "drawn again")), to: "news")
            try await browser.wait(until: "document.body.textContent.includes('drawn again')")
            try await browser.wait(until: isFocused("news"))
            #expect(try await browser.evaluate("document.activeElement === window.before") == false)
            // One stream in detail, and back.
            try await browser.press(.enter)
            try await browser.wait(until: "document.querySelectorAll('#detail .scroll').length >= 2")
            #expect(try await browser.evaluate(Self.focused).string == "detail")
            try await browser.press(.tab)
            #expect(try await browser.evaluate(Self.focused).string == "Close")
            try await browser.press(.tab)
            #expect(try await browser.evaluate("document.activeElement.className").string == "scroll")
            served.source.emit(.gauges(PlaybackGauges(bitrate: 1_000_000, title: "in detail")), to: "news")
            try await browser.wait(until: "document.querySelector('#detail').textContent.includes('in detail')")
            #expect(try await browser.evaluate("document.activeElement.className").string == "scroll")
            // The arrows scroll here and choose no row.
            try await browser.press(.down)
            #expect(try await browser.evaluate("document.activeElement.className").string == "scroll")
            try await browser.press(.escape)
            try await browser.wait(until: isFocused("news"))
            #expect(try await browser.evaluate("document.querySelector('#detail').hidden") == true)
            // The button does what Escape does.
            try await browser.press(.up)
            try await browser.press(.enter)
            try await browser.wait(until: "document.querySelectorAll('#detail .scroll').length >= 2")
            try await browser.press(.tab)
            try await browser.press(.enter)
            try await browser.wait(until: isFocused("film"))
            // The order of the rows.
            try await browser.press(.tab, shift: true)
            try await browser.type("n")
            try await browser.wait(until: "document.querySelector('#sort').value === 'name'")
        }
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
        try await browser.wait(until: "document.querySelectorAll('#rows tr').length === 1")
        #expect(try await browser.evaluate("\(notice).hidden") == true)
        await first.stop()
        try await browser.wait(until: "!\(notice).hidden && \(notice).textContent.startsWith('Connection lost')")
        #expect(try await browser.evaluate("\(notice).getAttribute('role')").string == "alert")
        #expect(try await browser.evaluate("document.querySelectorAll('#rows tr').length") == 1)
        var settings = ServerConfiguration()
        settings.port = port
        let second = try await ServedMonitor([try stream("news"), try stream("sport")], settings)
        try await browser.wait(until: "document.querySelectorAll('#rows tr').length === 2")
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
            try await browser.wait(until: "document.querySelectorAll('#rows tr').length === 3")
            try await browser.wait(until: "document.body.textContent.includes('httpStatus')")
            _ = try await browser.evaluate("choose('news')")
            try await browser.wait(until: "document.querySelectorAll('#detail .scroll').length >= 3")
            try await browser.wait(until: "document.querySelectorAll('#alertlist li').length >= 1")
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
        "A token is entered with the keyboard",
        .enabled(if: Chromium.program != nil, "SKIPPED: there is no chromium"),
        .timeLimit(.minutes(30))
    )
    func login() async throws {
        let settings = ServerConfiguration()
        settings.access.replace(tokens: [(ServerClient(name: "", role: .act), Array("the token".utf8))])
        try await withDashboard(settings) { _, browser in
            try await browser.wait(until: "!document.querySelector('#login').hidden")
            try await browser.press(.tab)
            #expect(try await browser.evaluate(Self.focused).string == "token")
            try await browser.type("the token")
            try await browser.press(.enter)
            try await browser.wait(until: "document.querySelectorAll('#rows tr').length === 2")
            #expect(try await browser.evaluate("document.querySelector('#login').hidden") == true)
        }
    }
}
