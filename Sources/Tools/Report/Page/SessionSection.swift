internal import Instrument
internal import InstrumentPageDesign
internal import InstrumentQuality
internal import InstrumentText

/// The table of sessions. The page's script sorts and filters the rows and opens the timelines.
enum SessionSection {
    /// The columns that can be sorted, in the order of the keys in ``SessionData``.
    private static let columns = [
        "Begin (UTC)", "Start time", "Stalls", "Rebuffer time", "Rebuffer ratio", "Play time", "Bitrate",
    ]

    /// - Parameter sessions: the listed sessions in the order of the page.
    static func html(_ set: SessionSet, _ sessions: [ReportSession], _ limits: PageLimits) -> HTML {
        let left = set.count - sessions.count
        let note: HTML =
            left == 0
            ? ""
            : "<p>The table lists \(sessions.count) of \(set.count) sessions: those that failed and those with the longest stalls.</p>"
        let filters = SessionFilters(sessions)
        let heads = columns.enumerated().map { index, title -> HTML in
            "<th scope=\"col\" aria-sort=\"none\"><button type=\"button\" data-sort=\"\(index)\">\(title)</button></th>"
        }
        return """
            <section aria-labelledby="sessions">
            <h2 id="sessions">Sessions</h2>
            \(note)
            <noscript><p>Sorting, filtering and timelines need JavaScript.</p></noscript>
            <div class="controls">
            <label>Filter <input type="search" id="filter" placeholder="title, address or cause" autocomplete="off"></label>
            <label>Outcome <select id="outcome"><option value="">all</option><option>ended</option><option>stopped</option>\
            <option>failed</option></select></label>
            \(filters.html)<label><input type="checkbox" id="stalled"> only with stalls</label>
            <span id="shown" role="status"></span>
            </div>
            <div class="scroll" role="group" aria-labelledby="sessions" tabindex="0">
            <table id="table">
            <thead><tr><th scope="col">Session</th><th scope="col">Outcome</th><th scope="col">Course</th>\(heads.joined())</tr></thead>
            <tbody>
            \(sessions.enumerated().map { row($1, number: $0 + 1, filters, limits) }.joined())
            </tbody>
            </table>
            </div>
            </section>
            """
    }

    /// Closing tags of cells and rows are optional, and a thousand rows have many.
    private static func row(
        _ session: ReportSession,
        number: Int,
        _ filters: SessionFilters,
        _ limits: PageLimits
    ) -> HTML {
        let known = session.origin.stream ?? session.title
        let title = known.isEmpty ? "session \(number)" : PageDesign.cut(known, to: limits.title)
        let cells = [Measure.startTime, .rebufferTime, .rebufferRatio, .playTime, .bitrate].map { measure in
            session.values[measure.position].map(measure.text) ?? "–"
        }
        let cause: HTML =
            session.failure.map { "<small>\(PageDesign.cut($0.code ?? $0.description, to: limits.title))</small>" }
            ?? ""
        let healed: HTML = session.lostEvents.map { "<small>healed, missing: \($0)</small>" } ?? ""
        let begin = WallTime(milliseconds: session.begin).rfc3339.prefix(19).replacing("T", with: " ")
        return """
            <tr data-o="\(session.outcome.rawValue)" data-f="\(filters.numbers(of: session))"><td class="name"><button type="button" aria-expanded="false"><bdi>\(title)</bdi></button>\
            <small><bdi>\(PageDesign.cut(session.source, to: limits.source))</bdi></small><td class="outcome">\(session.ending)\(cause)\(healed)<td class="ribbon"><td>\(begin)\
            <td data-t="start">\(cells[0])<td data-t="stalls">\(session.stallCount)<td data-t="stalled">\(cells[1])\
            <td data-t="ratio">\(cells[2])<td data-t="played">\(cells[3])<td data-t="bitrate">\(cells[4])

            """
    }
}
