import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentMonitor
import InstrumentMonitorServer
import InstrumentWatch
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentMonitorRuntime

@Suite("The dashboard in a browser", .serialized, .ownThread)
struct DashboardTests {
    private static let chromium = installedProgram("chromium")

    /// The page as the browser shows it after some virtual seconds.
    private func shown(_ address: String) async throws -> String {
        let program = try #require(Self.chromium)
        let profile = try Scratch()
        let result = try await command([
            program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--user-data-dir=\(profile.path)/profile", "--virtual-time-budget=8000", "--timeout=600000", "--dump-dom",
            address,
        ])
        return result.output
    }

    @Test(
        "The dashboard shows hostile names and titles as text, and one stream in detail",
        .enabled(if: DashboardTests.chromium != nil, "SKIPPED: there is no chromium")
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
                try #require(Self.chromium),
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
        .enabled(if: DashboardTests.chromium != nil, "SKIPPED: there is no chromium"),
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
        "A token is entered with the keyboard",
        .enabled(if: DashboardTests.chromium != nil, "SKIPPED: there is no chromium"),
        .timeLimit(.minutes(30))
    )
    func login() async throws {
        var settings = ServerConfiguration()
        settings.token = Array("the token".utf8)
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
