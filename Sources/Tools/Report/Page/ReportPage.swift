package import Instrument
internal import InstrumentPageDesign
internal import InstrumentText

/// One self-contained HTML page: no network, no external file, a content security policy that allows only its own style
/// and script.
///
/// The page has at most ``mostBytes`` bytes for up to a thousand listed sessions: timelines and texts are shortened
/// until it does.
package struct ReportPage {
    /// The largest page in bytes.
    package static let mostBytes = 1_000_000

    /// The style: the tokens of all pages, and `report.css`.
    package static let style = PageDesign.tokens + String(decoding: PackageResources.report_css, as: UTF8.self)

    /// The script, `report.js`: sorts and filters the table, and draws timelines. Text from outside is never markup to
    /// it: the script reads text of the page and creates elements and text nodes only.
    package static let script = String(decoding: PackageResources.report_js, as: UTF8.self)

    /// The page as UTF-8 text.
    package let html: String

    /// Creates a page of a set of sessions, with a comparison if there is another set.
    ///
    /// - Parameter now: the time that the page names as the time of its creation.
    package init(_ set: SessionSet, comparison: Comparison? = nil, now: WallTime) {
        var limits = PageLimits(sessions: set.listed.count)
        var page = Self.render(set, comparison, now, limits)
        while page.utf8.count > Self.mostBytes, limits.shrink() {
            page = Self.render(set, comparison, now, limits)
        }
        html = page
    }

    private static func render(_ set: SessionSet, _ comparison: Comparison?, _ now: WallTime, _ limits: PageLimits)
        -> String
    {
        let sessions = set.listed.sorted { ($1.urgencyClass, $0.begin, $0.key) < ($0.urgencyClass, $1.begin, $1.key) }
        let data = SessionData(sessions, limits: limits)
        let (style, script) = (Self.style, Self.script)
        // Without 'unsafe-inline', only text with these digests is applied or executed.
        let policy =
            "default-src 'none'; style-src '\(ContentSecurityPolicy.hashSource(of: style))'; script-src '\(ContentSecurityPolicy.hashSource(of: script))'; "
            + "base-uri 'none'; form-action 'none'"
        let page: HTML = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(HTML(trusted: policy))">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="referrer" content="no-referrer">
            <meta name="generator" content="Instrument \(InstrumentVersion.current)">
            <title>Playback report: \(set.count) sessions</title>
            <style>\(HTML(trusted: style))</style>
            </head>
            <body>
            <a class="skip" href="#sessions">Skip to the sessions</a>
            \(SummarySection.html(set, now: now, limits))
            <main>
            \(FailureSection.html(set))
            \(GroupSection.html(set.groups))
            \(ChartSection.html(set, comparison?.other))
            \(comparison.map { ComparisonSection.html($0, limits) } ?? "")
            \(AdSection.html(set))
            \(SessionSection.html(set, sessions, limits))
            </main>
            <script type="application/json" id="data">\(HTML(trusted: data.json))</script>
            <script>\(HTML(trusted: script))</script>
            </body>
            </html>

            """
        return page.markup
    }
}

/// The limits of a session's data on a page.
struct PageLimits {
    /// The largest number of characters of a title and of an address.
    private(set) var title: Int
    private(set) var source: Int
    /// The largest number of numbers of a timeline.
    private(set) var numbers: Int

    init(sessions: Int) {
        (title, source) = sessions > 100 ? (80, 120) : (300, 500)
        numbers = min(8000, 120_000 / max(1, sessions))
    }

    /// Reduces all limits; false if they are at their smallest.
    mutating func shrink() -> Bool {
        guard title > 8 || source > 8 || numbers > 8 else { return false }
        (title, source, numbers) = (max(8, title * 2 / 3), max(8, source * 2 / 3), max(8, numbers * 2 / 3))
        return true
    }

    /// A text with at most this number of characters, and `…` in place of the rest.
    static func cut(_ text: String, to count: Int) -> String {
        let scalars = text.unicodeScalars
        return scalars.count <= count ? text : String(String.UnicodeScalarView(scalars.prefix(max(1, count - 1)))) + "…"
    }
}
