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

    /// The style: that of all documents, and `report.css`.
    package static let style = PageDesign.document + String(decoding: PackageResources.report_css, as: UTF8.self)

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
        let body: HTML = """
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
            """
        return HTMLDocument(
            title: "Playback report: \(set.count) sessions",
            style: Self.style,
            body: body,
            data: data.json,
            script: Self.script
        ).html
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
}
